//! Losses by what results call them.

use super::Record;
use serde::{Deserialize, Serialize};
use vaglio_core::{AnyLoss, Loss, Role, Squared, ZeroOne, title};

/// A loss by what it is called in results: its word, or of AUC, which is a figure, `1 - auc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LossName(String);

impl From<&dyn Loss> for LossName {
    fn from(loss: &dyn Loss) -> Self {
        LossName(loss.label().into())
    }
}

impl LossName {
    /// Whether it is that of a loss.
    pub fn is(&self, loss: &dyn Loss) -> bool {
        self.0 == loss.label()
    }

    /// As results have it.
    pub fn told(&self) -> &str {
        &self.0
    }

    /// Name of the loss for people.
    pub fn title(&self) -> &str {
        title(Role::Loss, self.word())
    }

    /// The 95 % interval of a mean by its standard error, as far as the loss goes.
    pub(crate) fn around(&self, mean: f64, error: f64) -> [f64; 2] {
        let loss = serde_json::from_value::<AnyLoss>(self.word().into());
        let [least, most] = loss.map_or([f64::NEG_INFINITY, f64::INFINITY], |loss| loss.traits().range);
        [mean - 1.96 * error, mean + 1.96 * error].map(|end| end.max(least).min(most))
    }

    fn word(&self) -> &str {
        self.0.strip_prefix("1 - ").unwrap_or(&self.0)
    }
}

impl Record {
    /// The loss by which the run was made, or judged where its criterion has none: the squared error, or the error rate.
    pub fn loss(&self) -> LossName {
        let own: &dyn Loss = if self.data.classes.is_some() { &ZeroOne } else { &Squared };
        self.pipeline.loss.clone().unwrap_or_else(|| own.into())
    }
}
