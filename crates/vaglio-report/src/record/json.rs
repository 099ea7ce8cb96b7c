//! Writes records as JSON, and reads and checks them.

use super::{ChartData, Record, SCHEMA, Status, TuningResult};
use serde::{Deserialize, Serialize};
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{Result as Written, Write};
use std::path::Path;
use vaglio_core::{Cause, Error, Feature, Result};
use vaglio_tables::disk::{regular, shortened};

impl Record {
    /// Writes the text of `selection.json`.
    ///
    /// # Errors
    /// [`Error::Failed`] if the record cannot be written.
    pub fn to_text(&self) -> Result<String> {
        let mut text = Vec::new();
        self.serialize(&mut Serializer::with_formatter(&mut text, RecordFormatter::default()))?;
        text.push(b'\n');
        String::from_utf8(text).map_err(|e| Error::failed("the result cannot be written", e))
    }

    /// Reads and checks the text of `selection.json`; the error describes the fault.
    pub fn from_text(text: &str) -> Result<Self, Cause> {
        #[derive(Deserialize)]
        struct SchemaHeader {
            schema: String,
        }
        let damaged = |e: serde_json::Error| {
            Cause::from(e).reworded(|e| format!("it is damaged, or no result of a run: {}", shortened(e)))
        };
        let head: SchemaHeader = serde_json::from_str(text).map_err(damaged)?;
        if head.schema != SCHEMA {
            let schema = shortened(&head.schema);
            return Err(format!("it is of version `{schema}`; this program reads `{SCHEMA}`").into());
        }
        let record: Record = serde_json::from_str(text).map_err(damaged)?;
        record.check().map_err(|message| format!("it was changed after it was written: {message}"))?;
        Ok(record)
    }

    /// Rejects a record whose parts do not fit together.
    fn check(&self) -> Result<(), String> {
        let features = self.data.features;
        let known = |columns: &[Feature]| columns.iter().all(|&column| column < features);
        if let Some(step) = self.steps.iter().find(|step| !known(step.moved()) || !known(&step.tied)) {
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
        let ChartData { correlations, tuning, .. } = &self.report;
        let is_triangle = correlations.iter().enumerate().all(|(k, row)| row.len() == k);
        if !is_triangle || !(correlations.is_empty() || correlations.len() == selected.len()) {
            return Err("what the report shows is not of these subsets".into());
        }
        let fits = |tuned: &TuningResult| {
            let parameters = tuned.tune.parameters.len();
            tuned.best < tuned.trials.len() && tuned.trials.iter().all(|t| t.values.len() == parameters)
        };
        if tuning.as_ref().is_some_and(|tuned| !fits(tuned)) {
            return Err("the settings that were tried while tuning are not those that were tuned".into());
        }
        Ok(())
    }

    /// Reads and checks `selection.json`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if it is missing, damaged or of another version, or its parts do not fit together.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |message: Cause| Error::unreadable(path, message);
        let bytes = regular(path, LARGEST)?.ok_or_else(|| refused("it is larger than any result".into()))?;
        let text = String::from_utf8(bytes).map_err(|e| refused(Cause::new("it is not text", e)))?;
        Record::from_text(&text).map_err(refused)
    }
}

/// Largest size of a result, in bytes; larger files are rejected.
const LARGEST: u64 = 1 << 30;

/// Writes each key of the outermost object on its own line, and each object of a list below it.
#[derive(Default)]
struct RecordFormatter {
    depth: usize,
    in_lines: bool,
}

impl Formatter for RecordFormatter {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Written<()> {
        if self.depth == 2 {
            self.in_lines = true;
            out.write_all(b"\n    ")?;
        }
        self.depth += 1;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Written<()> {
        self.depth -= 1;
        out.write_all(if self.depth == 0 { b"\n}" } else { b"}" })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Written<()> {
        out.write_all(match (self.depth, first) {
            (1, true) => b"\n  ",
            (1, false) => b",\n  ",
            (_, true) => b"",
            (_, false) => b", ",
        })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Written<()> {
        out.write_all(b": ")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Written<()> {
        if self.depth == 1 {
            self.in_lines = false;
        }
        self.depth += 1;
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Written<()> {
        self.depth -= 1;
        out.write_all(if self.depth == 1 && self.in_lines { b"\n  ]" } else { b"]" })
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Written<()> {
        out.write_all(if first { b"" } else { b"," })
    }
}
