//! What the engines of k-fold cross-validation have in common: trials of every change of a subset, for each λ.

use crate::trial_loss::Residuals;
use crate::trial_loss::TrialLoss;
use vaglio_core::{Feature, Result};

/// The states of a subset, each made when it is first needed, and the trials of its changes. Columns are not constant.
pub(super) trait FoldEngine: Send {
    /// The losses of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<TrialLoss>>>;

    /// The losses with each candidate added: λ × candidates.
    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>>;

    /// The losses with each candidate removed: λ × candidates.
    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>>;

    /// The losses with several columns added together, one for each λ; `None` where no state tells them.
    fn with(&mut self, subset: &[Feature], more: &[Feature]) -> Option<Vec<TrialLoss>>;

    /// The states follow an addition.
    fn add(&mut self, feature: Feature);

    /// The states follow a removal; whether one of them was built anew.
    fn remove(&mut self, feature: Feature) -> bool;

    /// No state is left.
    fn reset(&mut self);

    /// What tells the standard error of the loss, for the λ at a place, where a state tells the loss.
    fn errors(&mut self, subset: &[Feature], lambda: usize) -> Result<HeldOutErrors>;

    /// The root of a depth-first search of a subset with any of the columns `later`.
    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Box<dyn FoldNode + '_>;
}

/// A node of a depth-first search: a subset, and the columns that may follow.
pub(super) trait FoldNode {
    /// The losses of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self) -> Option<Vec<TrialLoss>>;

    /// The losses with the later column of each place added: λ × places.
    fn additions(&mut self, places: &[usize]) -> Vec<Vec<TrialLoss>>;

    /// The node with the later column at `place` added; the columns after it may follow.
    fn child(&mut self, place: usize) -> Box<dyn FoldNode + '_>;
}

/// Errors of the rows held out.
pub(super) enum HeldOutErrors {
    /// Sums of their squares in each fold.
    Squares(Vec<f64>),
    /// Each of them, scaled by √r_j.
    Residuals(Residuals),
}
