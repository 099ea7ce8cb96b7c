//! Loss `python`: calls a Python function.

use crate::functions::{as_row, ask, check};
use ndarray::ArrayView2;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use vaglio_core::{Error, Loss, LossTasks, LossTraits, Measure, Result, lock, part};

/// Errors that functions raised where none could be returned, by name.
static FAILED: LazyLock<Mutex<HashMap<String, Error>>> = LazyLock::new(Mutex::default);

/// A Python function that rates the predictions of all rows together.
///
/// Called for every trial, one at a time, with targets, predictions and weights; returns a number, lower is better.
/// Standard errors come from a jackknife with at most 100 parts.
#[part(
    Loss,
    "python",
    summary = "a function of Python that was registered under a name",
    example = "criterion: {kind: kfold, loss: {kind: python, name: my_loss}}"
)]
#[derive(PartialEq, Eq)]
pub struct PythonLoss {
    /// The name under which the function was registered.
    #[default("function".into())]
    pub name: String,
    /// Whether the loss is for classes.
    #[default(false)]
    pub classes: bool,
}

impl Loss for PythonLoss {
    fn mean(&self, targets: ArrayView2<'_, f64>, predictions: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> f64 {
        // After a failure, the function is not called until the failure is fetched.
        if lock(&FAILED).contains_key(&self.name) {
            return f64::NAN;
        }
        let arrays = [Some(targets.to_owned()), Some(predictions.to_owned()), weights.map(as_row)];
        ask(&self.name, arrays, Vec::new()).unwrap_or_else(|error| {
            lock(&FAILED).entry(self.name.clone()).or_insert(error);
            f64::NAN
        })
    }

    fn failure(&self) -> Option<Error> {
        lock(&FAILED).remove(&self.name)
    }

    fn traits(&self) -> LossTraits {
        LossTraits {
            measure: Measure::Whole,
            tasks: if self.classes { LossTasks::Classes } else { LossTasks::Any },
            slow_reason: Some(format!(
                "the function `{}` of Python is called for every trial, one at a time",
                self.name
            )),
            ..LossTraits::default()
        }
    }

    fn check_settings(&self) -> Result<()> {
        lock(&FAILED).remove(&self.name);
        check(&self.name)
    }
}
