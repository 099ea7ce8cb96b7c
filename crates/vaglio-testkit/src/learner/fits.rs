//! Fits and predictions of a learner under test.

use super::LearnerLaws;
use crate::law_violation::{almost_equal, attempt, equals, must, violation};
use crate::{LawResult, Tolerance};
use ndarray::Array2;
use std::fmt::Display;
use vaglio_core::{Design, Feature, Model, Problem, Result, max_abs};

impl LearnerLaws<'_> {
    /// Makes the design of a learner's readout; `None` if the learner is refitted.
    pub(super) fn design(self) -> Result<Option<Design>> {
        let readout = self.learner.readout()?;
        readout.map(|readout| self.learner.design(self.problem, readout)).transpose()
    }

    /// Returns the number of selectable features, and the first λ.
    pub(super) fn extent(self) -> LawResult<(usize, Option<f64>)> {
        let problem = self.problem;
        let design = attempt("the readout's design", || self.design())?;
        let Some(design) = design else { return Ok((problem.columns().len(), None)) };
        let (expected, found) = (problem.rows(), design.rows());
        must(expected == found, "the design", format!("{expected} rows"), found)?;
        Ok((design.features(), design.lambdas()[0]))
    }

    /// Fits a model on three columns, spread over the whole range.
    pub(super) fn fit(self) -> LawResult<(Model, Vec<Feature>)> {
        let (count, lambda) = self.extent()?;
        must(count >= 3, "the problem", "at least three columns", count)?;
        let subset = vec![count - 1, 0, count / 2];
        let fit = || self.learner.fit(self.problem, &subset, lambda);
        let model = attempt(format_args!("a fit on subset {subset:?}"), fit)?;
        let known = model.inputs().iter().all(|&f| f < self.problem.columns().len());
        let on = format_args!("the model of subset {subset:?}");
        must(known, on, "inputs among the problem's columns", model.inputs())?;
        Ok((model, subset))
    }

    /// Fails unless models that are fitted to two problems predict alike on the columns of this one.
    pub(super) fn same_fits(self, on: &str, first: &Problem, second: &Problem) -> LawResult {
        let [first, second] = [first, second].map(|problem| self.with_problem(problem).fit());
        let (first, second) = (self.predict(&first?.0)?, self.predict(&second?.0)?);
        same_predictions(on, self.tolerance, &first, &second)
    }

    /// Predicts on the problem's columns; checks the shape and that all values are finite.
    pub(super) fn predict(self, model: &Model) -> LawResult<Array2<f64>> {
        let (on, problem) = ("predictions on the training columns", self.problem);
        let values = attempt(on, || model.predict(&problem.columns().select(model.inputs()), problem.series()))?;
        let expected = (problem.targets().nrows(), problem.rows());
        equals(on, &expected, &values.dim())?;
        finite(on, &values)?;
        Ok(values)
    }
}

pub fn finite(on: impl Display, values: &Array2<f64>) -> LawResult {
    match values.iter().find(|v| !v.is_finite()) {
        Some(wrong) => Err(violation(on, "finite numbers", wrong)),
        None => Ok(()),
    }
}

/// Fails if arrays differ by more than a tolerance relative to their largest value.
pub fn same_predictions(on: impl Display, tolerance: f64, expected: &Array2<f64>, found: &Array2<f64>) -> LawResult {
    equals(&on, &expected.dim(), &found.dim())?;
    let least = max_abs(expected);
    for ((at, &a), &b) in expected.indexed_iter().zip(found) {
        almost_equal(Tolerance { tolerance, least }, format_args!("{on}, prediction {at:?}"), a, b)?;
    }
    Ok(())
}
