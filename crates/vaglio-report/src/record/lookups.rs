//! Names, entries and titles of a record, and words that several sections share.

use super::{EntryRecord, LossName, PredictionRows, Record};
use crate::page::finite;
use serde_json::Value;
use vaglio_core::{Role, title};

impl Record {
    /// Entries of the path in order of increasing size.
    pub(crate) fn path_by_size(&self) -> Vec<&EntryRecord> {
        let mut path: Vec<&EntryRecord> = self.path.iter().collect();
        path.sort_by_key(|entry| entry.size);
        path
    }

    /// Whether scores are in the units of the losses, so that both can be drawn on one axis.
    pub(crate) fn is_comparable(&self) -> bool {
        let parts = &self.pipeline;
        parts.loss.is_some() && !parts.standardized_target && parts.target_map.is_none()
    }

    /// Name of a column, or its index if no name is known.
    pub(crate) fn column_name(&self, index: usize) -> String {
        let known = self.candidates.get(index).filter(|name| !name.is_empty());
        known.map_or_else(|| format!("column {index}"), Clone::clone)
    }

    /// Whether a column is in the result.
    pub(crate) fn is_chosen(&self, index: usize) -> bool {
        self.selected.iter().any(|column| column.index == index)
    }

    /// The entry of the path that is the result.
    pub(crate) fn chosen_entry(&self) -> Option<&EntryRecord> {
        self.path.iter().find(|entry| entry.size == self.selected.len())
    }

    /// Entry with the lowest finite value; of ties, the smallest subset.
    pub(crate) fn lowest(&self, value: fn(&EntryRecord) -> Option<f64>) -> Option<&EntryRecord> {
        let known = self.path.iter().filter_map(|entry| Some((value(entry).and_then(finite)?, entry)));
        known.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.size.cmp(&b.1.size))).map(|(_, entry)| entry)
    }

    /// Entry with the lowest score; of ties, the smallest subset.
    pub(crate) fn best_entry(&self) -> Option<&EntryRecord> {
        self.lowest(|entry| Some(entry.score))
    }

    /// Setting `choose` of the search; a chain uses the setting of its last stage.
    pub(super) fn choose_settings(&self) -> &Value {
        let search = &self.pipeline.settings["search"];
        let last = search["stages"].as_array().and_then(|stages| stages.last());
        &last.unwrap_or(search)["choose"]
    }

    /// The score of the search as a phrase: `leave-one-out squared error`.
    pub(crate) fn score_title(&self) -> String {
        let parts = &self.pipeline;
        let criterion = title(Role::Criterion, &parts.criterion);
        format!("{criterion} {}{}", parts.loss.as_ref().map_or("score", LossName::title), parts.scale())
    }
}

impl PredictionRows {
    /// Title of the figures from this source, and their class in the style sheet.
    pub(crate) fn title(self) -> &'static str {
        match self {
            PredictionRows::Nested => "nested",
            PredictionRows::CrossValidation => "cross-validated",
            PredictionRows::Test => "test",
        }
    }
}
