//! Copies of designs and problems, changed in one respect.

use crate::SplitMix64;
use ndarray::Array2;
use vaglio_core::{Error, PerFoldPreprocessing, Result, RowLabels, prelude::*, row_weights};

/// Extracts candidate columns, targets, weights, groups and given folds of a design as a problem.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn problem_of(design: &Design) -> Result<Problem> {
    replace_columns(design.problem(), design.problem().columns().clone(), design.problem().names().to_vec())
}

/// Selects the columns `features` in the given order, with repeats; copies get names of their own.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_columns(design: &Design, features: &[Feature]) -> Result<Design> {
    let mut names = Vec::new();
    features.iter().for_each(|&feature| push_name(&mut names, &design.problem().names()[feature]));
    with_named_columns(design, design.problem().columns().select(features), names)
}

/// Appends a constant column of each value.
pub(crate) fn with_constants(design: &Design, values: &[f64]) -> Result<Design> {
    let (mut columns, mut names) = (design.problem().columns().clone(), design.problem().names().to_vec());
    for &value in values {
        columns.push(vec![value; design.rows()]);
        push_name(&mut names, "constant");
    }
    with_named_columns(design, columns, names)
}

/// Renames all columns by position.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn rename(design: &Design) -> Result<Design> {
    let names = (0..design.features()).map(|place| format!("column {place}")).collect();
    with_named_columns(design, design.problem().columns().clone(), names)
}

/// Selects rows in the given order.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_rows(design: &Design, rows: &[usize]) -> Result<Design> {
    Ok(with_problem(design, &problem_of(design)?.select_rows(rows), readout(design)?))
}

/// Maps columns to integers from 0 to 255 by value; returns one design with them as bytes and one as doubles.
pub(crate) fn as_bytes_and_doubles(design: &Design) -> Result<(Design, Design)> {
    let (mut bytes, mut doubles) = (Columns::new(design.rows()), Columns::new(design.rows()));
    for column in design.problem().columns().iter() {
        let values = column.values();
        let (least, greatest) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let span = if greatest > least { greatest - least } else { 1.0 };
        let whole: Vec<f64> = values.iter().map(|v| ((v - least) / span * 255.0).round()).collect();
        bytes.push(whole.iter().map(|v| *v as u8).collect::<Vec<u8>>());
        doubles.push(Numbers::Double(whole));
    }
    let stored = |columns| with_named_columns(design, columns, design.problem().names().to_vec());
    Ok((stored(bytes)?, stored(doubles)?))
}

/// Replaces the λ values.
pub(crate) fn with_lambdas(design: &Design, lambdas: Vec<f64>) -> Result<Design> {
    Ok(with_problem(design, &problem_of(design)?, with_other_lambdas(&readout(design)?, lambdas)?))
}

/// Scales all row weights and λ by `factor`, which changes no fit. With balanced weights λ is kept, since a common
/// factor then has no effect.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_weights_scaled(design: &Design, factor: f64) -> Result<Design> {
    let old = readout(design)?;
    let by = if old.balanced { 1.0 } else { factor };
    let weight = |row: usize| factor * row_weights(design.weights())(row);
    let problem = problem_of(design)?.with_weights((0..design.rows()).map(weight).collect())?;
    let lambdas = old.lambdas.iter().map(|l| by * l).collect();
    Ok(with_problem(design, &problem, with_other_lambdas(&old, lambdas)?))
}

/// Removes row weights.
pub(crate) fn without_row_weights(design: &Design) -> Result<Design> {
    Ok(with_problem(design, &without_weights(design.problem())?, readout(design)?))
}

/// Returns the design with integer weights from 1 to 3, and one with rows repeated by these weights.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn repeated_rows(design: &Design) -> Result<(Design, Design)> {
    let (weighted, repeated) = whole_weights(design.problem())?;
    let readout = readout(design)?;
    Ok((with_problem(design, &weighted, readout.clone()), with_problem(design, &repeated, readout)))
}

/// Draws integer weights from 1 to 3; also returns the rows repeated by weight.
pub(crate) fn weights_and_rows(count: usize) -> (Vec<f64>, Vec<usize>) {
    let mut random = SplitMix64::new(31);
    let weights: Vec<usize> = (0..count).map(|row| 1 + (row + random.below(2)) % 3).collect();
    let rows = weights.iter().enumerate().flat_map(|(row, &weight)| std::iter::repeat_n(row, weight)).collect();
    (weights.into_iter().map(|weight| weight as f64).collect(), rows)
}

/// Returns the problem with integer weights from 1 to 3, and one with rows repeated by these weights.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn whole_weights(problem: &Problem) -> Result<(Problem, Problem)> {
    let plain = without_weights(problem)?;
    let (weights, rows) = weights_and_rows(plain.rows());
    let repeated = plain.select_rows(&rows);
    Ok((plain.with_weights(weights)?, repeated))
}

/// Renames all columns of a problem.
pub(crate) fn with_other_names(problem: &Problem) -> Result<Problem> {
    let names = problem.names().iter().map(|name| format!("another {name}")).collect();
    replace_columns(problem, Columns::clone(problem.columns()), names)
}

/// Reverses and rescales the columns outside a subset.
pub(crate) fn with_others_changed(problem: &Problem, subset: &[Feature]) -> Result<Problem> {
    let mut columns = Columns::new(problem.rows());
    for (feature, column) in problem.columns().iter().enumerate() {
        let mut values = column.values().into_owned();
        if !subset.contains(&feature) {
            values.reverse();
            values.iter_mut().for_each(|v| *v = 3.0 * *v + 0.5);
        }
        columns.push(values);
    }
    problem.with_values(columns)
}

/// Duplicates every column: with n columns, the copy of column j is column 2n − 1 − j.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn double(problem: &Problem) -> Result<Problem> {
    let count = problem.columns().len();
    let twice: Vec<Feature> = (0..count).chain((0..count).rev()).collect();
    replace_columns(problem, problem.columns().select(&twice), (0..twice.len()).map(|j| format!("c{j}")).collect())
}

/// Keeps about half as many rows as columns, alternating between classes so that every class has a row.
#[must_use]
pub fn wide(problem: &Problem) -> Problem {
    let targets = problem.targets();
    let class = |row: usize| (0..targets.nrows()).position(|o| targets[[o, row]] > 0.0);
    let rank = |row: usize| (0..row).filter(|&other| class(other) == class(row)).count();
    let mut order: Vec<(usize, usize)> = (0..problem.rows()).map(|row| (rank(row), row)).collect();
    order.sort_unstable();
    let classes = order.iter().filter(|(rank, _)| *rank == 0).count();
    let keep = (problem.columns().len() / 2).max(classes).max(2);
    problem.select_rows(&order.into_iter().take(keep).map(|(_, row)| row).collect::<Vec<_>>())
}

fn with_named_columns(design: &Design, columns: Columns, names: Vec<String>) -> Result<Design> {
    Ok(with_problem(design, &replace_columns(design.problem(), columns, names)?, readout(design)?))
}

/// Builds a design of a problem with the seed and in-fold standardization of another design.
fn with_problem(design: &Design, problem: &Problem, readout: Readout) -> Design {
    let made = Design::identity(&problem.clone().with_seed(design.problem().seed()), readout);
    if design.problem().in_folds().is_standardized() {
        made.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()))
    } else {
        made
    }
}

fn readout(design: &Design) -> Result<Readout> {
    let message =
        "a design whose learner is trained by its own `fit` has no changed copies; give one with a ridge readout";
    design.readout().cloned().ok_or_else(|| Error::Shape(message.into()))
}

/// Copies a readout with other λ values, without a search between them.
fn with_other_lambdas(old: &Readout, lambdas: Vec<f64>) -> Result<Readout> {
    let (each_output, balanced) = (old.each_output, old.balanced);
    Ok(Readout { each_output, balanced, ..Readout::new(lambdas, old.intercept)? })
}

/// Adds a name; if it is taken, the first free one of `name 2`, `name 3`, ….
fn push_name(names: &mut Vec<String>, name: &str) {
    let numbered = (2..).map(|number: usize| format!("{name} {number}"));
    let new = std::iter::once(name.to_owned()).chain(numbered).find(|wanted| !names.contains(wanted));
    names.extend(new);
}

/// Copies a problem with other columns and names.
fn replace_columns(problem: &Problem, columns: Columns, names: Vec<String>) -> Result<Problem> {
    let (targets, outputs) = (Array2::clone(problem.targets()), problem.target_names().to_vec());
    Problem::new(columns, names, targets, outputs, problem.task().clone())?.with_labels(problem.labels().clone())
}

/// Copies a problem without its row weights.
fn without_weights(problem: &Problem) -> Result<Problem> {
    let copy = replace_columns(problem, Columns::clone(problem.columns()), problem.names().to_vec())?;
    let labels = RowLabels { weights: None, ..copy.labels().clone() };
    copy.with_labels(labels)
}
