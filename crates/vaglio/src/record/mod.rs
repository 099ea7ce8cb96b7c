//! The result of a run as `selection.json` holds it: written, read back, and shown by the report.

mod figures;
mod json;
mod table;

pub use figures::TestFigures;

use crate::tune::{Method, Tuned};
use serde::{Deserialize, Serialize};
use vaglio_core::{Action, Certificate, Feature, Loss, Path, PathEntry, Step, StopReason};

/// The version of the format that this program writes and reads.
pub(crate) const SCHEMA: &str = "vaglio.selection/1";
/// Selected columns of which a record holds the correlations, at most.
pub(crate) const MOST_CORRELATED: usize = 60;

/// The content of `selection.json`, in the order of its keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of the format.
    pub schema: String,
    /// Whether the search was cut short.
    pub status: Status,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// The parts of the run.
    pub pipeline: Parts,
    /// The settings that tuning found, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<TunedSettings>,
    /// What the data are.
    pub data: Data,
    /// The score of the empty subset.
    #[serde(with = "crate::infinity")]
    pub empty_score: f64,
    /// Every step of the search.
    pub steps: Vec<StepRecord>,
    /// The best subset of each size, in the order in which the search came to them.
    pub path: Vec<EntryRecord>,
    /// The result, in order of entry.
    pub selected: Vec<SelectedRecord>,
    /// Its score.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// The penalty that its model was trained with.
    pub lambda: Option<f64>,
    /// The intercept of its model, if that is linear.
    pub intercept: Option<PerOutput>,
    /// Columns that could not be selected.
    pub excluded: Vec<ExcludedRecord>,
    /// Mean absolute correlation of pairs of selected columns; of results by dependence or by a least-angle path, where
    /// near-duplicates are the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<f64>,
    /// What is proven, after a search of all subsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// Figures on test rows, if there are any.
    pub test: Option<TestFigures>,
    /// Nothing yet: null.
    pub nested: (),
    /// Nothing yet: null.
    pub verify: (),
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// The process's peak resident set, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// What the report shows beside all this.
    pub report: Shown,
}

/// Whether a search was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ended by itself.
    Complete,
    /// It was cut short; the result so far is valid.
    Partial,
}

/// The names of the parts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// The learner's kind.
    pub learner: String,
    /// The criterion's kind.
    pub criterion: String,
    /// The search's kind.
    pub search: String,
    /// The loss of which the score is a mean, if it is one.
    pub loss: Option<Loss>,
    /// The engine by which the criterion computed.
    pub engine: String,
    /// The criterion's approximation, if it made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximation: Option<String>,
}

/// What tuning found, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedSettings {
    /// What chose the settings that were tried.
    pub method: Method,
    /// How many were scored.
    pub evaluations: usize,
    /// The lowest score.
    pub score: f64,
    /// The settings of the lowest score by their dotted paths.
    pub parameters: serde_json::Map<String, serde_json::Value>,
}

/// What the data are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Training rows as read.
    pub rows: usize,
    /// Candidate columns.
    pub features: usize,
    /// Outputs: targets, or classes.
    pub outputs: usize,
    /// SHA-256 of the training file.
    pub sha256: String,
}

/// Wall-clock seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// From opening the files to the end of preprocessing.
    pub read: f64,
    /// Of the search, with the learner's map and the criterion's preparation.
    pub search: f64,
    /// Of the final fit.
    pub fit: f64,
    /// Of all of it.
    pub total: f64,
}

/// One step of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// Its number, from 1.
    pub step: usize,
    /// What happened.
    pub action: Action,
    /// To which column; to the first of a block.
    pub index: Feature,
    /// The name of the column.
    pub name: String,
    /// The columns of a block that moved together; empty for a column alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Feature>,
    /// The score after the step.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// Its λ.
    pub lambda: Option<f64>,
    /// The size after the step.
    pub size: usize,
    /// Other columns that would have given exactly this score.
    pub tied: Vec<Feature>,
    /// How far the common correlation of a least-angle path falls until the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// The coefficients of a least-angle path at the next step, in order of entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Vec<f64>>,
}

/// The best subset of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryRecord {
    /// Its size.
    pub size: usize,
    /// Its columns, in order of entry.
    pub subset: Vec<Feature>,
    /// Its score.
    #[serde(with = "crate::infinity")]
    pub score: f64,
    /// Its λ.
    pub lambda: Option<f64>,
}

/// One selected column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Its name.
    pub name: String,
    /// Its weight in the model, if that is linear.
    pub weight: Option<PerOutput>,
    /// The criterion's own coefficient, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
}

/// A column that could not be selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExcludedRecord {
    /// The candidate column, from 0.
    pub index: Feature,
    /// Its name.
    pub name: String,
    /// Why: `constant`.
    pub reason: String,
}

/// A number of a model with one output, or one for each output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerOutput {
    /// Of the only output.
    One(f64),
    /// Of each output.
    Several(Vec<f64>),
}

/// What the report shows beside the result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// Standard error of the score of each entry of `path`, where it is a mean over rows.
    pub standard_errors: Vec<Option<f64>>,
    /// Losses of the models along the path.
    pub curve: Vec<SizePoint>,
    /// Correlations of each selected column with those before it, in order of entry; none where they are many.
    pub correlations: Vec<Vec<Option<f64>>>,
    /// How the learner was tuned, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuned>,
}

/// Losses of the model of one size, refitted on the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizePoint {
    /// Number of columns.
    pub size: usize,
    /// Mean squared error on the training rows.
    pub train: Option<f64>,
    /// Mean squared error on the test rows.
    pub test: Option<f64>,
    /// Error rate on the training rows, for classes.
    pub train_error: Option<f64>,
    /// Error rate on the test rows, for classes.
    pub test_error: Option<f64>,
}

impl StepRecord {
    pub(crate) fn new(number: usize, step: &Step, name: String) -> Self {
        StepRecord {
            step: number,
            action: step.action,
            index: step.feature,
            name,
            columns: if step.with.is_empty() { Vec::new() } else { [&[step.feature], &step.with[..]].concat() },
            score: step.score.loss,
            lambda: step.score.lambda,
            size: step.size,
            tied: step.tied.clone(),
            mu: step.knot.as_ref().map(|knot| knot.mu),
            alpha: step.knot.as_ref().map(|knot| knot.alpha.clone()),
        }
    }

    /// The columns that moved.
    pub fn moved(&self) -> &[Feature] {
        if self.columns.is_empty() { std::slice::from_ref(&self.index) } else { &self.columns }
    }
}

impl EntryRecord {
    pub(crate) fn new(entry: &PathEntry) -> Self {
        EntryRecord {
            size: entry.subset.len(),
            subset: entry.subset.clone(),
            score: entry.score.loss,
            lambda: entry.score.lambda,
        }
    }
}

impl PerOutput {
    pub(crate) fn new(values: Vec<f64>) -> Self {
        match values[..] {
            [value] => PerOutput::One(value),
            _ => PerOutput::Several(values),
        }
    }

    /// The number of each output.
    pub fn values(&self) -> &[f64] {
        match self {
            PerOutput::One(value) => std::slice::from_ref(value),
            PerOutput::Several(values) => values,
        }
    }
}

impl TunedSettings {
    pub(crate) fn new(tuned: &Tuned) -> Self {
        TunedSettings {
            method: tuned.tune().method,
            evaluations: tuned.trials().len(),
            score: tuned.score(),
            parameters: tuned.parameters(),
        }
    }
}

/// The entries as the walk came to them: from the largest down when it began with a removal, else from the smallest up.
pub(crate) fn in_order(path: &Path) -> Vec<&PathEntry> {
    let mut entries: Vec<&PathEntry> = path.entries.iter().collect();
    if path.steps.first().is_some_and(|step| step.action == Action::Remove) {
        entries.reverse();
    }
    entries
}
