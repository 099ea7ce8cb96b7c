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

/// Losses are never NaN; standard errors are neither NaN nor negative.
pub fn never_nan(loss: &dyn Loss, problem: &Problem) -> LawResult {
    let law = Law("never_nan");
    let targets = problem.targets();
    for (on, predictions) in [
        ("predictions with errors", predicted(problem)),
        ("the targets as predictions", Array2::clone(targets)),
        ("0 for every row", Array2::zeros(targets.dim())),
    ] {
        let weights = problem.weights();
        law.number(on, law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), weights)))?)?;
        let error = law.ran(on, || Ok(loss.standard_error(targets.view(), predictions.view(), weights, None)))?;
        let sound = error.is_none_or(|error| error >= 0.0);
        law.must(sound, on, "a standard error of 0 or more, or none", error)?;
    }
    Ok(())
}

/// A row of weight 2 equals that row given twice, and weights of 1 equal no weights.
pub fn repeated_rows(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("repeated_rows");
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let (weights, rows) = design_copies::weights_and_rows(problem.rows());
    let on = "weights from 1 to 3";
    let by_weight = law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), Some(&weights))))?;
    let (y, p) = (targets.select(Axis(1), &rows), predictions.select(Axis(1), &rows));
    let by_rows = mean(law, on, loss, &y, &p)?;
    law.near(Tolerance::relative(tolerance), on, by_rows, by_weight)?;
    let ones = law.ran(on, || Ok(loss.mean(y.view(), p.view(), Some(&vec![1.0; rows.len()]))))?;
    law.near(Tolerance::relative(tolerance), "weights of 1", by_rows, ones)
}

/// Row order does not change the loss.
pub fn row_order(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("row_order");
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let order = SplitMix64::new(51).order(problem.rows());
    let on = "the rows in another order";
    let expected = mean(law, on, loss, targets, &predictions)?;
    let (y, p) = (targets.select(Axis(1), &order), predictions.select(Axis(1), &order));
    let found = mean(law, on, loss, &y, &p)?;
    law.near(Tolerance::relative(tolerance), on, expected, found)
}

/// [`Loss::mean`] is the mean of [`Loss::row_loss`] if the loss declares a mean over rows.
fn mean_of_rows(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("of_rows");
    if loss.traits().measure != Measure::Rows {
        return Ok(());
    }
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let on = "the mean over rows";
    let mut sum = 0.0;
    for (y, p) in targets.columns().into_iter().zip(predictions.columns()) {
        sum += law.ran(on, || Ok(loss.row_loss(&y.to_vec(), &p.to_vec())))?;
    }
    let found = mean(law, on, loss, targets, &predictions)?;
    law.near(Tolerance::relative(tolerance), on, sum / problem.rows() as f64, found)
}

/// Scaling targets and predictions by a factor scales the loss by the factor to the power of its `degree`, if
/// declared.
///
/// A loss of classes passes: its targets are ±1.
pub fn degree(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("degree");
    let Some(degree) = loss.traits().degree.filter(|_| !loss.traits().needs_classes()) else { return Ok(()) };
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let on = format_args!("targets and predictions times 3, of degree {degree}");
    let before = mean(law, on, loss, targets, &predictions)?;
    let (y, p) = (&**targets * 3.0, &predictions * 3.0);
    let after = mean(law, on, loss, &y, &p)?;
    law.near(Tolerance::relative(tolerance), on, before * 3f64.powi(degree), after)
}

/// A loss declared as a mean over outputs equals the mean of each output's loss.
pub fn over_outputs(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> LawResult {
    let law = Law("over_outputs");
    if !loss.traits().is_over_outputs {
        return Ok(());
    }
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let outputs = targets.nrows();
    let on = format_args!("each of {outputs} outputs alone");
    let mut sum = 0.0;
    for output in 0..outputs {
        let (y, p) = (targets.select(Axis(0), &[output]), predictions.select(Axis(0), &[output]));
        sum += mean(law, on, loss, &y, &p)?;
    }
    let together = mean(law, on, loss, targets, &predictions)?;
    law.near(Tolerance::relative(tolerance), on, sum / outputs as f64, together)
}

/// Perfect predictions have the lowest loss, and every loss lies in the declared range. Errors of classes point to the
/// wrong side, since a margin beyond 1 may lower the loss.
pub fn perfect(loss: &dyn Loss, problem: &Problem) -> LawResult {
    let law = Law("perfect");
    let targets = problem.targets();
    let of_classes = *problem.task() != Task::Regression;
    let weights = problem.weights();
    let mean = |what: &str, predictions: &Array2<f64>| {
        law.ran(what, || Ok(loss.mean(targets.view(), predictions.view(), weights)))
    };
    let best = mean("the targets as predictions", targets)?;
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
            let found = mean(&what, &predictions)?;
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
    let predictions = predicted(problem);
    Law("few_rows").few_rows(problem.rows(), |rows| {
        let (y, p) = (problem.targets().select(Axis(1), rows), predictions.select(Axis(1), rows));
        loss.mean(y.view(), p.view(), None);
        loss.standard_error(y.view(), p.view(), Some(&vec![1.5; rows.len()]), None);
        Ok(())
    })
}

/// Computes the loss of rows that count alike.
fn mean(
    law: Law,
    on: impl Display,
    loss: &dyn Loss,
    targets: &Array2<f64>,
    predictions: &Array2<f64>,
) -> LawResult<f64> {
    law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), None)))
}

/// Generates predictions with errors, some of them large, and for classes some on the wrong side.
fn predicted(problem: &Problem) -> Array2<f64> {
    let mut random = SplitMix64::new(52);
    problem.targets().mapv(|y| y + 0.8 * random.normal())
}
