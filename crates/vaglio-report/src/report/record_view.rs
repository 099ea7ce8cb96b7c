//! A record with its path in increasing size, and words that several sections share.

use super::number::count;
use crate::record::{EntryRecord, LossName, PerOutput, PredictionRows, Record, SizePoint, StepRecord};
use std::collections::{HashMap, HashSet};
use vaglio_core::{Absolute, Action, Role, Squared, title};

/// The best subset of one size.
pub struct PathEntryView<'r> {
    pub size: usize,
    pub subset: Vec<usize>,
    pub score: Option<f64>,
    pub lambda: Option<f64>,
    pub standard_error: Option<f64>,
    /// Cross-validated loss of the selection with this size.
    pub cross: Option<f64>,
    pub train: Option<f64>,
    pub figures: &'r EntryRecord,
    pub test: Option<f64>,
    pub cost: Option<f64>,
    pub rates: SizePoint,
}

/// A record with its path in order of increasing size.
pub struct RecordView<'r> {
    pub record: &'r Record,
    pub path: Vec<PathEntryView<'r>>,
    /// Whether scores are in the units of the losses, so that both can be drawn on one axis.
    pub comparable: bool,
    entered: HashMap<usize, &'r StepRecord>,
}

impl<'r> RecordView<'r> {
    pub fn new(record: &'r Record) -> Self {
        let curve: HashMap<usize, SizePoint> = record.report.curve.iter().map(|point| (point.size, *point)).collect();
        let entry = |(entry, subset): (&'r EntryRecord, Vec<usize>)| PathEntryView {
            size: entry.size,
            subset,
            score: finite(entry.score),
            lambda: entry.lambda,
            standard_error: entry.standard_error.and_then(finite),
            cross: entry.cross_validated.and_then(finite),
            train: entry.train.and_then(finite),
            figures: entry,
            test: entry.test.and_then(finite),
            cost: entry.cost,
            rates: curve.get(&entry.size).copied().unwrap_or_default(),
        };
        let mut path: Vec<PathEntryView<'r>> = record.path.iter().zip(record.subsets()).map(entry).collect();
        path.sort_by_key(|entry| entry.size);
        // Records of earlier versions have no `standardized_target`.
        let maps = record.pipeline.settings["preprocess"].as_array();
        let is_scaled = maps.into_iter().flatten().any(|map| map["target"] == true);
        let additions = record.steps.iter().filter(|step| step.action == Action::Add);
        let entered = additions.flat_map(|step| step.moved().iter().map(move |index| (*index, step))).collect();
        RecordView {
            record,
            path,
            comparable: record.pipeline.loss.is_some() && !is_scaled && record.pipeline.target_map.is_none(),
            entered,
        }
    }

    /// Name of a column, or its index if no name is known.
    pub fn name(&self, index: usize) -> String {
        let known = self.record.candidates.get(index).filter(|name| !name.is_empty());
        known.map_or_else(|| format!("column {index}"), Clone::clone)
    }

    /// Name of the loss of predictions: the criterion's, else the squared error, or the error rate of classes.
    pub fn loss(&self) -> LossName {
        self.record.loss()
    }

    /// The score of the result.
    pub fn score(&self) -> Option<f64> {
        finite(self.record.score)
    }

    /// The score of the empty subset.
    pub fn empty_score(&self) -> Option<f64> {
        finite(self.record.empty_score)
    }

    /// The intercept of each output.
    pub fn intercepts(&self) -> &[f64] {
        self.record.intercept.as_ref().map_or(&[], PerOutput::values)
    }

    /// Names of the outputs: classes, or targets.
    pub fn outputs(&self) -> Vec<String> {
        let data = &self.record.data;
        let names = match &data.classes {
            Some(classes) if data.outputs > 1 => classes,
            Some(_) => return vec![String::new()],
            None => &data.targets,
        };
        let name = |k: usize| names.get(k).cloned().unwrap_or_else(|| format!("output {}", k + 1));
        (0..data.outputs).map(name).collect()
    }

    /// The entry of the path that is the result.
    pub fn chosen_entry(&self) -> Option<&PathEntryView<'r>> {
        self.path.iter().find(|entry| entry.size == self.record.selected.len())
    }

    /// Entry with the lowest value; of ties, the smallest subset.
    pub fn lowest(&self, value: fn(&PathEntryView<'r>) -> Option<f64>) -> Option<&PathEntryView<'r>> {
        let known = self.path.iter().filter_map(|entry| Some((value(entry)?, entry)));
        known.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.size.cmp(&b.1.size))).map(|(_, entry)| entry)
    }

    /// Entry with the lowest score; of ties, the smallest subset.
    pub fn best_entry(&self) -> Option<&PathEntryView<'r>> {
        self.lowest(|entry| entry.score)
    }

    /// The step with which a column last entered.
    pub fn entry_step(&self, index: usize) -> Option<&StepRecord> {
        self.entered.get(&index).copied()
    }

    /// The columns of the result.
    pub fn selected(&self) -> HashSet<usize> {
        self.record.selected.iter().map(|column| column.index).collect()
    }
}

impl PredictionRows {
    /// Title of the figures from this source.
    pub fn title(self) -> &'static str {
        match self {
            PredictionRows::Nested => "nested",
            PredictionRows::CrossValidation => "cross-validated",
            PredictionRows::Test => "test",
        }
    }

    /// The class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            PredictionRows::Nested => "nested",
            PredictionRows::CrossValidation => "cross",
            PredictionRows::Test => "test",
        }
    }

    /// Words for the predicted rows.
    pub(crate) fn rows(self) -> &'static str {
        match self {
            PredictionRows::Nested => "rows held out in outer folds",
            PredictionRows::CrossValidation => "rows held out in the folds of the search",
            PredictionRows::Test => "test rows",
        }
    }
}

/// The score of the search as a phrase: `leave-one-out squared error`.
pub fn score_title(view: &RecordView<'_>) -> String {
    let parts = &view.record.pipeline;
    let criterion = title(Role::Criterion, &parts.criterion);
    format!("{criterion} {}{}", parts.loss.as_ref().map_or("score", LossName::title), parts.scale())
}

/// Title of an axis that shows this loss.
pub fn vertical(loss: &LossName) -> String {
    match loss {
        _ if loss.is(&Squared) => "mean squared error".into(),
        _ if loss.is(&Absolute) => "mean absolute error".into(),
        _ => loss.title().into(),
    }
}

/// Capitalizes the first letter of a text.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Joins up to `most` names with commas, and adds the number of the others.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>, most: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    names[..names.len().min(most)].join(", ") + &more
}

/// Returns the number if it is finite.
pub fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}
