//! Writes records as JSON, and reads and checks them.

use super::{Record, SCHEMA, Status};
use serde_json::Value;
use std::path::Path;
use vaglio_core::{Cause, Error, Feature, Result};
use vaglio_tables::disk::{read_regular, truncate_message};

impl Record {
    /// Writes the text of `selection.json`.
    ///
    /// # Errors
    /// [`Error::Failed`] if the record cannot be written.
    pub fn to_text(&self) -> Result<String> {
        Ok(lines(&serde_json::to_value(self)?, 0) + "\n")
    }

    /// Reads and checks the text of `selection.json`; the error describes the fault.
    pub fn from_text(text: &str) -> Result<Self, Cause> {
        let damaged = |e: serde_json::Error| {
            Cause::from(e).reword(|e| format!("it is damaged, or no result of a run: {}", truncate_message(e)))
        };
        let record = serde_json::from_str::<Record>(text);
        let schema = match &record {
            Ok(record) => Some(record.schema.clone()),
            Err(_) => {
                serde_json::from_str::<Value>(text).ok().and_then(|value| Some(value["schema"].as_str()?.to_owned()))
            }
        };
        if let Some(schema) = schema.filter(|schema| schema != SCHEMA) {
            let schema = truncate_message(&schema);
            return Err(format!("it is of version `{schema}`; this program reads `{SCHEMA}`").into());
        }
        let record = record.map_err(damaged)?;
        record.check().map_err(|message| format!("it was changed after it was written: {message}"))?;
        Ok(record)
    }

    /// Rejects a record whose parts do not fit together.
    fn check(&self) -> Result<(), String> {
        let features = self.data.features;
        let known = |columns: &[Feature]| columns.iter().all(|&column| column < features);
        if let Some(step) = self.steps.iter().find(|step| !known(step.moved_columns()) || !known(&step.tied)) {
            return Err(format!("step {} moves a column beyond the {features} candidates", step.step));
        }
        if self.candidates.len() != features {
            return Err(format!("{} names for {features} candidates", self.candidates.len()));
        }
        let subsets = self.subsets();
        let entries = || self.path.iter().zip(&subsets);
        if let Some((entry, _)) = entries().find(|(entry, subset)| !known(subset) || entry.size != subset.len()) {
            return Err(format!("the subset of size {} is none", entry.size));
        }
        let selected: Vec<Feature> = self.selected.iter().map(|column| column.index).collect();
        let result = entries().find(|(_, subset)| **subset == selected).map(|(entry, _)| entry.score);
        if result.or(selected.is_empty().then_some(self.empty_score)) != Some(self.score) {
            return Err("the selected columns with their score are not on the path".into());
        }
        if (self.status == Status::Partial) != self.stop_reason.is_partial() {
            return Err("the status is not that of the reason why the search ended".into());
        }
        let correlations = &self.report.correlations;
        let is_triangle = correlations.iter().enumerate().all(|(k, row)| row.len() == k);
        if !is_triangle || !(correlations.is_empty() || correlations.len() == selected.len()) {
            return Err("what the report shows is not of these subsets".into());
        }
        Ok(())
    }

    /// Reads and checks `selection.json`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if it is missing, damaged or of another version, or its parts do not fit together.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |message: Cause| Error::unreadable(path, message);
        let bytes = read_regular(path, LARGEST)?.ok_or_else(|| refused("it is larger than any result".into()))?;
        let text = String::from_utf8(bytes).map_err(|e| refused(Cause::new("it is not text", e)))?;
        Record::from_text(&text).map_err(refused)
    }
}

/// Largest size of a result, in bytes; larger files are rejected.
const LARGEST: u64 = 1 << 30;

/// JSON with a line for each key of the outermost object, and for each object in a list below it.
fn lines(value: &Value, depth: usize) -> String {
    let inside = |value: &Value| lines(value, depth + 1);
    let pair = |(key, value): (&String, &Value)| format!("{}: {}", Value::from(&**key), inside(value));
    let (open, parts, close): (_, Vec<String>, _) = match value {
        Value::Array(list) => ('[', list.iter().map(inside).collect(), ']'),
        Value::Object(map) => ('{', map.iter().map(pair).collect(), '}'),
        other => return other.to_string(),
    };
    let [before, between, after] = match value {
        Value::Object(_) if depth == 0 => ["\n  ", ",\n  ", "\n"],
        Value::Array(list) if depth == 1 && list.iter().any(Value::is_object) => ["\n    ", ",\n    ", "\n  "],
        Value::Object(_) => ["", ", ", ""],
        _ => ["", ",", ""],
    };
    format!("{open}{before}{}{after}{close}", parts.join(between))
}
