//! Test of losses against the rounding of the targets.

use super::{Measure, Scorer, Targets};
use crate::tolerance::SMALL_RESIDUAL;

impl Scorer {
    /// Whether rounding matters for residuals of this mean loss, given the conditioning of their divisors. Always false
    /// for losses that do not grow with residuals.
    pub fn is_rounding(&self, loss: f64, conditioning: f64) -> bool {
        let share = loss / self.loss_of_zero;
        let residual = if self.measure == Measure::Absolute { share } else { share.sqrt() };
        loss > 0.0 && residual * conditioning < SMALL_RESIDUAL
    }
}

/// Mean loss of predicting 0 for every row; NaN for losses that do not grow with residuals.
pub(super) fn loss_of_zero(targets: &Targets, measure: Measure) -> f64 {
    let sum = match measure {
        Measure::Squared | Measure::BalancedSquared => targets.scaled.iter().flatten().map(|y| y * y).sum(),
        Measure::Absolute => {
            let output_sum =
                |y: &Vec<f64>| y.iter().enumerate().map(|(row, y)| targets.root(row) * y.abs()).sum::<f64>();
            targets.scaled.iter().map(output_sum).sum()
        }
        _ => f64::NAN,
    };
    sum / (targets.total_weight * targets.outputs() as f64)
}
