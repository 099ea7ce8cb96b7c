//! Criterion and loss `python`: each calls a Python function.

use crate::functions::{as_row, ask, check};
use ndarray::ArrayView2;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use vaglio_core::{
    Criterion, CriterionTraits, Design, Error, Estimate, Feature, Loss, LossTasks, LossTraits, Measure, Plan, Result,
    Score, SearchExtent, lock, part,
};

/// A Python function that scores a subset of columns.
///
/// Called for every trial of a search, one at a time, because the interpreter has one lock; there is no shortcut. Lower
/// is better, +∞ rejects a subset, and NaN is an error. The arguments are the columns of the subset, the targets and
/// the weights.
#[part(
    Criterion,
    "python",
    summary = "a function of Python that was registered under a name",
    example = "criterion: {kind: python, name: my_score}"
)]
#[derive(PartialEq, Eq)]
pub struct PythonCriterion {
    /// The name under which the function was registered.
    #[default("function".into())]
    pub name: String,
    /// Whether the empty subset's score compares with those of others, so that a search may end without columns.
    #[default(false)]
    pub compares_with_empty: bool,
}

impl Criterion for PythonCriterion {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let columns = design.problem().columns().matrix(subset).reversed_axes();
        let arrays = [Some(columns), Some(design.targets().to_owned()), design.weights().map(as_row)];
        let names = subset.iter().map(|&feature| design.problem().names()[feature].clone()).collect();
        Score::new(ask(&self.name, arrays, names)?).checked()
    }

    fn check_settings(&self) -> Result<()> {
        check(&self.name)
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { compares_with_empty: self.compares_with_empty, ..CriterionTraits::default() }
    }

    fn plan<'d>(&'d self, _: &'d Design, _: &SearchExtent) -> Plan<'d> {
        let reason = "every subset is scored by a function of Python, one at a time";
        Plan::by_definition(Estimate::unknown("python", reason))
    }
}

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
