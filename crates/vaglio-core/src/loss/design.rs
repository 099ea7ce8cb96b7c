//! Losses of the rows of a design.

use super::Loss;
use crate::{Design, times_power};
use ndarray::ArrayView2;

impl Design {
    /// The mean loss of predictions, outputs × rows, over rows, or over units where the design decides by these.
    pub fn loss(&self, loss: &dyn Loss, predictions: ArrayView2<'_, f64>) -> f64 {
        match &self.decisions {
            Some(of) => self.mean_loss(loss, of.targets(), of.decide(predictions).view(), of.weights()),
            None => self.mean_loss(loss, self.targets(), predictions, self.weights()),
        }
    }

    /// The mean loss of some rows or units of the design, [`Loss::mean`]. Targets and predictions are in the units of the
    /// design, and a loss that has no [`Loss::degree`] sees them in those of the data.
    pub fn mean_loss(
        &self,
        loss: &dyn Loss,
        targets: ArrayView2<'_, f64>,
        predictions: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
    ) -> f64 {
        match self.target_unit(loss) {
            0 => loss.mean(targets, predictions, weights),
            unit => {
                let in_own = |values: ArrayView2<'_, f64>| values.mapv(|x| times_power(x, unit));
                loss.mean(in_own(targets).view(), in_own(predictions).view(), weights)
            }
        }
    }

    /// The power of two by which a loss that has no [`Loss::degree`] multiplies targets and predictions; 0 for others.
    pub fn target_unit(&self, loss: &dyn Loss) -> i32 {
        if loss.degree().is_some() { 0 } else { self.target_unit }
    }

    /// The standard error of [`Design::loss`] over rows, or over units: [`Loss::standard_error`].
    pub fn standard_error(&self, loss: &dyn Loss, predictions: ArrayView2<'_, f64>) -> Option<f64> {
        match &self.decisions {
            Some(of) => loss.standard_error(of.targets(), of.decide(predictions).view(), of.weights()),
            None => loss.standard_error(self.targets(), predictions, self.weights()),
        }
    }
}
