//! The ways to the scores, behind one face.

use vaglio_core::{Feature, Result};
use vaglio_kernels::is_unreliable;

/// The outcome of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    /// The mean loss.
    pub loss: f64,
    /// Whether it has lost so many digits that the folds are to be refitted from the rows.
    pub is_weak: bool,
    /// What the true loss is not below, for all that is known.
    pub floor: f64,
}

impl Tried {
    /// A loss that is right unless it is weak, and of which nothing is known then.
    pub fn new(loss: f64, is_weak: bool) -> Self {
        Tried { loss, is_weak, floor: if is_weak || loss.is_nan() { f64::NEG_INFINITY } else { loss } }
    }

    /// A mean of squares with so many digits left, `empty` being that of the empty subset.
    pub fn of_squares(loss: f64, low: f64, empty: impl FnOnce() -> f64) -> Self {
        if !is_unreliable(low) {
            return Tried::new(loss, false);
        }
        let slack = SLACK / low * (loss + empty());
        let floor = if low > LOST && slack.is_finite() { loss - slack } else { f64::NEG_INFINITY };
        Tried { loss, is_weak: true, floor }
    }

    /// Nothing is known.
    pub const UNKNOWN: Tried = Tried { loss: f64::INFINITY, is_weak: true, floor: f64::NEG_INFINITY };
}

/// Rounding of a squared loss, as a part of it and of the squares that it is a difference of, over what is left of the
/// digits: far above the 1e-16 of each operation.
const SLACK: f64 = 1e-11;
/// With no more left than this, a loss has no digits.
const LOST: f64 = 1e-9;

/// One way to compute scores: a current subset, and the mean losses of every change of it for each λ.
pub(super) trait Way: Send {
    /// The losses of the subset: one trial for each λ.
    fn current(&mut self) -> Result<Vec<Tried>>;

    /// The losses with each candidate added: λ × candidates.
    fn additions(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>>;

    /// The losses with each candidate removed: λ × candidates.
    fn removals(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>>;

    fn add(&mut self, feature: Feature) -> Result<()>;

    fn remove(&mut self, feature: Feature) -> Result<()>;

    fn reset(&mut self, subset: &[Feature]) -> Result<()>;

    /// What tells how the loss spreads over folds, for the λ of that place.
    fn spread(&mut self, lambda: usize) -> Result<Spread>;

    /// The root of a depth-first search of the current subset with any of the columns `later`.
    fn tree(&mut self, later: &[Feature]) -> Result<Box<dyn Node + '_>>;
}

/// A node of a depth-first search: the mean losses of its subset and of those with one later column more, for each λ.
pub(super) trait Node {
    /// The losses of the subset: one trial for each λ.
    fn current(&mut self) -> Result<Vec<Tried>>;

    /// The losses with the later column of each place added: λ × places.
    fn additions(&mut self, places: &[usize]) -> Result<Vec<Vec<Tried>>>;

    /// The node with the later column at `place` added; the columns after it may follow.
    fn child(&mut self, place: usize) -> Result<Box<dyn Node + '_>>;
}

/// From what the spread of a loss over folds is computed.
pub(super) enum Spread {
    /// Sums of squared errors of each fold.
    Folds(Vec<f64>),
    /// Residuals held out, scaled: outputs × rows as given.
    Residuals(Vec<Vec<f64>>),
    /// Nothing: the subset is to be refitted.
    Unknown,
}
