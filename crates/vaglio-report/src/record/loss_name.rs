//! Names of losses in results.

use super::Record;
use crate::interval::normal_interval;
use crate::page::finite;
use vaglio_core::{Loss, Part, Role, Squared, ZeroOne, record, title};

/// Name of a loss in results: the word of the loss, or `1 - auc`.
#[record]
#[derive(Eq)]
#[serde(transparent)]
pub struct LossName(String);

impl From<&dyn Loss> for LossName {
    fn from(loss: &dyn Loss) -> Self {
        LossName(loss.label().into())
    }
}

impl LossName {
    /// Whether this is the name of `loss`.
    pub fn is(&self, loss: &dyn Loss) -> bool {
        self.0 == loss.label()
    }

    /// Name as written in results.
    pub fn result_name(&self) -> &str {
        &self.0
    }

    /// Display name of the loss.
    pub fn title(&self) -> &str {
        title(Role::Loss, self.word())
    }

    /// 95 % interval of a mean loss from its standard error, clipped to the range of the loss.
    pub(crate) fn interval(&self, mean: f64, error: f64) -> [f64; 2] {
        let loss = serde_json::from_value::<Part<dyn Loss>>(self.word().into());
        normal_interval(mean, error, loss.map_or([f64::NEG_INFINITY, f64::INFINITY], |loss| loss.traits().range))
    }

    /// Place of a mean loss with its 95 % interval, if it is finite and has a standard error.
    pub(crate) fn interval_at(&self, place: f64, mean: Option<f64>, error: Option<f64>) -> Option<[f64; 3]> {
        let [low, high] = self.interval(mean.and_then(finite)?, error.and_then(finite)?);
        Some([place, low, high])
    }

    fn word(&self) -> &str {
        self.0.strip_prefix("1 - ").unwrap_or(&self.0)
    }
}

impl Record {
    /// Name of the criterion's loss. For a criterion without one: the squared error, or the error rate of classes.
    pub fn loss(&self) -> LossName {
        let own: &dyn Loss = if self.data.classes.is_some() { &ZeroOne } else { &Squared };
        self.pipeline.loss.clone().unwrap_or_else(|| own.into())
    }
}
