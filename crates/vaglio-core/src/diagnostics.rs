//! Numerical diagnostics of a search: cancellation, repeated trials and rebuilt states.

use crate::saved;
use std::sync::{Arc, Mutex};
use vaglio_columns::lock;

/// Numerical conditioning of a search, and the trials it had to repeat because of rounding.
#[saved]
#[derive(Clone, Copy, PartialEq)]
pub struct Diagnostics {
    /// Smallest ratio of a difference to its first term, over all trials. The difference is 1 − leverage of a row, or a
    /// column's remainder after projection on the columns before it. At 1 nothing cancelled. A trial by shortcut has
    /// about 16 + log10 of this ratio digits.
    pub conditioning: f64,
    /// Trials that had too few digits and were computed again from the rows.
    pub remade: u64,
    /// Number of times the state of a subset was rebuilt.
    pub rebuilt: u64,
    /// Largest number of rows with leverage near 1 that a trial excluded from its fit.
    pub rows_kept_out: u64,
    /// The effect of rounding columns to single precision, if they were.
    #[optional]
    pub single: Option<SingleRounding>,
}

/// The effect of rounding columns to single precision on a result.
#[saved]
#[derive(Clone, Copy, PartialEq)]
pub struct SingleRounding {
    /// Largest rounding error of an entry of a selected column, in standard deviations of the column. Covers all
    /// columns if the learner maps them.
    pub rounding: f64,
    /// Relative change of the score when the entries of the selected columns move at random within their rounding
    /// intervals: the largest of three draws. Absent if the learner, or maps in folds, make the columns that are
    /// scored.
    #[optional]
    pub score_change: Option<f64>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics { conditioning: 1.0, remade: 0, rebuilt: 0, rows_kept_out: 0, single: None }
    }
}

impl Diagnostics {
    /// Adds the effect of rounding columns to single precision: the largest rounding error of an entry, and the relative
    /// change of the score if known.
    #[must_use]
    pub fn with_rounding(self, rounding: f64, score_change: Option<f64>) -> Self {
        Diagnostics { single: Some(SingleRounding { rounding, score_change }), ..self }
    }

    /// Combines the diagnostics of several parts of a search; `None` if no part has any.
    pub fn merge(parts: impl IntoIterator<Item = Option<Diagnostics>>) -> Option<Self> {
        parts.into_iter().flatten().reduce(Diagnostics::and)
    }

    fn and(self, other: Diagnostics) -> Self {
        Diagnostics {
            conditioning: self.conditioning.min(other.conditioning),
            remade: self.remade + other.remade,
            rebuilt: self.rebuilt + other.rebuilt,
            rows_kept_out: self.rows_kept_out.max(other.rows_kept_out),
            single: self.single.or(other.single),
        }
    }
}

/// Records the [`Diagnostics`] of an evaluator's trials and those of its forks, on any thread. The default records
/// nothing.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Vec<Arc<Mutex<Diagnostics>>>);

impl Recorder {
    /// Creates a recorder that records.
    pub fn new() -> Self {
        Recorder(vec![Arc::default()])
    }

    /// Combines the recorders of several evaluators.
    pub fn merge(all: impl IntoIterator<Item = Recorder>) -> Self {
        Recorder(all.into_iter().flat_map(|recorder| recorder.0).collect())
    }

    /// Adds diagnostics of trials, if there are any. Their order does not matter. NaN counts as total cancellation.
    pub fn note(&self, own: impl Into<Option<Diagnostics>>) {
        let (Some(own), Some(noted)) = (own.into(), self.0.first()) else { return };
        let conditioning = if own.conditioning > 0.0 { own.conditioning } else { 0.0 };
        let mut noted = lock(noted);
        *noted = noted.and(Diagnostics { conditioning, single: None, ..own });
    }

    /// The diagnostics so far; `None` if nothing is recorded.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        self.0.iter().map(|noted| *lock(noted)).reduce(Diagnostics::and)
    }

    /// Returns the diagnostics so far and resets the recorder.
    pub fn take(&self) -> Option<Diagnostics> {
        self.0.iter().map(|noted| std::mem::take(&mut *lock(noted))).reduce(Diagnostics::and)
    }
}
