//! Losses of the rows of a design.

use crate::prediction_units::PredictionUnits;
use crate::{Design, Loss, times_power};
use ndarray::{ArrayView2, CowArray, Ix2};

impl Design {
    /// The mean loss of predictions, outputs × rows, over rows, or over units if the design averages predictions. By
    /// [`Loss::mean`]; a loss without a `degree` sees targets and predictions in the data's units.
    pub fn loss(&self, loss: &dyn Loss, predictions: ArrayView2<'_, f64>) -> f64 {
        let mean = |targets: ArrayView2<'_, f64>, predictions: ArrayView2<'_, f64>, weights| {
            loss.mean(in_loss_units(self, loss, targets).view(), in_loss_units(self, loss, predictions).view(), weights)
        };
        match prediction_units(self) {
            Some(units) => mean(units.targets.view(), units.average(predictions).view(), units.weights.as_deref()),
            None => mean(self.targets(), predictions, self.weights()),
        }
    }
}

/// Units over which predictions are averaged, if rows have [labels](crate::RowLabels::units) of units.
pub fn prediction_units(design: &Design) -> Option<&PredictionUnits> {
    let units = design.problem.labels.units.as_deref()?;
    let make = || PredictionUnits::new(units, design.targets(), design.weights());
    Some(vaglio_columns::get_or_make(&design.shared.prediction_units, make))
}

/// Exponent of the power of two by which a loss without a `degree` multiplies targets and predictions; else 0.
pub fn target_unit(design: &Design, loss: &dyn Loss) -> i32 {
    if loss.traits().degree.is_some() { 0 } else { design.rescaled.unwrap_or(0) }
}

/// Targets or predictions of a design in the units in which a loss sees them.
pub fn in_loss_units<'v>(design: &Design, loss: &dyn Loss, values: ArrayView2<'v, f64>) -> CowArray<'v, f64, Ix2> {
    match target_unit(design, loss) {
        0 => values.into(),
        unit => values.mapv(|x| times_power(x, unit)).into(),
    }
}
