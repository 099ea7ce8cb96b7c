//! What the engines of k-fold cross-validation have in common: trials of every change of a subset, for each λ.

use crate::trial_loss::Residuals;
use crate::trial_loss::TrialLoss;
use vaglio_core::{Feature, Result};

/// The states of a subset, each made when it is first needed, and the trials of its changes. Columns are not constant.
pub(super) trait FoldEngine<'d>: Send {
    /// The losses of the subset, one for each λ; `None` where no state tells them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<TrialLoss>>>;

    /// The losses with each candidate added: λ × candidates.
    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>>;

    /// The losses with each candidate removed: λ × candidates.
    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>>;

    /// The states follow an addition.
    fn add(&mut self, feature: Feature);

    /// The states follow a removal; whether one of them was built anew.
    fn remove(&mut self, feature: Feature) -> bool;

    /// No state is left.
    fn reset(&mut self);

    /// What tells the standard error of the loss, for the λ at a place, where a state tells the loss.
    fn errors(&mut self, subset: &[Feature], lambda: usize) -> Result<HeldOutErrors>;

    /// A copy that expects these columns to be added to it, in this order; without any it is asked for losses alone.
    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Box<dyn FoldEngine<'d> + 'd>;
}

/// Errors of the rows held out.
pub(super) enum HeldOutErrors {
    /// Sums of their squares in each fold.
    Squares(Vec<f64>),
    /// Each of them, scaled by √r_j.
    Residuals(Residuals),
}
