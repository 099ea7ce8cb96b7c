//! The interface of k-fold engines: trials of every change of a subset, for each λ.

use crate::fits::SubsetFits;
use crate::trial_loss::TrialLoss;
use vaglio_core::{Action, Feature, Result};

/// States of a subset, each created on first use, and trials of its changes. Columns must not be constant.
pub(super) trait FoldEngine<'d>: Send {
    /// The losses of the subset, one for each λ; `None` if the state does not determine them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<TrialLoss>>>;

    /// The losses with each candidate added or removed: λ × candidates.
    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>>;

    /// Updates the states for a change; returns whether one was rebuilt.
    fn apply(&mut self, change: Action, feature: Feature) -> bool;

    /// Drops all states.
    fn reset(&mut self);

    /// The standard error at the λ of index `lambda`, if the state determines the loss.
    fn standard_error(&mut self, fits: &SubsetFits<'_>, subset: &[Feature], lambda: usize) -> Result<Option<f64>>;

    /// A copy that expects `candidates` to be added in this order. Without candidates, the copy is asked for losses
    /// only.
    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Box<dyn FoldEngine<'d> + 'd>;
}
