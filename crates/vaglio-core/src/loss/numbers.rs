//! Losses of numbers, over rows and outputs.

use super::{Loss, LossTraits, Measure, check_number};
use crate::{Part, Result, part, row_weights};
use ndarray::ArrayView2;

/// Mean of (y − p)² over rows and outputs.
#[part(Loss, "squared", summary = "mean squared error over rows and outputs", title = "squared error")]
#[derive(Copy, PartialEq, Eq)]
pub struct Squared;

impl Default for Part<dyn Loss> {
    fn default() -> Self {
        Squared.into()
    }
}

/// Mean of |y − p| over rows and outputs.
#[part(Loss, "absolute", summary = "mean absolute error over rows and outputs", title = "absolute error")]
#[derive(Copy, PartialEq, Eq)]
pub struct Absolute;

/// Mean over rows and outputs of ½e² for errors e up to `delta` in size, and of δ(|e| − ½δ) beyond.
///
/// # Reference
/// P. Huber, *Robust estimation of a location parameter*, Annals of Mathematical Statistics 35, 1964.
#[part(
    Loss,
    "huber",
    summary = "half of the squared error up to delta, and linear beyond, over rows and outputs",
    example = "criterion: {kind: loo, loss: {kind: huber, delta: 1.35}}",
    title = "Huber loss"
)]
#[derive(Copy, PartialEq)]
pub struct Huber {
    /// Where errors begin to count by their size, in the units of the target.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[default(1.35)]
    pub delta: f64,
}

/// Mean over rows and outputs of τ·e for errors e = y − p above 0, and of (τ − 1)·e below. The quantile τ
/// minimizes it.
///
/// # Reference
/// R. Koenker, G. Bassett, *Regression quantiles*, Econometrica 46, 1978.
#[part(
    Loss,
    "pinball",
    summary = "error of a quantile over rows and outputs",
    example = "criterion: {kind: loo, loss: {kind: pinball, quantile: 0.9}}",
    title = "pinball loss"
)]
#[derive(Copy, PartialEq)]
pub struct Pinball {
    /// τ, between 0 and 1.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    #[default(0.5)]
    pub quantile: f64,
}

/// The mean over outputs.
fn over_outputs(targets: &[f64], predictions: &[f64], loss_of_error: impl Fn(f64) -> f64) -> f64 {
    targets.iter().zip(predictions).map(|(y, p)| loss_of_error(y - p)).sum::<f64>() / targets.len() as f64
}

/// The mean over rows and outputs, summed in the order of the rows.
fn over_all(
    targets: ArrayView2<f64>,
    predictions: ArrayView2<f64>,
    weights: Option<&[f64]>,
    loss_of_error: impl Fn(f64) -> f64,
) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (row, (y, p)) in targets.columns().into_iter().zip(predictions.columns()).enumerate() {
        let weight = row_weights(weights)(row);
        y.iter().zip(p).for_each(|(y, p)| sum += weight * loss_of_error(y - p));
        total += weight;
    }
    sum / (total * targets.nrows() as f64)
}

impl Loss for Squared {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        over_outputs(targets, predictions, |e| e * e)
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        over_all(targets, predictions, weights, |e| e * e)
    }

    fn traits(&self) -> LossTraits {
        LossTraits { measure: Measure::Squared, degree: Some(2), is_over_outputs: true, ..LossTraits::non_negative() }
    }
}

impl Loss for Absolute {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        over_outputs(targets, predictions, f64::abs)
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        over_all(targets, predictions, weights, f64::abs)
    }

    fn traits(&self) -> LossTraits {
        LossTraits { measure: Measure::Absolute, degree: Some(1), is_over_outputs: true, ..LossTraits::non_negative() }
    }
}

impl Loss for Huber {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        let delta = self.delta;
        let loss_of_error = |e: f64| if e.abs() <= delta { 0.5 * e * e } else { delta * (e.abs() - 0.5 * delta) };
        over_outputs(targets, predictions, loss_of_error)
    }

    fn check_settings(&self) -> Result<()> {
        let is_valid = self.delta > 0.0 && self.delta.is_finite();
        check_number("delta", self.delta, is_valid, "a finite number above 0")
    }

    fn traits(&self) -> LossTraits {
        LossTraits { is_over_outputs: true, ..LossTraits::non_negative() }
    }
}

impl Loss for Pinball {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        over_outputs(targets, predictions, |e| (self.quantile * e).max((self.quantile - 1.0) * e))
    }

    fn check_settings(&self) -> Result<()> {
        let is_valid = self.quantile > 0.0 && self.quantile < 1.0;
        check_number("quantile", self.quantile, is_valid, "a number between 0 and 1")
    }

    fn traits(&self) -> LossTraits {
        LossTraits { degree: Some(1), is_over_outputs: true, ..LossTraits::non_negative() }
    }
}
