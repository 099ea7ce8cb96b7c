//! Ordered answers, such as `<5`, `5`, `6` and `10+`.

use crate::quote_for_yaml;

/// Maximum number of levels; more are numbers, some beyond a bound.
const MOST_LEVELS: usize = 20;
/// Words for numbers below a bound, and for those from it on.
const BELOW: [&str; 6] = ["<", "<=", "≤", "under", "below", "less than"];
const ABOVE: [&str; 8] = [">", ">=", "≥", "+", "over", "or more", "more than", "and over"];

/// Sorts levels from lowest to highest, if all are numbers, ranges or bounds, and not just plain numbers.
pub fn sort_levels(levels: &[&str]) -> Option<Vec<String>> {
    if !(3..=MOST_LEVELS).contains(&levels.len()) || levels.iter().all(|level| level.parse::<f64>().is_ok()) {
        return None;
    }
    let mut ranked: Vec<([f64; 2], &str)> =
        levels.iter().map(|level| Some((rank(level)?, *level))).collect::<Option<_>>()?;
    ranked.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
    let is_strict = ranked.windows(2).all(|pair| pair[0].0 < pair[1].0);
    is_strict.then(|| ranked.into_iter().map(|(_, level)| level.to_owned()).collect())
}

/// Remedy that reads the column `name` as an ordinal, if the cell is an ordered answer; empty otherwise.
pub(super) fn remedy(cell: &str, name: &str) -> String {
    let name = quote_for_yaml(name);
    match sort_levels(&[cell, "0", "1"]) {
        Some(_) => format!(
            "; ordered answers are read with data.types: {{{name}: class}} and {{kind: ordinal, order: {{{name}: […]}}}} in preprocess"
        ),
        None => String::new(),
    }
}

/// Rank of a level: its number, or the middle of its range, and whether it lies below or above.
fn rank(level: &str) -> Option<[f64; 2]> {
    if let Ok(number) = level.parse::<f64>()
        && !level.starts_with('+')
    {
        return number.is_finite().then_some([number, 0.0]);
    }
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let numbers = level.split(|c| !is_digit(c)).filter(|part| !part.is_empty()).map(|part| part.parse::<f64>().ok());
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    let rest: String = level.chars().filter(|c| !is_digit(*c)).collect();
    let rest = rest.trim().to_lowercase();
    match numbers[..] {
        [number] if BELOW.contains(&rest.as_str()) => Some([number, -1.0]),
        [number] if ABOVE.contains(&rest.as_str()) => Some([number, 1.0]),
        [from, to] if from < to && matches!(rest.as_str(), "-" | "–" | "to") => Some([(from + to) / 2.0, 0.0]),
        _ => None,
    }
}
