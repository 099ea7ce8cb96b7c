//! What the engines of k-fold cross-validation have in common: trials of every change of a subset, for each λ.

use crate::criteria::fits::Residuals;
use crate::criteria::settle::Outcome;
use vaglio_core::{Feature, Result};

/// The engines, by the identifiers of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Moments of the folds.
    Moments,
    /// Rows held out.
    HoldOut,
    /// Each subset decomposed.
    Decomposition,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Moments => "primal",
            Kind::HoldOut => "dual",
            Kind::Decomposition => crate::criteria::decomposed::ENGINE,
        }
    }
}

/// The states of a subset, each made when it is first needed, and the trials of its changes. Columns are not constant.
pub(super) trait FoldEngine: Send {
    /// The outcomes of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Outcome>>>;

    /// The outcomes with each candidate added: λ × candidates.
    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>>;

    /// The outcomes with each candidate removed: λ × candidates.
    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>>;

    /// The states follow an addition.
    fn add(&mut self, feature: Feature);

    /// The states follow a removal.
    fn remove(&mut self, feature: Feature);

    /// No state is left.
    fn reset(&mut self);

    /// What tells how the loss spreads over folds, for the λ at a place, where a state tells the loss.
    fn spread(&mut self, subset: &[Feature], lambda: usize) -> Result<Spread>;

    /// The root of a depth-first search of a subset with any of the columns `later`.
    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Box<dyn Node + '_>;
}

/// A node of a depth-first search: a subset, and the columns that may follow.
pub(super) trait Node {
    /// The outcomes of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self) -> Option<Vec<Outcome>>;

    /// The outcomes with the later column of each place added: λ × places.
    fn additions(&mut self, places: &[usize]) -> Vec<Vec<Outcome>>;

    /// The node with the later column at `place` added; the columns after it may follow.
    fn child(&mut self, place: usize) -> Box<dyn Node + '_>;
}

/// From what the spread of a loss over folds is computed.
pub(super) enum Spread {
    /// Sums of squared errors of each fold.
    Folds(Vec<f64>),
    Residuals(Residuals),
}
