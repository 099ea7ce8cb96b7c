//! Settings of a search in serialized form: find named columns, replace values.

use serde_json::Value;
use vaglio_core::{Design, Feature};
use vaglio_search::Search;

/// Settings that name columns, by name or by index.
const OF_COLUMNS: [&str; 3] = ["forced", "excluded", "blocks"];

/// Returns the columns of a design named in the settings of a search, in increasing order.
pub(super) fn named(search: &Search, design: &Design) -> Vec<Feature> {
    let mut found = Vec::new();
    if let Ok(settings) = serde_json::to_value(search) {
        collect(&settings, "", design.names(), &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Collects column names and indices from a settings value with key `of`.
fn collect(value: &Value, of: &str, names: &[String], found: &mut Vec<Feature>) {
    let by_index = OF_COLUMNS.contains(&of);
    let by_name = by_index || of == "constraints";
    let mut name = |word: &str| found.extend(names.iter().position(|name| by_name && name == word));
    match value {
        Value::String(word) => name(word),
        Value::Number(number) if by_index => {
            let index = number.as_u64().map(|index| index as Feature);
            found.extend(index.filter(|index| *index < names.len()));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, of, names, found)),
        Value::Object(fields) => {
            fields.keys().for_each(|key| name(key));
            for (key, value) in fields {
                collect(value, if by_name { of } else { key }, names, found);
            }
        }
        _ => {}
    }
}

/// Replaces settings of a search; `None` if it lacks or rejects one of them.
pub(super) fn with(search: &Search, given: &[(&str, Value)]) -> Option<Search> {
    let mut settings = serde_json::to_value(search).ok()?;
    for (key, value) in given {
        settings.as_object_mut()?.insert((*key).into(), value.clone());
    }
    let with: Search = serde_json::from_value(settings).ok()?;
    // A search that ignores unknown settings lacks this one too.
    let told = serde_json::to_value(&with).ok()?;
    given.iter().all(|(key, value)| told.get(*key).unwrap_or(&Value::Null) == value).then_some(with)
}
