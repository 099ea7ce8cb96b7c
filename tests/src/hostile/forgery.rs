//! Models and journals with one forged value and valid checksums.

use super::Input;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

/// Wrong values for indexes and lengths.
const NUMBERS: [u64; 8] = [0, 1, 2, 7, 1000, 1 << 32, i64::MAX as u64, u64::MAX];

/// Changes one number, list or piece of a model or a journal, keeping valid JSON; `None` for other inputs.
pub fn forged(input: Input, seed: &[u8], random: &mut SplitMix64) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(seed).ok()?;
    let key = match input {
        Input::Model => "model",
        Input::Journal => "value",
        _ => return None,
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = usize::from(input == Input::Journal);
    let at = first + random.below(lines.len().checked_sub(first).filter(|count| *count > 0)?);
    // Swaps the value of one piece of work for another's.
    if input == Input::Journal && random.below(4) == 0 {
        let other = first + random.below(lines.len() - first);
        let value = serde_json::from_str::<Value>(&lines[other]).ok()?.get(key)?.clone();
        let mut line: Value = serde_json::from_str(&lines[at]).ok()?;
        line[key] = value;
        lines[at] = line.to_string();
    }
    for _ in 0..1 + random.below(2) {
        let mut line: Value = serde_json::from_str(&lines[at]).ok()?;
        change(line.get_mut(key)?, random);
        lines[at] = line.to_string();
    }
    Some((lines.join("\n") + "\n").into_bytes())
}

/// Changes one value at or below this one.
fn change(value: &mut Value, random: &mut SplitMix64) {
    let below = match value {
        Value::Array(list) if !list.is_empty() && random.below(6) > 0 => {
            let at = random.below(list.len());
            list.get_mut(at)
        }
        Value::Object(map) if !map.is_empty() => {
            let at = random.below(map.len());
            map.values_mut().nth(at)
        }
        _ => None,
    };
    if let Some(below) = below {
        return change(below, random);
    }
    match value {
        Value::Array(list) => match (random.below(4), list.first().cloned()) {
            (0, _) => list.clear(),
            (1, _) => drop(list.pop()),
            (2, Some(first)) => list.push(first),
            _ => list.reverse(),
        },
        Value::Number(number) => {
            let near = number.as_u64().map(|own| [own.saturating_add(1), own.saturating_sub(1)]);
            *value = match (random.below(3), near) {
                (0, Some(near)) => near[random.below(2)].into(),
                _ => NUMBERS[random.below(NUMBERS.len())].into(),
            };
        }
        Value::Bool(is) => *is = !*is,
        Value::String(text) => text.push('x'),
        other => *other = Value::from(random.below(3)),
    }
}
