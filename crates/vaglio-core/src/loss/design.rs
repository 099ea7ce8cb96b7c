//! Losses of the rows of a design.

use super::Loss;
use crate::Design;
use ndarray::ArrayView2;

impl Design {
    /// The mean loss of predictions, outputs × rows, over rows, or over units if the design averages predictions.
    pub fn loss(&self, loss: &dyn Loss, predictions: ArrayView2<'_, f64>) -> f64 {
        match self.decisions() {
            Some(of) => self.mean_loss(loss, of.targets(), of.decide(predictions).view(), of.weights()),
            None => self.mean_loss(loss, self.targets(), predictions, self.weights()),
        }
    }

    /// The standard error of [`Design::loss`] over rows, or over units: [`Loss::standard_error`].
    pub fn standard_error(&self, loss: &dyn Loss, predictions: ArrayView2<'_, f64>) -> Option<f64> {
        match self.decisions() {
            Some(of) => loss.standard_error(of.targets(), of.decide(predictions).view(), of.weights(), None),
            None => loss.standard_error(self.targets(), predictions, self.weights(), None),
        }
    }
}
