//! A loss that is a function of Python.

use crate::functions::{as_row, ask, check};
use ndarray::ArrayView2;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use vaglio_core::{Error, Loss, Measure, Result, part};

/// What functions raised, by their names, where no error can be given.
static FAILED: LazyLock<Mutex<HashMap<String, Error>>> = LazyLock::new(Mutex::default);

fn all_failed() -> MutexGuard<'static, HashMap<String, Error>> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A function of Python that rates predictions, of all rows together.
///
/// It is called for every trial, one at a time, with targets, predictions and weights, and gives a number; lower is better.
/// Standard errors are those of a jackknife of at most 100 parts.
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
    /// Whether it is one of classes.
    #[default(false)]
    pub classes: bool,
}

impl Loss for PythonLoss {
    fn mean(&self, targets: ArrayView2<'_, f64>, predictions: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> f64 {
        // After a failure nothing is asked, until somebody asks for the failure.
        if all_failed().contains_key(&self.name) {
            return f64::NAN;
        }
        let arrays = [Some(targets.to_owned()), Some(predictions.to_owned()), weights.map(as_row)];
        ask(&self.name, arrays, Vec::new()).unwrap_or_else(|error| {
            all_failed().entry(self.name.clone()).or_insert(error);
            f64::NAN
        })
    }

    fn failure(&self) -> Option<Error> {
        all_failed().remove(&self.name)
    }

    fn measure(&self) -> Measure {
        Measure::Whole
    }

    fn needs_classes(&self) -> bool {
        self.classes
    }

    fn check_settings(&self) -> Result<()> {
        all_failed().remove(&self.name);
        check(&self.name)
    }

    fn slowness(&self) -> Option<String> {
        Some(format!("the function `{}` of Python is called for every trial, one at a time", self.name))
    }
}
