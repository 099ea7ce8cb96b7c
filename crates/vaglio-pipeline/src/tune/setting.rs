//! Access to a learner's serialized settings by dotted path.

use super::bounds::Bounds;
use crate::document::Node;
use serde_json::Value;
use std::sync::Arc;
use vaglio_core::{Error, Learner, Result};

/// Prefix of paths of a learner's settings.
const PREFIX: &str = "learner.";

/// A learner's settings as JSON; some with default values may be missing.
pub fn settings_json(learner: &dyn Learner) -> Result<Value> {
    Ok(serde_json::to_value(learner)?)
}

/// Makes a learner from its settings; the error says which setting does not fit.
pub fn read(settings: &Value) -> Result<Arc<dyn Learner>> {
    Node::from_value(settings).read().map_err(|error| error.under("learner"))
}

/// The number at a path, if any.
pub fn value(settings: &Value, path: &str) -> Option<f64> {
    settings.pointer(&pointer(path)?).and_then(Value::as_f64)
}

/// Sets the number at a path; the last key of the path may be missing. Returns whether the rest of the path exists.
pub fn set(settings: &mut Value, path: &str, number: Value) -> bool {
    let Some(pointer) = pointer(path) else { return false };
    if let Some(place) = settings.pointer_mut(&pointer) {
        *place = number;
        return true;
    }
    // A setting with its default value may be missing.
    let Some((above, key)) = pointer.rsplit_once('/') else { return false };
    match settings.pointer_mut(above) {
        Some(Value::Object(map)) => map.insert(key.to_owned(), number).is_none(),
        _ => false,
    }
}

/// JSON pointer of a path: `learner.kernel.degrees[0]` becomes `/kernel/degrees/0`.
fn pointer(path: &str) -> Option<String> {
    let below = path.strip_prefix(PREFIX)?;
    if below.contains(['/', '~']) {
        return None;
    }
    Some(format!("/{}", below.replace('[', ".").replace(']', "").replace('.', "/")))
}

/// Refuses a path without a setting, a setting that is not a number, and bounds that the learner refuses.
pub fn check(settings: &Value, path: &str, bounds: &Bounds, field: &str) -> Result<()> {
    if !path.starts_with(PREFIX) {
        let first = path.split('.').next().unwrap_or_default();
        if ["criterion", "search", "preprocess", "data", "engine", "tune"].contains(&first) {
            let why = match first {
                "criterion" => "the criterion is the yardstick of tuning and stays as it is",
                _ => "settings of the learner alone are tuned",
            };
            return Err(Error::setting(field, format!("{why}; name a path below `{PREFIX}`")));
        }
        return Err(unknown(settings, path, field));
    }
    let place = pointer(path).unwrap_or_default();
    let with = |bounds: Bounds, value: f64| {
        let mut changed = settings.clone();
        set(&mut changed, path, bounds.number(value)).then_some(changed)
    };
    for (end, value) in [("from", bounds.from), ("to", bounds.to), ("", bounds.at(0.5))] {
        let Some(changed) = with(*bounds, value) else { return Err(unknown(settings, path, field)) };
        let learner = match read(&changed) {
            Ok(learner) => learner,
            Err(_) if settings.pointer(&place).is_none() => return Err(unknown(settings, path, field)),
            Err(error) => {
                let whole = with(Bounds { integer: true, ..*bounds }, value.round());
                let message = if !bounds.integer && whole.is_some_and(|whole| read(&whole).is_ok()) {
                    let are_whole = bounds.from.fract() == 0.0 && bounds.to.fract() == 0.0;
                    let ends = if are_whole { "" } else { " and bounds that are whole" };
                    format!("this setting takes whole numbers; add `integer: true`{ends}")
                } else {
                    format!("this setting does not take the number {value}: {}", message(&error))
                };
                return Err(Error::setting(field, message));
            }
        };
        if !settings_json(&*learner)?.pointer(&place).is_some_and(Value::is_number) {
            return Err(Error::setting(field, "this setting is no number".to_owned()));
        }
        if let Err(error) = learner.check_settings()
            && error.field().is_some_and(|at| path.strip_prefix(PREFIX) == Some(at))
        {
            let field = if end.is_empty() { field.to_owned() } else { format!("{field}.{end}") };
            return Err(Error::setting(field, format!("the learner refuses it: {}", message(&error))));
        }
    }
    Ok(())
}

/// The message of an error on a setting, without the path.
fn message(error: &Error) -> String {
    match error {
        Error::Setting { message, .. } => message.to_string(),
        other => other.to_string(),
    }
}

fn unknown(settings: &Value, path: &str, field: &str) -> Error {
    let mut known = Vec::new();
    paths(settings, PREFIX.trim_end_matches('.'), &mut known);
    // For a suggestion, a path without the prefix is compared with the prefix added.
    let whole = if path.starts_with(PREFIX) { path.to_owned() } else { format!("{PREFIX}{path}") };
    match Error::unknown(field, "setting", &whole, known.iter()) {
        Error::UnknownName { field, what, suggestion, known, place, from_root, .. } => {
            Error::UnknownName { field, what, name: path.to_owned(), suggestion, known, place, from_root }
        }
        other => other,
    }
}

/// Collects every path that can hold a number: numbers, and words or nothing instead of one.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            // A setting with several forms, including a number.
            if map.contains_key("grid") {
                found.push(path.to_owned());
            }
            for (key, value) in map.iter().filter(|(key, _)| *key != "kind") {
                paths(value, &format!("{path}.{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                paths(value, &format!("{path}[{index}]"), found);
            }
        }
        Value::Number(_) | Value::Null | Value::String(_) => found.push(path.to_owned()),
        Value::Bool(_) => {}
    }
}
