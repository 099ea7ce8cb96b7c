//! Test of losses against the rounding of the targets.

use super::{Measure, Scorer, Targets};
use crate::Trial;
use crate::tolerance::SMALL_RESIDUAL;

impl Scorer {
    /// Marks a trial unreliable if residuals are so small relative to the targets that rounding matters. Keeps trials of
    /// losses that do not grow with residuals.
    #[must_use]
    pub fn judge(&self, trial: Trial) -> Trial {
        let share = trial.loss / self.loss_of_zero;
        let residual = if self.measure == Measure::Absolute { share } else { share.sqrt() };
        match trial.loss > 0.0 && residual * trial.conditioning < SMALL_RESIDUAL {
            true => Trial { is_unreliable: true, lower_bound: f64::NEG_INFINITY, ..trial },
            false => trial,
        }
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
