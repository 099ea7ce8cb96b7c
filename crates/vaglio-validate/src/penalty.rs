//! Checks of penalties that are negligible next to the columns.

use super::round::to_folds;
use ndarray::{Array1, Array2, Axis};
use vaglio_core::{
    Criterion, Design, Error, HeldOut, Loss, Part, Result, SearchExtent, max_abs, prediction_units, rescale,
    single_outputs, training_weights,
};
use vaglio_kernels::sums::center;
use vaglio_kernels::tolerance::{DEPENDENT_LENGTH, NO_PENALTY};

/// Refuses a negligible λ if columns are dependent or outnumber the training rows. Predictions of such subsets have no
/// correct digits.
///
/// Cost O(columns) unless the smallest λ may be negligible, then O(rows · columns²).
pub(super) fn check(criterion: &dyn Criterion, design: &Design, extent: &SearchExtent) -> Result<()> {
    let Some(readout) = design.readout() else { return Ok(()) };
    let Some(least) = readout.lambdas.iter().copied().reduce(f64::min) else { return Ok(()) };
    if least.log2() >= NO_PENALTY.log2() + log_squares(design) {
        return Ok(());
    }
    let (units, scaled) = rescale(design);
    let lambda = units.lambda(least);
    let columns = weigh(scaled, readout.intercept);
    let squares = columns.rows().into_iter().map(|column| column.dot(&column)).fold(0.0, f64::max);
    let squares = if design.problem().in_folds().is_standardized() { weights(scaled).iter().sum() } else { squares };
    if lambda >= NO_PENALTY * squares {
        return Ok(());
    }
    let free = least_training(criterion, design)?.saturating_sub(usize::from(readout.intercept));
    let why = match extent.largest > free.max(1) {
        true => "of which more are selected than there are rows to train on",
        false if are_dependent(columns) => "which depend on each other",
        false => return Ok(()),
    };
    Err(Error::Numerical(format!(
        "lambda {least:e} is too small for these columns, {why}: nothing would be left of the digits of a score; take a larger lambda"
    )))
}

/// The smallest number of training rows.
fn least_training(criterion: &dyn Criterion, design: &Design) -> Result<usize> {
    let HeldOut::Folds(rounds) = criterion.folds(design)? else { return Ok(design.rows().saturating_sub(1)) };
    Ok(rounds.iter().map(|round| to_folds(round).least_training()).min().unwrap_or(0))
}

/// The weight of each row in training on all rows.
fn weights(design: &Design) -> Vec<f64> {
    training_weights(design, 0..design.rows()).unwrap_or_else(|| vec![1.0; design.rows()])
}

/// The candidates, centered if there is an intercept, times the square root of the row weights: columns × rows.
fn weigh(design: &Design, intercept: bool) -> Array2<f64> {
    let mut columns = design.problem().columns().matrix(&design.candidates()).reversed_axes();
    let weights = weights(design);
    let all: f64 = weights.iter().sum();
    for mut column in columns.rows_mut() {
        if intercept {
            center(column.view_mut(), |row| weights[row], all);
        }
        column.iter_mut().zip(&weights).for_each(|(x, weight)| *x *= weight.sqrt());
    }
    columns
}

/// Whether a column is almost dependent on the others, by orthogonalization, longest column first.
fn are_dependent(mut columns: Array2<f64>) -> bool {
    for mut column in columns.rows_mut() {
        let length = column.dot(&column).sqrt();
        column /= if length > 0.0 { length } else { 1.0 };
    }
    if columns.nrows() > columns.ncols() {
        return true;
    }
    let mut left: Vec<usize> = (0..columns.nrows()).collect();
    while !left.is_empty() {
        let length = |&k: &usize| columns.row(k).dot(&columns.row(k)).sqrt();
        let lengths: Vec<f64> = left.iter().map(length).collect();
        let Some(at) = (0..left.len()).max_by(|&a, &b| lengths[a].total_cmp(&lengths[b])) else { return false };
        if lengths[at] < DEPENDENT_LENGTH {
            return true;
        }
        let pivot: Array1<f64> = &columns.row(left.swap_remove(at)) / lengths[at];
        for &k in &left {
            // Repeated to remove what rounding left.
            for _ in 0..2 {
                let share = columns.row(k).dot(&pivot);
                columns.index_axis_mut(Axis(0), k).scaled_add(-share, &pivot);
            }
        }
    }
    false
}

/// Upper bound of the binary logarithm of the largest weighted sum of squares of a column.
fn log_squares(design: &Design) -> f64 {
    let problem = design.problem();
    let largest = if problem.in_folds().is_standardized() { 1.0 } else { max_abs(problem.largest().iter()) };
    // Weights of balanced classes add up to the number of classes.
    let weights = design.weights().filter(|_| !design.readout().is_some_and(|readout| readout.balanced));
    let weight = weights.map_or(1.0, max_abs);
    2.0 * largest.log2() + weight.log2() + (design.rows() as f64).log2()
}

/// Refuses a λ for each output unless the loss is a mean over outputs.
///
/// # Errors
/// [`Error::Setting`] on `loss`.
pub(super) fn check_outputs(design: &Design, loss: &Part<dyn Loss>) -> Result<()> {
    let refused = |why: &str| {
        Err(Error::setting(
            "loss",
            format!("`lambda: {{outputs: each}}` takes a lambda by the loss of its output, and {why}"),
        ))
    };
    let Some(readout) = design.readout().filter(|_| single_outputs(design).is_some()) else { return Ok(()) };
    if !loss.traits().is_over_outputs {
        return refused(&format!("`{}` is of all outputs together; use `squared` or `absolute`", loss.kind()));
    }
    if readout.balanced {
        return refused("a readout that balances classes weighs rows by all of them; use the learner `rls`");
    }
    match prediction_units(design) {
        Some(_) => refused("predictions are averaged over rows here; share lambda"),
        None => Ok(()),
    }
}
