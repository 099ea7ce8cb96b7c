//! Numerical diagnostics of a search: what rounding asked of it.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How near to nothing the numbers of a search came that it divided by, and what it did about them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// The least that was left in a trial of 1 − leverage of a row, or of a column beside those before it, as a share of
    /// what it is a difference of: 1 where nothing cancelled. A trial by shortcut has about 16 + log10 of it digits.
    pub conditioning: f64,
    /// Trials that had too few digits and were made again from the rows.
    pub remade: u64,
    /// How often the state of a subset was built anew.
    pub rebuilt: u64,
    /// The rows of leverage near 1 that a trial kept out of its fit, at most.
    pub rows_kept_out: u64,
    /// The effect of rounding columns to single precision, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single: Option<SingleRounding>,
}

/// The effect of rounding columns to single precision on a result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleRounding {
    /// Largest rounding of an entry of a selected column, as a share of the column's standard deviation; of all columns
    /// where the learner makes others of them.
    pub rounding: f64,
    /// By how much the score changes when the entries of the selected columns are moved at random within the intervals that
    /// they were rounded from, at most of three times, as a share of it. Absent where the learner, or maps in folds, make the columns
    /// that are scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_change: Option<f64>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics { conditioning: 1.0, remade: 0, rebuilt: 0, rows_kept_out: 0, single: None }
    }
}

impl Diagnostics {
    /// The diagnostics of several parts of a search, if any has some.
    pub fn of(parts: impl IntoIterator<Item = Option<Diagnostics>>) -> Option<Self> {
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

/// Records the [`Diagnostics`] of the trials of an evaluator and of its forks, on any thread. The default records nothing.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Vec<Arc<Noted>>);

/// Sums, maxima and minima, which do not depend on the order of threads.
#[derive(Debug)]
struct Noted {
    /// The bits of a number from 0 to 1, which are in the order of such numbers.
    conditioning: AtomicU64,
    remade: AtomicU64,
    rebuilt: AtomicU64,
    rows_kept_out: AtomicU64,
}

const NOTHING_LOST: u64 = 1f64.to_bits();

impl Recorder {
    /// One that records.
    pub fn new() -> Self {
        let (conditioning, zero) = (AtomicU64::new(NOTHING_LOST), || AtomicU64::new(0));
        Recorder(vec![Arc::new(Noted { conditioning, remade: zero(), rebuilt: zero(), rows_kept_out: zero() })])
    }

    /// The recorder of several evaluators.
    pub fn of(all: impl IntoIterator<Item = Recorder>) -> Self {
        Recorder(all.into_iter().flat_map(|recorder| recorder.0).collect())
    }

    /// Notes the conditioning of a trial.
    pub fn met(&self, conditioning: f64) {
        // NaN is nothing left.
        let share = if conditioning > 0.0 { conditioning.min(1.0) } else { 0.0 };
        for noted in &self.0 {
            noted.conditioning.fetch_min(share.to_bits(), Relaxed);
        }
    }

    /// Notes that trials were made again from the rows, keeping as many rows out as given.
    pub fn remade(&self, trials: usize, rows_kept_out: usize) {
        for noted in &self.0 {
            noted.remade.fetch_add(trials as u64, Relaxed);
            noted.rows_kept_out.fetch_max(rows_kept_out as u64, Relaxed);
        }
    }

    /// Notes that a state was built anew.
    pub fn rebuilt(&self) {
        for noted in &self.0 {
            noted.rebuilt.fetch_add(1, Relaxed);
        }
    }

    /// Notes what others recorded.
    pub(crate) fn put(&self, diagnostics: Option<Diagnostics>) {
        let (Some(noted), Some(of)) = (self.0.first(), diagnostics) else { return };
        noted.conditioning.fetch_min(of.conditioning.to_bits(), Relaxed);
        noted.remade.fetch_add(of.remade, Relaxed);
        noted.rebuilt.fetch_add(of.rebuilt, Relaxed);
        noted.rows_kept_out.fetch_max(of.rows_kept_out, Relaxed);
    }

    /// The diagnostics so far; `None` if nothing is recorded.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        let of_one = |noted: &Arc<Noted>| Diagnostics {
            conditioning: f64::from_bits(noted.conditioning.load(Relaxed)),
            remade: noted.remade.load(Relaxed),
            rebuilt: noted.rebuilt.load(Relaxed),
            rows_kept_out: noted.rows_kept_out.load(Relaxed),
            single: None,
        };
        Diagnostics::of(self.0.iter().map(|noted| Some(of_one(noted))))
    }

    /// Takes the diagnostics so far and starts anew.
    pub fn take(&self) -> Option<Diagnostics> {
        let diagnostics = self.diagnostics();
        for noted in &self.0 {
            noted.conditioning.store(NOTHING_LOST, Relaxed);
            [&noted.remade, &noted.rebuilt, &noted.rows_kept_out].iter().for_each(|count| count.store(0, Relaxed));
        }
        diagnostics
    }
}
