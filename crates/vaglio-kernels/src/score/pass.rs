//! Losses computed together with the update of the state, in one pass over the rows of one output.

use super::{Scorer, Targets};
use crate::pass::{PassLoss, PassResult};
use crate::{Measure, Trial};
use std::sync::Arc;

/// Packs the classes of eight rows into a byte, bit l for row l: 1 for class 1, 0 for class −1. Returns `None` for
/// other targets.
pub(super) fn signs(targets: &Targets) -> Option<Arc<[u8]>> {
    let [y] = &targets.scaled[..] else { return None };
    let is_class = |(j, y): (usize, &f64)| y.abs() == targets.root(j);
    let of_eight = |y: &[f64]| y.iter().enumerate().fold(0, |byte, (l, y)| byte | u8::from(*y > 0.0) << l);
    y.iter().enumerate().all(is_class).then(|| y.chunks(8).map(of_eight).collect())
}

impl Scorer {
    /// The pass that accumulates the loss of one output; `None` if the loss needs more.
    pub(crate) fn pass(&self) -> Option<PassLoss<'_>> {
        if self.targets.outputs() != 1 || self.factors.is_some() || self.units.is_some() {
            return None;
        }
        let root = self.targets.root.as_deref();
        match self.measure {
            Measure::Squared => Some(PassLoss::Squares),
            Measure::BalancedSquared => Some(PassLoss::WeighedSquares(&self.balance)),
            Measure::Absolute => Some(PassLoss::Sizes(root)),
            Measure::ZeroOne => Some(PassLoss::Wrong(self.signs.as_deref()?, root)),
            Measure::BalancedError => Some(PassLoss::WrongBySide(self.signs.as_deref()?, root)),
            _ => None,
        }
    }

    /// Turns the result of a pass into a trial.
    pub(crate) fn trial(&self, PassResult { sums, low }: PassResult) -> Trial {
        let loss = match self.measure {
            Measure::BalancedError => self.balanced(&sums),
            _ => self.mean_of(sums[0]),
        };
        Trial::new(loss, low)
    }

    /// Mean error over the classes present, from the misclassified weight by class.
    pub(super) fn balanced(&self, wrong: &[f64]) -> f64 {
        let present = self.class_weights.iter().filter(|w| **w > 0.0).count() as f64;
        let shares = wrong.iter().zip(&self.class_weights).filter(|(_, w)| **w > 0.0);
        shares.map(|(wrong, weight)| wrong / weight).sum::<f64>() / present
    }
}
