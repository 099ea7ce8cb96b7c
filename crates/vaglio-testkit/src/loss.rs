//! Laws of a loss: rows count by their weights, and the declared properties hold.

use crate::law_violation::{Law, Tolerance, laws};
use crate::{LawResult, SplitMix64, data, design_copies};
use ndarray::{Array2, Axis};
use std::fmt::Display;
use vaglio_core::{Loss, Measure, Problem, Task};

/// Checks all laws of a loss on a problem.
///
/// # Errors
/// Fails with every violated law.
pub fn check_loss(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    Law("check").ran("the settings", || loss.check_settings())?;
    laws! {
        never_nan(loss, problem);
        repeated_rows(loss, problem, tolerance);
        row_order(loss, problem, tolerance);
        mean_of_rows(loss, problem, tolerance);
        degree(loss, problem, tolerance);
        over_outputs(loss, problem, tolerance);
        perfect(loss, problem);
        few_rows(loss, problem);
    }
}

/// Checks all laws of a loss on each of [`data::standard_problems`] with a task that it accepts.
///
/// # Errors
/// Fails with every violated law, or if the loss rejects every task.
pub fn check_loss_on_standard_data(loss: &dyn Loss, tolerance: f64) -> LawResult {
    Law("tasks").on_each(
        data::standard_problems(),
        |problem| loss.check(problem.task()).is_ok(),
        |problem| check_loss(loss, problem, tolerance),
    )
}

/// A loss on a problem, under a law.
struct LossTrial<'l> {
    law: Law,
    loss: &'l dyn Loss,
    targets: &'l Array2<f64>,
    /// Predictions with errors, some of them large, and for classes some on the wrong side.
    predictions: Array2<f64>,
    near: Tolerance,
}

impl<'l> LossTrial<'l> {
    fn new(law: &'static str, loss: &'l dyn Loss, problem: &'l Problem, tolerance: f64) -> Self {
        let (targets, near, mut random) = (problem.targets(), Tolerance::relative(tolerance), SplitMix64::new(52));
        let predictions = targets.mapv(|y| y + 0.8 * random.normal());
        LossTrial { law: Law(law), loss, targets, predictions, near }
    }

    /// The loss of predictions.
    fn mean(
        &self,
        on: impl Display,
        targets: &Array2<f64>,
        predictions: &Array2<f64>,
        weights: Option<&[f64]>,
    ) -> LawResult<f64> {
        self.law.ran(on, || Ok(self.loss.mean(targets.view(), predictions.view(), weights)))
    }

    /// The loss of all rows, which count alike.
    fn whole(&self, on: impl Display) -> LawResult<f64> {
        self.mean(on, self.targets, &self.predictions, None)
    }

    /// The loss of some rows or outputs.
    fn selected(&self, on: impl Display, axis: Axis, places: &[usize], weights: Option<&[f64]>) -> LawResult<f64> {
        self.mean(on, &self.targets.select(axis, places), &self.predictions.select(axis, places), weights)
    }

    /// Fails unless two losses are equal within the tolerance.
    fn same(&self, on: impl Display, expected: f64, found: f64) -> LawResult {
        self.law.near(self.near, on, expected, found)
    }
}

/// Losses are never NaN; standard errors are neither NaN nor negative.
pub fn never_nan(loss: &dyn Loss, problem: &Problem) -> LawResult {
    let trial = LossTrial::new("never_nan", loss, problem, 0.0);
    let (law, targets, weights) = (trial.law, trial.targets, problem.weights());
    for (on, predictions) in [
        ("predictions with errors", &trial.predictions),
        ("the targets as predictions", targets),
        ("0 for every row", &Array2::zeros(targets.dim())),
    ] {
        law.number(on, trial.mean(on, targets, predictions, weights)?)?;
        let error = law.ran(on, || Ok(loss.standard_error(targets.view(), predictions.view(), weights, None)))?;
        let sound = error.is_none_or(|error| error >= 0.0);
        law.must(sound, on, "a standard error of 0 or more, or none", error)?;
    }
    Ok(())
}

/// A row of weight 2 equals that row given twice, and weights of 1 equal no weights.
pub fn repeated_rows(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let trial = LossTrial::new("repeated_rows", loss, problem, tolerance);
    let (weights, rows) = design_copies::weights_and_rows(problem.rows());
    let on = "weights from 1 to 3";
    let by_weight = trial.mean(on, trial.targets, &trial.predictions, Some(&weights))?;
    let by_rows = trial.selected(on, Axis(1), &rows, None)?;
    trial.same(on, by_rows, by_weight)?;
    let on = "weights of 1";
    trial.same(on, by_rows, trial.selected(on, Axis(1), &rows, Some(&vec![1.0; rows.len()]))?)
}

/// Row order does not change the loss.
pub fn row_order(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let trial = LossTrial::new("row_order", loss, problem, tolerance);
    let (order, on) = (SplitMix64::new(51).order(problem.rows()), "the rows in another order");
    trial.same(on, trial.whole(on)?, trial.selected(on, Axis(1), &order, None)?)
}

/// [`Loss::mean`] is the mean of [`Loss::row_loss`] if the loss declares a mean over rows.
fn mean_of_rows(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let trial = LossTrial::new("of_rows", loss, problem, tolerance);
    if loss.traits().measure != Measure::Rows {
        return Ok(());
    }
    let on = "the mean over rows";
    let mut sum = 0.0;
    for (y, p) in trial.targets.columns().into_iter().zip(trial.predictions.columns()) {
        sum += trial.law.ran(on, || Ok(loss.row_loss(&y.to_vec(), &p.to_vec())))?;
    }
    trial.same(on, sum / problem.rows() as f64, trial.whole(on)?)
}

/// Scaling targets and predictions by a factor scales the loss by the factor to the power of its `degree`, if
/// declared.
///
/// A loss of classes passes: its targets are ±1.
pub fn degree(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let trial = LossTrial::new("degree", loss, problem, tolerance);
    let Some(degree) = loss.traits().degree.filter(|_| !loss.traits().needs_classes()) else { return Ok(()) };
    let on = format_args!("targets and predictions times 3, of degree {degree}");
    let after = trial.mean(on, &(trial.targets * 3.0), &(&trial.predictions * 3.0), None)?;
    trial.same(on, trial.whole(on)? * 3f64.powi(degree), after)
}

/// A loss declared as a mean over outputs equals the mean of each output's loss.
pub fn over_outputs(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let trial = LossTrial::new("over_outputs", loss, problem, tolerance);
    if !loss.traits().is_over_outputs {
        return Ok(());
    }
    let outputs = trial.targets.nrows();
    let on = format_args!("each of {outputs} outputs alone");
    let alone = (0..outputs).map(|output| trial.selected(on, Axis(0), &[output], None));
    let sum: f64 = alone.sum::<LawResult<f64>>()?;
    trial.same(on, sum / outputs as f64, trial.whole(on)?)
}

/// Perfect predictions have the lowest loss, and every loss lies in the declared range. Errors of classes point to the
/// wrong side, since a margin beyond 1 may lower the loss.
pub fn perfect(loss: &dyn Loss, problem: &Problem) -> LawResult {
    let trial = LossTrial::new("perfect", loss, problem, 0.0);
    let (law, targets, weights) = (trial.law, trial.targets, problem.weights());
    let of_classes = *problem.task() != Task::Regression;
    let best = trial.mean("the targets as predictions", targets, targets, weights)?;
    let mut random = SplitMix64::new(53);
    for size in [0.01, 0.3, 1.5, 20.0] {
        let alike = [size, -size];
        for shift in alike.into_iter().map(Some).chain([None]) {
            let mut error = || shift.unwrap_or_else(|| size * random.normal());
            let predictions = targets.mapv(|y| if of_classes { y * (1.0 - error().abs()) } else { y + error() });
            let what = match shift {
                Some(shift) => format!("errors of {shift} everywhere"),
                None => format!("errors of about {size}"),
            };
            let found = trial.mean(&what, targets, &predictions, weights)?;
            let [least, largest] = loss.traits().range;
            let is_within =
                found.is_nan() || (least - 1e-9 * least.abs()..=largest + 1e-9 * largest.abs()).contains(&found);
            law.must(is_within, &what, "a loss within its range", found)?;
            let expected = format!("a loss of at least {best}, which the targets as predictions have");
            law.must(found >= best - 1e-9 * best.abs() || found.is_nan(), what, expected, found)?;
        }
    }
    Ok(())
}

/// On one to four rows, neither the loss nor its standard error panics.
pub fn few_rows(loss: &dyn Loss, problem: &Problem) -> LawResult {
    let trial = LossTrial::new("few_rows", loss, problem, 0.0);
    trial.law.few_rows(problem.rows(), |rows| {
        let (y, p) = (trial.targets.select(Axis(1), rows), trial.predictions.select(Axis(1), rows));
        loss.mean(y.view(), p.view(), None);
        loss.standard_error(y.view(), p.view(), Some(&vec![1.5; rows.len()]), None);
        Ok(())
    })
}
