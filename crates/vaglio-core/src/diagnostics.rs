//! Numerical diagnostics of a search: cancellation, repeated trials and rebuilt states.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Numerical conditioning of a search, and the trials it had to repeat because of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// Smallest ratio of a difference to its first term, over all trials: 1 − leverage of a row, or a column's
    /// remainder after projection on the columns before it. 1 means that nothing cancelled. A trial by shortcut has
    /// about 16 + log10 of this ratio digits.
    pub conditioning: f64,
    /// Trials that had too few digits and were computed again from the rows.
    pub remade: u64,
    /// Number of times the state of a subset was rebuilt.
    pub rebuilt: u64,
    /// Largest number of rows with leverage near 1 that a trial excluded from its fit.
    pub rows_kept_out: u64,
    /// The effect of rounding columns to single precision, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single: Option<SingleRounding>,
}

/// The effect of rounding columns to single precision on a result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleRounding {
    /// Largest rounding error of an entry of a selected column, in standard deviations of the column. Covers all
    /// columns if the learner maps them.
    pub rounding: f64,
    /// Relative change of the score when the entries of the selected columns move at random within their rounding
    /// intervals: the largest of three draws. Absent if the learner, or maps in folds, make the columns that are
    /// scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_change: Option<f64>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics { conditioning: 1.0, remade: 0, rebuilt: 0, rows_kept_out: 0, single: None }
    }
}

impl Diagnostics {
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
pub struct Recorder(Vec<Arc<DiagnosticTotals>>);

/// Sums, maxima and minima of diagnostics; they do not depend on the order of threads.
#[derive(Debug)]
struct DiagnosticTotals {
    /// Bits of a number from 0 to 1; such bits are ordered like the numbers.
    conditioning: AtomicU64,
    remade: AtomicU64,
    rebuilt: AtomicU64,
    rows_kept_out: AtomicU64,
}

const NOTHING_LOST: u64 = 1f64.to_bits();

impl Recorder {
    /// Creates a recorder that records.
    pub fn new() -> Self {
        let (conditioning, zero) = (AtomicU64::new(NOTHING_LOST), || AtomicU64::new(0));
        Recorder(vec![Arc::new(DiagnosticTotals {
            conditioning,
            remade: zero(),
            rebuilt: zero(),
            rows_kept_out: zero(),
        })])
    }

    /// Combines the recorders of several evaluators.
    pub fn merge(all: impl IntoIterator<Item = Recorder>) -> Self {
        Recorder(all.into_iter().flat_map(|recorder| recorder.0).collect())
    }

    /// Notes the conditioning of a trial.
    pub fn note_conditioning(&self, conditioning: f64) {
        // NaN counts as total cancellation.
        let share = if conditioning > 0.0 { conditioning.min(1.0) } else { 0.0 };
        for noted in &self.0 {
            noted.conditioning.fetch_min(share.to_bits(), Relaxed);
        }
    }

    /// Notes that trials were computed again from the rows, each without up to `rows_kept_out` rows.
    pub fn note_repeats(&self, trials: usize, rows_kept_out: usize) {
        for noted in &self.0 {
            noted.remade.fetch_add(trials as u64, Relaxed);
            noted.rows_kept_out.fetch_max(rows_kept_out as u64, Relaxed);
        }
    }

    /// Notes that a state was rebuilt.
    pub fn note_rebuild(&self) {
        for noted in &self.0 {
            noted.rebuilt.fetch_add(1, Relaxed);
        }
    }

    /// Adds diagnostics that were recorded elsewhere.
    pub fn put(&self, diagnostics: Option<Diagnostics>) {
        let (Some(noted), Some(of)) = (self.0.first(), diagnostics) else { return };
        noted.conditioning.fetch_min(of.conditioning.to_bits(), Relaxed);
        noted.remade.fetch_add(of.remade, Relaxed);
        noted.rebuilt.fetch_add(of.rebuilt, Relaxed);
        noted.rows_kept_out.fetch_max(of.rows_kept_out, Relaxed);
    }

    /// The diagnostics so far; `None` if nothing is recorded.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        let of_one = |noted: &Arc<DiagnosticTotals>| Diagnostics {
            conditioning: f64::from_bits(noted.conditioning.load(Relaxed)),
            remade: noted.remade.load(Relaxed),
            rebuilt: noted.rebuilt.load(Relaxed),
            rows_kept_out: noted.rows_kept_out.load(Relaxed),
            single: None,
        };
        Diagnostics::merge(self.0.iter().map(|noted| Some(of_one(noted))))
    }

    /// Returns the diagnostics so far and resets the recorder.
    pub fn take(&self) -> Option<Diagnostics> {
        let diagnostics = self.diagnostics();
        for noted in &self.0 {
            noted.conditioning.store(NOTHING_LOST, Relaxed);
            [&noted.remade, &noted.rebuilt, &noted.rows_kept_out].iter().for_each(|count| count.store(0, Relaxed));
        }
        diagnostics
    }
}
