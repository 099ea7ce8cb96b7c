//! Copies of designs and problems, changed in one respect.

use crate::SplitMix64;
use vaglio_core::{
    Columns, Design, Error, Feature, Numbers, PerFoldPreprocessing, Problem, Readout, Result, row_weights,
};

/// Extracts candidate columns, targets, weights and groups of a design as a problem.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn problem_of(design: &Design) -> Result<Problem> {
    DesignParts::new(design).problem(design)
}

/// Selects the columns `features` in the given order, with repeats; copies get names of their own.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_columns(design: &Design, features: &[Feature]) -> Result<Design> {
    changed(design, |parts| {
        parts.columns = design.columns().select(features);
        parts.names.clear();
        features.iter().for_each(|&feature| push_name(&mut parts.names, &design.names()[feature]));
    })
}

/// Appends a constant column of each value.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_constants(design: &Design, values: &[f64]) -> Result<Design> {
    changed(design, |parts| {
        for &value in values {
            parts.columns.push(vec![value; design.rows()]);
            push_name(&mut parts.names, "constant");
        }
    })
}

/// Renames all columns by position.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn renamed(design: &Design) -> Result<Design> {
    changed(design, |parts| parts.names = (0..design.features()).map(|place| format!("column {place}")).collect())
}

/// Selects rows in the given order.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_rows(design: &Design, rows: &[usize]) -> Result<Design> {
    design_like(design, &problem_of(design)?.select_rows(rows), readout(design)?, rows)
}

/// Maps columns to integers from 0 to 255 by value; returns one design with them as bytes and one as doubles.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn as_bytes_and_doubles(design: &Design) -> Result<(Design, Design)> {
    let (mut bytes, mut doubles) = (Columns::new(design.rows()), Columns::new(design.rows()));
    for column in design.columns().iter() {
        let values = column.values();
        let (least, greatest) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let span = if greatest > least { greatest - least } else { 1.0 };
        let whole: Vec<f64> = values.iter().map(|v| ((v - least) / span * 255.0).round()).collect();
        bytes.push(whole.iter().map(|v| *v as u8).collect::<Vec<u8>>());
        doubles.push(Numbers::Double(whole));
    }
    Ok((changed(design, |parts| parts.columns = bytes)?, changed(design, |parts| parts.columns = doubles)?))
}

/// Replaces the λ values.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout; [`Error::Setting`] for a λ that is not positive.
pub fn with_lambdas(design: &Design, lambdas: Vec<f64>) -> Result<Design> {
    changed(design, |parts| parts.lambdas = Some(lambdas))
}

/// Scales all row weights and λ by `factor`, which changes no fit. With balanced weights λ is kept, since a common
/// factor then has no effect.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn with_weights_scaled(design: &Design, factor: f64) -> Result<Design> {
    let old = readout(design)?;
    let by = if old.balanced { 1.0 } else { factor };
    changed(design, |parts| {
        let weight = |row: usize| factor * row_weights(design.weights())(row);
        parts.weights = Some((0..design.rows()).map(weight).collect());
        parts.lambdas = Some(old.lambdas.iter().map(|l| by * l).collect());
    })
}

/// Removes row weights.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn without_row_weights(design: &Design) -> Result<Design> {
    changed(design, |parts| parts.weights = None)
}

/// Returns the design with integer weights from 1 to 3, and an unweighted one with each row repeated by its weight.
///
/// # Errors
/// [`Error::Shape`] without a ridge readout.
pub fn repeated_rows(design: &Design, seed: u64) -> Result<(Design, Design)> {
    let weights = counts(design.rows(), seed);
    let rows = repeats(&weights);
    let repeated = with_rows(&without_row_weights(design)?, &rows)?;
    let weighted = changed(design, |parts| parts.weights = Some(weights.iter().map(|&w| w as f64).collect()))?;
    Ok((weighted, repeated))
}

/// Draws integer weights from 1 to 3.
fn counts(rows: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::new(seed);
    (0..rows).map(|row| 1 + (row + random.below(2)) % 3).collect()
}

/// Returns integer weights from 1 to 3, and the rows repeated by weight.
pub(crate) fn weights_and_rows(count: usize) -> (Vec<f64>, Vec<usize>) {
    let weights: Vec<usize> = (0..count).map(|row| 1 + row * 7 % 3).collect();
    let rows = repeats(&weights);
    (weights.into_iter().map(|weight| weight as f64).collect(), rows)
}

/// Repeats each row index by its weight.
fn repeats(weights: &[usize]) -> Vec<usize> {
    weights.iter().enumerate().flat_map(|(row, &weight)| std::iter::repeat_n(row, weight)).collect()
}

/// Returns the problem with integer weights from 1 to 3, and an unweighted one with each row repeated by its weight.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn whole_weights(problem: &Problem, seed: u64) -> Result<(Problem, Problem)> {
    let plain = named(problem, Columns::clone(problem.columns()), problem.names().to_vec(), None)?;
    let weights = counts(plain.rows(), seed);
    let repeated = plain.select_rows(&repeats(&weights));
    Ok((plain.with_weights(weights.into_iter().map(|w| w as f64).collect())?, repeated))
}

/// Reverses and rescales the columns outside a subset, or, with `renamed`, renames all columns instead.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn with_others_changed(problem: &Problem, subset: &[Feature], renamed: bool) -> Result<Problem> {
    let mut columns = Columns::new(problem.rows());
    for (feature, column) in problem.columns().iter().enumerate() {
        let mut values = column.values().into_owned();
        if !subset.contains(&feature) && !renamed {
            values.reverse();
            values.iter_mut().for_each(|v| *v = 3.0 * *v + 0.5);
        }
        columns.push(values);
    }
    let prefix = if renamed { "another " } else { "" };
    let names = problem.names().iter().map(|name| format!("{prefix}{name}")).collect();
    named(problem, columns, names, problem.weights().map(|w| w.to_vec()))
}

/// Duplicates every column: with n columns, the copy of column j is column 2n − 1 − j.
///
/// # Errors
/// Returns the errors of [`Problem::new`].
pub fn doubled(problem: &Problem) -> Result<Problem> {
    let count = problem.columns().len();
    let twice: Vec<Feature> = (0..count).chain((0..count).rev()).collect();
    let names = (0..twice.len()).map(|j| format!("c{j}")).collect();
    named(problem, problem.columns().select(&twice), names, problem.weights().map(|w| w.to_vec()))
}

/// Keeps about half as many rows as columns, alternating between classes so that every class has a row.
#[must_use]
pub fn wide(problem: &Problem) -> Problem {
    let targets = problem.targets();
    let class = |row: usize| (0..targets.nrows()).position(|o| targets[[o, row]] > 0.0);
    let mut seen: Vec<(Option<usize>, usize)> = Vec::new();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for row in 0..problem.rows() {
        let own = class(row);
        let before = seen.iter().position(|(c, _)| *c == own).unwrap_or_else(|| {
            seen.push((own, 0));
            seen.len() - 1
        });
        order.push((seen[before].1, row));
        seen[before].1 += 1;
    }
    order.sort_unstable();
    let keep = (problem.columns().len() / 2).max(seen.len()).max(2);
    problem.select_rows(&order.into_iter().take(keep).map(|(_, row)| row).collect::<Vec<_>>())
}

/// Parts of a design that a copy may change.
struct DesignParts {
    columns: Columns,
    names: Vec<String>,
    weights: Option<Vec<f64>>,
    /// New λ values, without a search between them.
    lambdas: Option<Vec<f64>>,
}

impl DesignParts {
    fn new(design: &Design) -> Self {
        DesignParts {
            columns: design.columns().clone(),
            names: design.names().to_vec(),
            weights: design.weights().map(<[f64]>::to_vec),
            lambdas: None,
        }
    }

    fn problem(self, design: &Design) -> Result<Problem> {
        let outputs = (0..design.targets().nrows()).map(|o| format!("y{o}")).collect();
        let targets = design.targets().to_owned();
        let mut problem = Problem::new(self.columns, self.names, targets, outputs, design.problem().task().clone())?;
        if let Some(groups) = design.problem().groups() {
            problem = problem.with_groups(groups.to_vec())?;
        }
        if let Some(folds) = design.problem().assignment() {
            problem = problem.with_assignment(folds.to_vec())?;
        }
        weighted(problem, self.weights)
    }
}

/// Copies a design with some parts changed.
fn changed(design: &Design, change: impl FnOnce(&mut DesignParts)) -> Result<Design> {
    let old = readout(design)?;
    let mut parts = DesignParts::new(design);
    change(&mut parts);
    let (each_output, balanced) = (old.each_output, old.balanced);
    let readout = match parts.lambdas.take() {
        Some(lambdas) => Readout { each_output, balanced, ..Readout::new(lambdas, old.intercept)? },
        None => old,
    };
    design_like(design, &parts.problem(design)?, readout, &(0..design.rows()).collect::<Vec<_>>())
}

/// Builds a design with the seed, decision units and in-fold standardization of another, for a problem with its rows
/// `rows`.
fn design_like(design: &Design, problem: &Problem, readout: Readout, rows: &[usize]) -> Result<Design> {
    let made = Design::identity(problem, readout).seeded(design.problem().seed());
    let made = if design.problem().in_folds().is_standardized() {
        made.fitted_in_folds(PerFoldPreprocessing::standardize())
    } else {
        made
    };
    let Some(decisions) = design.decisions() else { return Ok(made) };
    made.averaging_over(&rows.iter().map(|&row| decisions.unit_of_rows()[row] as u32).collect::<Vec<_>>())
}

fn readout(design: &Design) -> Result<Readout> {
    let message =
        "a design whose learner is trained by its own `fit` has no changed copies; give one with a ridge readout";
    design.readout().cloned().ok_or_else(|| Error::Shape(message.into()))
}

/// Adds a name; if it is taken, the first free one of `name 2`, `name 3`, ….
fn push_name(names: &mut Vec<String>, name: &str) {
    let numbered = (2..).map(|number: usize| format!("{name} {number}"));
    let new = std::iter::once(name.to_owned()).chain(numbered).find(|wanted| !names.contains(wanted));
    names.extend(new);
}

fn named(problem: &Problem, columns: Columns, names: Vec<String>, weights: Option<Vec<f64>>) -> Result<Problem> {
    let outputs = problem.target_names().to_vec();
    let mut plain = Problem::new(columns, names, problem.targets().as_ref().clone(), outputs, problem.task().clone())?;
    if let Some(groups) = problem.groups() {
        plain = plain.with_groups(groups.to_vec())?;
    }
    weighted(plain, weights)
}

fn weighted(problem: Problem, weights: Option<Vec<f64>>) -> Result<Problem> {
    match weights {
        Some(weights) => problem.with_weights(weights),
        None => Ok(problem),
    }
}
