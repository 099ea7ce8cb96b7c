//! Laws of a loss: rows count by their weights, and the declared properties hold.

use crate::law_violation::{Tolerance, almost_equal, attempt, law, must, no_nan, on_each, on_few_rows};
use crate::{LawResult, LawViolation, SplitMix64, data, design_copies};
use ndarray::{Array2, Axis};
use std::fmt::Display;
use vaglio_core::{Loss, Measure, Problem, Task};

/// Checks all laws of a loss on a problem.
///
/// # Errors
/// Fails with every violated law.
pub fn check_loss(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    law("check", || attempt("the settings", || loss.check_settings()))?;
    let laws = LossLaws::new(loss, problem, tolerance);
    LawViolation::among([
        laws.never_nan(),
        laws.repeated_rows(),
        laws.row_order(),
        laws.mean_of_rows(),
        laws.degree(),
        laws.over_outputs(),
        laws.perfect(),
        laws.few_rows(),
    ])
}

/// Checks all laws of a loss on each of [`data::standard_problems`] with a task that it accepts.
///
/// # Errors
/// Fails with every violated law, or if the loss rejects every task.
pub fn check_loss_on_standard_data(loss: &dyn Loss, tolerance: f64) -> LawResult {
    law("tasks", || {
        on_each(
            data::standard_problems(),
            |problem| loss.check(problem.task()).is_ok(),
            |problem| check_loss(loss, problem, tolerance),
        )
    })
}

/// Laws of a loss on a problem.
struct LossLaws<'l> {
    loss: &'l dyn Loss,
    problem: &'l Problem,
    targets: &'l Array2<f64>,
    /// Predictions with errors, some of them large, and for classes some on the wrong side.
    predictions: Array2<f64>,
    near: Tolerance,
}

impl<'l> LossLaws<'l> {
    fn new(loss: &'l dyn Loss, problem: &'l Problem, tolerance: f64) -> Self {
        let (targets, near, mut random) = (problem.targets(), Tolerance::relative(tolerance), SplitMix64::new(52));
        let predictions = targets.mapv(|y| y + 0.8 * random.normal());
        LossLaws { loss, problem, targets, predictions, near }
    }

    /// The loss of predictions.
    fn mean(
        &self,
        on: impl Display,
        targets: &Array2<f64>,
        predictions: &Array2<f64>,
        weights: Option<&[f64]>,
    ) -> LawResult<f64> {
        attempt(on, || Ok(self.loss.mean(targets.view(), predictions.view(), weights)))
    }

    /// The loss of all rows, which count alike.
    fn whole(&self, on: impl Display) -> LawResult<f64> {
        self.mean(on, self.targets, &self.predictions, None)
    }

    /// The loss of some rows or outputs.
    fn selected(&self, on: impl Display, axis: Axis, places: &[usize], weights: Option<&[f64]>) -> LawResult<f64> {
        self.mean(on, &self.targets.select(axis, places), &self.predictions.select(axis, places), weights)
    }

    /// Losses are never NaN; standard errors are neither NaN nor negative.
    fn never_nan(&self) -> LawResult {
        law("never_nan", || {
            let (targets, weights) = (self.targets, self.problem.weights());
            for (on, predictions) in [
                ("predictions with errors", &self.predictions),
                ("the targets as predictions", targets),
                ("0 for every row", &Array2::zeros(targets.dim())),
            ] {
                no_nan(on, self.mean(on, targets, predictions, weights)?)?;
                let error =
                    attempt(on, || Ok(self.loss.standard_error(targets.view(), predictions.view(), weights, None)))?;
                let sound = error.is_none_or(|error| error >= 0.0);
                must(sound, on, "a standard error of 0 or more, or none", error)?;
            }
            Ok(())
        })
    }

    /// A row of weight 2 equals that row given twice, and weights of 1 equal no weights.
    fn repeated_rows(&self) -> LawResult {
        law("repeated_rows", || {
            let (weights, rows) = design_copies::weights_and_rows(self.problem.rows());
            let on = "weights from 1 to 3";
            let by_weight = self.mean(on, self.targets, &self.predictions, Some(&weights))?;
            let by_rows = self.selected(on, Axis(1), &rows, None)?;
            almost_equal(self.near, on, by_rows, by_weight)?;
            let on = "weights of 1";
            almost_equal(self.near, on, by_rows, self.selected(on, Axis(1), &rows, Some(&vec![1.0; rows.len()]))?)
        })
    }

    /// Row order does not change the loss.
    fn row_order(&self) -> LawResult {
        law("row_order", || {
            let (order, on) = (SplitMix64::new(51).order(self.problem.rows()), "the rows in another order");
            almost_equal(self.near, on, self.whole(on)?, self.selected(on, Axis(1), &order, None)?)
        })
    }

    /// [`Loss::mean`] is the mean of [`Loss::row_loss`] if the loss declares a mean over rows.
    fn mean_of_rows(&self) -> LawResult {
        law("of_rows", || {
            if self.loss.traits().measure != Measure::Rows {
                return Ok(());
            }
            let on = "the mean over rows";
            let mut sum = 0.0;
            for (y, p) in self.targets.columns().into_iter().zip(self.predictions.columns()) {
                sum += attempt(on, || Ok(self.loss.row_loss(&y.to_vec(), &p.to_vec())))?;
            }
            almost_equal(self.near, on, sum / self.problem.rows() as f64, self.whole(on)?)
        })
    }

    /// Scaling targets and predictions by a factor scales the loss by the factor to the power of its `degree`, if
    /// declared.
    ///
    /// A loss of classes passes: its targets are ±1.
    fn degree(&self) -> LawResult {
        law("degree", || {
            let Some(degree) = self.loss.traits().degree.filter(|_| !self.loss.traits().needs_classes()) else {
                return Ok(());
            };
            let on = format_args!("targets and predictions times 3, of degree {degree}");
            let after = self.mean(on, &(self.targets * 3.0), &(&self.predictions * 3.0), None)?;
            almost_equal(self.near, on, self.whole(on)? * 3f64.powi(degree), after)
        })
    }

    /// A loss declared as a mean over outputs equals the mean of each output's loss.
    fn over_outputs(&self) -> LawResult {
        law("over_outputs", || {
            if !self.loss.traits().is_over_outputs {
                return Ok(());
            }
            let outputs = self.targets.nrows();
            let on = format_args!("each of {outputs} outputs alone");
            let alone = (0..outputs).map(|output| self.selected(on, Axis(0), &[output], None));
            let sum: f64 = alone.sum::<LawResult<f64>>()?;
            almost_equal(self.near, on, sum / outputs as f64, self.whole(on)?)
        })
    }

    /// Perfect predictions have the lowest loss, and every loss lies in the declared range. Errors of classes point to
    /// the wrong side, since a margin beyond 1 may lower the loss.
    fn perfect(&self) -> LawResult {
        law("perfect", || {
            let (targets, weights) = (self.targets, self.problem.weights());
            let is_classification = *self.problem.task() != Task::Regression;
            let best = self.mean("the targets as predictions", targets, targets, weights)?;
            let mut random = SplitMix64::new(53);
            for size in [0.01, 0.3, 1.5, 20.0] {
                let shifts = [size, -size];
                for shift in shifts.into_iter().map(Some).chain([None]) {
                    let mut error = || shift.unwrap_or_else(|| size * random.normal());
                    let predictions =
                        targets.mapv(|y| if is_classification { y * (1.0 - error().abs()) } else { y + error() });
                    let what = match shift {
                        Some(shift) => format!("errors of {shift} everywhere"),
                        None => format!("errors of about {size}"),
                    };
                    let found = self.mean(&what, targets, &predictions, weights)?;
                    let [least, largest] = self.loss.traits().range;
                    let is_within = found.is_nan()
                        || (least - 1e-9 * least.abs()..=largest + 1e-9 * largest.abs()).contains(&found);
                    must(is_within, &what, "a loss within its range", found)?;
                    let expected = format!("a loss of at least {best}, which the targets as predictions have");
                    must(found >= best - 1e-9 * best.abs() || found.is_nan(), what, expected, found)?;
                }
            }
            Ok(())
        })
    }

    /// On one to four rows, neither the loss nor its standard error panics.
    fn few_rows(&self) -> LawResult {
        on_few_rows(self.problem.rows(), |rows| {
            let (y, p) = (self.targets.select(Axis(1), rows), self.predictions.select(Axis(1), rows));
            self.loss.mean(y.view(), p.view(), None);
            self.loss.standard_error(y.view(), p.view(), Some(&vec![1.5; rows.len()]), None);
            Ok(())
        })
    }
}
