//! Warnings about a result, each with advice.

use super::discoveries::NAMED;
use super::{PerOutput, Record};
use crate::names::join_up_to;
use vaglio_core::{escape_controls, join, record, setting};

/// Warning about a result, with advice.
#[record]
#[derive(Eq)]
pub struct Warning {
    /// Subject.
    pub kind: WarningKind,
    /// Sentence with the problem and a remedy.
    pub message: String,
}

/// Writes the message.
impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Subject of a warning.
#[setting]
#[derive(Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// The search could not be cross-validated, so the size was chosen by the score.
    NotCrossValidated,
    /// The run was stopped before everything was computed.
    Interrupted,
    /// The lowest score was taken among many candidates.
    ManyCandidates,
    /// λ was chosen for every subset by its score, with more columns than rows.
    LambdaPerSubset,
    /// The chosen λ is the first or last of the tried values.
    LambdaEdge,
    /// Several columns have equal scores from some step on.
    Indistinguishable,
    /// Settings were tuned on the rows that a figure was computed on.
    Tuned,
    /// Columns were standardized once by all training rows, since standardizing in each fold would take much longer.
    StandardizedOnce,
    /// Missing cells were filled once with means of all training rows: imputing in each fold would take much longer, or
    /// a fold has no value of a column.
    ImputedOnce,
    /// All columns together predict held-out rows better than the chosen ones.
    AllColumns,
    /// Some subset of the chosen columns has no finite score.
    NoShares,
    /// No row is predicted to be of some class.
    NeverCalled,
    /// The two scales of a mapped target choose different numbers of columns.
    ScalesDiffer,
    /// Single rows are held out under a ranking or classification loss, which biases the loss upwards.
    SingleRowsHeldOut,
    /// Targets are predicted some steps ahead, but folds train on targets that are not known at that time.
    NoGap,
    /// The search reached fewer columns than were asked for.
    FewerColumns,
    /// More columns are allowed than there are.
    MaxFeatures,
    /// No column is confirmed at the false discovery rate that chooses the size.
    NothingConfirmed,
    /// A column, or two together, determine the target.
    TargetGivenAway,
    /// Training rows are exact copies of others.
    CopiedRows,
    /// Finding copies of rows would take more memory than available.
    CopiesNotCounted,
    /// Test rows are exact copies of training rows.
    TestRowsInTraining,
    /// A group has both training and test rows, or rows in several of the criterion's folds.
    GroupsOnBothSides,
    /// A column numbers the rows in the order of the target.
    IdentifierInOrder,
    /// Numbers seem to stand for missing cells.
    MissingCodes,
    /// Levels differ only by case or blanks.
    LevelsAlike,
    /// Codes that begin with zeros are read as text.
    LeadingZeros,
    /// Columns are left out, since they have no value or only number the rows.
    ColumnsLeftOut,
    /// Rows without a target are left out, so lags count only the other rows.
    StepsOverGaps,
    /// Series are dropped that have no row with all its lags.
    SeriesDropped,
    /// Some columns are of the predicted row itself, while others are lags.
    PresentColumns,
    /// Numbers of the result are not finite, and null in its file.
    NotFinite,
    /// Test rows have levels that no training row has.
    UnseenLevels,
    /// The table is condensed: each row stands for many.
    Condensed,
}

impl Warning {
    /// Creates a warning.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Self {
        Warning { kind, message: message.into() }
    }
}

impl Record {
    /// Warning that some numbers of the result are not finite, and null in the file; `None` if all are finite.
    pub fn not_finite(&self) -> Option<Warning> {
        let infinite = |number: f64| !number.is_finite();
        let has_no_number =
            |figures: &Option<PerOutput>| figures.iter().any(|figure| figure.values().iter().any(|x| infinite(*x)));
        let folds = self.nested.iter().flat_map(|nested| &nested.per_fold);
        let losses: [(&str, Vec<f64>); 7] = [
            ("score", vec![self.score]),
            ("empty_score", vec![self.empty_score]),
            ("steps[].score", self.steps.iter().map(|step| step.score).collect()),
            ("path[].score", self.path.iter().map(|entry| entry.score).collect()),
            ("test.loss", self.test.iter().map(|test| test.loss).collect()),
            ("nested.loss", self.nested.iter().map(|nested| nested.loss).collect()),
            ("nested.per_fold[].loss", folds.map(|fold| fold.loss).collect()),
        ];
        let is_any_infinite = |(_, losses): &&(&str, Vec<f64>)| losses.iter().any(|loss| infinite(*loss));
        let losses: Vec<&str> = losses.iter().filter(is_any_infinite).map(|(name, _)| *name).collect();
        let columns = |is: &dyn Fn(&super::SelectedRecord) -> bool| -> Vec<&str> {
            self.selected.iter().filter(|own| is(own)).map(|own| &*own.name).collect()
        };
        let why =
            "the criterion refuses such a subset, or the loss has no value on such rows, as without one of the classes";
        let inflated = columns(&|own| own.vif.is_some_and(infinite));
        let heavy = columns(&|own| has_no_number(&own.weight) || has_no_number(&own.original_weight));
        let parts = [
            (losses, "the loss", why),
            (inflated, "the variance inflation (`vif`) of", "the other chosen columns give each of these"),
            (heavy, "the weight of", "the entries are too small for doubles; multiply the column by a constant"),
        ];
        let parts = parts.into_iter().filter(|(names, ..)| !names.is_empty()).map(|(names, what, why)| {
            let names = join_up_to(names.iter().map(|name| format!("`{}`", escape_controls(name))), NAMED);
            format!("{what} {names} is infinite, so `null` in the file: {why}")
        });
        let parts = join(parts, "; ");
        (!parts.is_empty()).then(|| Warning::new(WarningKind::NotFinite, parts))
    }
}
