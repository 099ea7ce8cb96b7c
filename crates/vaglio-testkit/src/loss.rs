//! Laws of a loss: rows count by their weights, and engines are told what it is.

use crate::broken::{Law, Near};
use crate::{Broken, Random, data};
use ndarray::{Array2, Axis};
use vaglio_core::{Loss, Measure, Problem};

/// All laws of a loss on a problem.
///
/// # Errors
/// Every law that does not hold.
pub fn check_loss(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> Result<(), Broken> {
    Law("check").ran(|| "the settings".into(), || loss.check_settings())?;
    Broken::among([
        never_nan(loss, problem),
        repeated_rows(loss, problem, tolerance),
        row_order(loss, problem, tolerance),
        of_rows(loss, problem, tolerance),
        degree(loss, problem, tolerance),
        over_outputs(loss, problem, tolerance),
    ])
}

/// All laws of a loss on every one of [`data::standard_problems`] whose task it does not refuse.
///
/// # Errors
/// Every law that does not hold, or that it refuses every task.
pub fn check_loss_on_standard_data(loss: &dyn Loss, tolerance: f64) -> Result<(), Broken> {
    let problems = data::standard_problems();
    let taken: Vec<_> = problems.iter().filter(|(_, problem)| loss.check(problem.task()).is_ok()).collect();
    Law("tasks").must(!taken.is_empty(), || "the standard problems".into(), "one that it takes", 0)?;
    Broken::among(
        taken
            .into_iter()
            .map(|(name, problem)| check_loss(loss, problem, tolerance).map_err(|broken| broken.within(name))),
    )
}

/// The loss of predictions is no NaN, and its standard error, where it has one, is no NaN and not negative.
pub fn never_nan(loss: &dyn Loss, problem: &Problem) -> Result<(), Broken> {
    let law = Law("never_nan");
    let targets = problem.targets();
    for (what, predictions) in [
        ("predictions with errors", predicted(problem)),
        ("the targets as predictions", Array2::clone(targets)),
        ("0 for every row", Array2::zeros(targets.dim())),
    ] {
        let on = || what.to_owned();
        let (weights, predictions) = (problem.weights().map(|w| &w[..]), predictions.view());
        law.number(on, law.ran(on, || Ok(loss.mean(targets.view(), predictions, weights)))?)?;
        let error = law.ran(on, || Ok(loss.standard_error(targets.view(), predictions, weights)))?;
        let sound = error.is_none_or(|error| error >= 0.0);
        law.must(sound, on, "a standard error of 0 or more, or none", error)?;
    }
    Ok(())
}

/// A row of weight 2 is the row given twice, and weights of 1 are none.
pub fn repeated_rows(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> Result<(), Broken> {
    let law = Law("repeated_rows");
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let weight = |row: usize| 1 + row * 7 % 3;
    let rows: Vec<usize> = (0..problem.rows()).flat_map(|row| std::iter::repeat_n(row, weight(row))).collect();
    let weights: Vec<f64> = (0..problem.rows()).map(|row| weight(row) as f64).collect();
    let on = || "weights from 1 to 3".to_owned();
    let by_weight = law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), Some(&weights))))?;
    let (y, p) = (targets.select(Axis(1), &rows), predictions.select(Axis(1), &rows));
    let by_rows = law.ran(on, || Ok(loss.mean(y.view(), p.view(), None)))?;
    law.near(Near::relative(tolerance), on, by_rows, by_weight)?;
    let ones = law.ran(on, || Ok(loss.mean(y.view(), p.view(), Some(&vec![1.0; rows.len()]))))?;
    law.near(Near::relative(tolerance), || "weights of 1".into(), by_rows, ones)
}

/// The order of the rows changes nothing.
pub fn row_order(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> Result<(), Broken> {
    let law = Law("row_order");
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let order = Random::new(51).order(problem.rows());
    let on = || "the rows in another order".to_owned();
    let expected = law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), None)))?;
    let (y, p) = (targets.select(Axis(1), &order), predictions.select(Axis(1), &order));
    let found = law.ran(on, || Ok(loss.mean(y.view(), p.view(), None)))?;
    law.near(Near::relative(tolerance), on, expected, found)
}

/// Of a loss that says that it is a mean over rows, [`Loss::mean`] is the mean of [`Loss::of_row`].
pub fn of_rows(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> Result<(), Broken> {
    let law = Law("of_rows");
    if loss.measure() != Measure::Rows {
        return Ok(());
    }
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let on = || "the mean over rows".to_owned();
    let mut sum = 0.0;
    for (y, p) in targets.columns().into_iter().zip(predictions.columns()) {
        sum += law.ran(on, || Ok(loss.of_row(&y.to_vec(), &p.to_vec())))?;
    }
    let found = law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), None)))?;
    law.near(Near::relative(tolerance), on, sum / problem.rows() as f64, found)
}

/// Targets and predictions times a number multiply the loss by its power of [`Loss::degree`], if it has one.
///
/// A loss of classes keeps the law: their targets are ±1.
pub fn degree(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> Result<(), Broken> {
    let law = Law("degree");
    let Some(degree) = loss.degree().filter(|_| !loss.needs_classes()) else { return Ok(()) };
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let on = || format!("targets and predictions times 3, of degree {degree}");
    let before = law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), None)))?;
    let (y, p) = (&**targets * 3.0, &predictions * 3.0);
    let after = law.ran(on, || Ok(loss.mean(y.view(), p.view(), None)))?;
    law.near(Near::relative(tolerance), on, before * 3f64.powi(degree), after)
}

/// A loss that says so is the mean of what it is for each output alone.
pub fn over_outputs(loss: &dyn Loss, problem: &Problem, tolerance: f64) -> Result<(), Broken> {
    let law = Law("over_outputs");
    if !loss.is_over_outputs() {
        return Ok(());
    }
    let (targets, predictions) = (problem.targets(), predicted(problem));
    let outputs = targets.nrows();
    let on = || format!("each of {outputs} outputs alone");
    let mut sum = 0.0;
    for output in 0..outputs {
        let (y, p) = (targets.select(Axis(0), &[output]), predictions.select(Axis(0), &[output]));
        sum += law.ran(on, || Ok(loss.mean(y.view(), p.view(), None)))?;
    }
    let together = law.ran(on, || Ok(loss.mean(targets.view(), predictions.view(), None)))?;
    law.near(Near::relative(tolerance), on, sum / outputs as f64, together)
}

/// Predictions with errors, some of them large, and of classes some on the wrong side.
fn predicted(problem: &Problem) -> Array2<f64> {
    let mut random = Random::new(52);
    problem.targets().mapv(|y| y + 0.8 * random.normal())
}
