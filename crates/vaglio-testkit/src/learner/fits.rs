//! Fits and predictions of a learner under test.

use super::LearnerLaws;
use crate::law_violation::Law;
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
    pub(super) fn extent(self, law: Law) -> LawResult<(usize, Option<f64>)> {
        let problem = self.problem;
        let design = law.run("the readout's design", || self.design())?;
        let Some(design) = design else { return Ok((problem.columns().len(), None)) };
        let (expected, found) = (problem.rows(), design.rows());
        law.must(expected == found, "the design", format!("{expected} rows"), found)?;
        Ok((design.features(), design.lambdas().first().copied().flatten()))
    }

    /// Fits a model on three columns, spread over the whole range.
    pub(super) fn fit(self, law: Law) -> LawResult<(Model, Vec<Feature>)> {
        let (count, lambda) = self.extent(law)?;
        law.must(count >= 3, "the problem", "at least three columns", count)?;
        let subset = vec![count - 1, 0, count / 2];
        let fit = || self.learner.fit(self.problem, &subset, lambda);
        let model = law.run(format_args!("a fit on subset {subset:?}"), fit)?;
        let known = model.inputs().iter().all(|&f| f < self.problem.columns().len());
        let on = format_args!("the model of subset {subset:?}");
        law.must(known, on, "inputs among the problem's columns", model.inputs())?;
        Ok((model, subset))
    }

    /// Fails unless models that are fitted to two problems predict alike on the columns of this one.
    pub(super) fn same_fits(self, law: Law, on: &str, first: &Problem, second: &Problem) -> LawResult {
        let [first, second] = [first, second].map(|problem| self.with_problem(problem).fit(law));
        let (first, second) = (self.predict(law, &first?.0)?, self.predict(law, &second?.0)?);
        same_predictions(law, on, self.tolerance, &first, &second)
    }

    /// Predicts on the problem's columns; checks the shape and that all values are finite.
    pub(super) fn predict(self, law: Law, model: &Model) -> LawResult<Array2<f64>> {
        let (on, problem) = ("predictions on the training columns", self.problem);
        let values = law.run(on, || model.predict(&problem.columns().select(model.inputs()), problem.series()))?;
        let expected = (problem.targets().nrows(), problem.rows());
        law.equal(on, &expected, &values.dim())?;
        finite(law, on, &values)?;
        Ok(values)
    }
}

pub fn finite(law: Law, on: impl Display, values: &Array2<f64>) -> LawResult {
    match values.iter().find(|v| !v.is_finite()) {
        Some(wrong) => Err(law.violation(on, "finite numbers", wrong)),
        None => Ok(()),
    }
}

/// Fails if arrays differ by more than a tolerance relative to their largest value.
pub fn same_predictions(
    law: Law,
    on: impl Display,
    tolerance: f64,
    expected: &Array2<f64>,
    found: &Array2<f64>,
) -> LawResult {
    law.equal(&on, &expected.dim(), &found.dim())?;
    let least = max_abs(expected);
    for ((at, &a), &b) in expected.indexed_iter().zip(found) {
        law.near(Tolerance { tolerance, least }, format_args!("{on}, prediction {at:?}"), a, b)?;
    }
    Ok(())
}
