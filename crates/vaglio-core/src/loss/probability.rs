//! The loss of probabilities.

use super::decision::class_of;
use super::{Loss, LossTasks, LossTraits, check_number};
use crate::{Result, part};

/// Mean over rows of −ln of the probability that predictions give the row's class.
///
/// A readout trained on classes coded ±1 estimates 2P − 1. So the probability of a class is (1 + p)/2, kept at least `clip`
/// from 0 and from 1. Probabilities of several classes are divided by their sum. `vaglio predict --proba` calibrates
/// probabilities, this loss does not.
#[part(
    Loss,
    "log_loss",
    summary = "mean of minus the logarithm of the probability of each row's class",
    title = "log loss"
)]
#[derive(Copy, PartialEq)]
pub struct LogLoss {
    /// The least probability; a row that is certain to be of another class costs −ln of it.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.5))]
    #[default(1e-3)]
    pub clip: f64,
}

impl LogLoss {
    fn probability(&self, prediction: f64) -> f64 {
        (0.5 * (1.0 + prediction)).clamp(self.clip, 1.0 - self.clip)
    }
}

impl Loss for LogLoss {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        if let ([target], [prediction]) = (targets, predictions) {
            return -self.probability(if *target > 0.0 { *prediction } else { -prediction }).ln();
        }
        let total: f64 = predictions.iter().map(|&p| self.probability(p)).sum();
        -(self.probability(predictions[class_of(targets)]) / total).ln()
    }

    fn check_settings(&self) -> Result<()> {
        check_number("clip", self.clip, self.clip > 0.0 && self.clip < 0.5, "a number between 0 and 0.5")
    }

    fn traits(&self) -> LossTraits {
        LossTraits { tasks: LossTasks::Classes, ..LossTraits::non_negative() }
    }
}
