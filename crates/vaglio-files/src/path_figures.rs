//! Figures of a path and its result: losses, effective degrees of freedom and information criteria of its models, what
//! costs of columns buy, and correlations of the selected columns.
//!
//! Let N be the number of training rows, E a model's mean squared error on them in the data's units, and d its
//! effective degrees of freedom: Σ σ²/(σ² + λ) over the singular values of its centered columns, plus 1 for an
//! intercept. With k = d + 1, AICc = N ln E + 2kN/(N − k − 1), BIC = N ln E + k ln N and Cp = E + 2 σ̂² d/N, as in the
//! criterion `information`. σ̂² = N·E/(N − d) of the model of all candidate columns at the path's λ. Figures beyond a
//! share of the search's work are left out.

use super::column_diagnostics::span::unit_column;
use super::evaluations::Run;
use super::evaluations::drop_column::{LEAST_WORK, PART};
use super::single_precision;
use ndarray::{Array1, Array2, ArrayView1, ShapeBuilder, s};
use std::collections::HashMap;
use vaglio_core::{
    Design, Error, Feature, Loss, Model, Readout, Result, Squared, prediction_units, rescale, row_weights,
    training_weights,
};
use vaglio_kernels::linalg::FactorizationError;
use vaglio_kernels::{freedom, linalg, sums::center};
use vaglio_pipeline::final_fit::{known_equations, train};
use vaglio_pipeline::resampling::{FoldTestRows, Selection, TargetsAndPredictions, feature_places, order_features};
use vaglio_report::record::{EntryRecord, FrontierPoint, MOST_CORRELATED, Record, variance};
use vaglio_search::{EntryFit, PathEntry};

/// Computes and records the figures of the path and its result.
pub fn record_path(run: Run<'_>, record: &mut Record) -> Result<()> {
    let Run { design, selection, .. } = run;
    let Selection { path, chosen, .. } = selection;
    curve(run, &mut record.path)?;
    step_figures(run, &mut record.path)?;
    let table = chosen.table.as_ref().map_or(&[][..], |table| table.losses_at(chosen.place));
    for entry in &mut record.path {
        let Ok(at) = table.binary_search_by_key(&entry.size, |cell| cell.size) else { continue };
        (entry.cross_validated, entry.cross_validated_error) = (Some(table[at].loss), table[at].standard_error);
        entry.difference_error = table[at].difference_error;
    }
    record.frontier = frontier(run, &mut record.path)?;
    let (redundancy, shown) = correlations(design, path.subset());
    let is_geometric = selection.alpha.is_some() || path.steps.iter().any(|step| step.knot.is_some());
    record.redundancy = redundancy.filter(|_| is_geometric);
    record.report.correlations = shown;
    record.numerics = single_precision::with_rounding(run, record.numerics)?;
    Ok(())
}

/// Budget of predicting training rows by every model, in multiply-adds.
const MOST_WORK: f64 = 1e11;

/// Fills in the losses of each entry's model.
fn curve(run: Run<'_>, records: &mut [EntryRecord]) -> Result<()> {
    let Run { prepared, selector, design, selection, .. } = run;
    let loss = &*run.loss();
    let path = &selection.path;
    let chosen = selection.predictor();
    let sizes: usize = path.entries.iter().map(|entry| entry.subset.len()).sum();
    let train = prepared.train_in_units()?;
    let problems = [(Some(&train), false), (prepared.test.as_ref(), true)];
    for (problem, is_test) in problems {
        let Some(problem) = problem.filter(|p| p.rows() as f64 * sizes as f64 <= MOST_WORK) else { continue };
        let units = prepared.target_units.as_deref();
        // A learner may leave rows out of its design.
        let has_all = !is_test && design.readout().is_some() && design.rows() == problem.rows();
        let held = FoldTestRows {
            made: has_all.then(|| design.problem().columns()),
            ..FoldTestRows::new(problem, units, &prepared.train)
        };
        let mut each = |index: usize, c: TargetsAndPredictions<'_>| {
            let size = path.entries[index].subset.len();
            let Some(record) = records.iter_mut().find(|record| record.size == size) else { return Ok(()) };
            let known = |value: f64| value.is_finite().then_some(value);
            let mean = known(loss.mean(c.targets, c.predictions, c.weights));
            if is_test {
                record.test = mean;
                return Ok(());
            }
            record.train = mean;
            if prepared.is_regression() {
                let mse = Squared.mean(c.targets, c.predictions, c.weights);
                let unexplained = mse / variance(c.targets, c.weights);
                (record.mse, record.r2) = (known(mse), known(1.0 - unexplained));
                record.adjusted_r2 = adjusted_r2(unexplained, problem.labels().count(c.targets.ncols()), size);
            }
            Ok(())
        };
        match (&path.entries[..], path.chosen) {
            ([one], Some(0)) => held.compare(chosen, &predict_entry(&held, chosen, one)?, |c| each(0, c))?,
            _ => match design.problem().sign().ends(|| selector.path_predictions(design, path, &held, each)) {
                Err(Error::Stopped(_)) => break,
                done => done?,
            },
        }
    }
    Ok(())
}

/// Predictions of an entry's model, outputs × rows, in the user's units; reuses features that exist.
fn predict_entry(held: &FoldTestRows<'_>, model: &Model, entry: &PathEntry) -> Result<Array2<f64>> {
    let (Some(readout), Some(made)) = (model.coefficients(), held.made) else { return held.predict(model) };
    let features = made.select(&entry.subset);
    held.predict_with(model, readout, &features, held.smearing().map(|_| &features))
}

/// Adjusted R² from the unexplained share of the variance, for a model with an intercept; `None` without residual
/// degrees of freedom.
fn adjusted_r2(unexplained: f64, rows: f64, columns: usize) -> Option<f64> {
    let free = rows - columns as f64 - 1.0;
    Some(1.0 - unexplained * (rows - 1.0) / free).filter(|value| value.is_finite() && free > 0.0)
}

/// Maximum number of columns of a subset with degrees of freedom.
const MOST_COLUMNS: usize = 200;
/// Lower limit of an error in a logarithm, relative to that of the empty model.
const HIDDEN: f64 = vaglio_kernels::tolerance::HIDDEN_ERROR;

/// Fills in degrees of freedom, AICc, BIC and Cp of entries with known squared errors. Requires numeric targets and a
/// ridge readout that predicts every row. Cost O(m u²) for u columns on the path, and O((u + s) s²) per entry. Figures
/// beyond a [`PART`] of the run's budget and some 5 ms are left out.
fn step_figures(run: Run<'_>, records: &mut [EntryRecord]) -> Result<()> {
    let Run { prepared, selector, design, selection, .. } = run;
    let is_of_numbers = prepared.is_regression() && selector.model.is_none();
    let is_mapped = prepared.target_units.iter().flatten().any(|units| units.map.is_some());
    let Some(readout) = design.readout().filter(|readout| is_of_numbers && !readout.balanced && !is_mapped) else {
        return Ok(());
    };
    if prediction_units(design).is_some() || design.rows() != prepared.train.rows() {
        return Ok(());
    }
    let entries: Vec<&PathEntry> = selection
        .path
        .entries
        .iter()
        .filter(|entry| entry.fit == EntryFit::Readout && entry.subset.len() <= MOST_COLUMNS)
        .collect();
    let mut budget = PART * run.budget.max(LEAST_WORK);
    let subsets: Vec<&[Feature]> = entries.iter().map(|entry| &entry.subset[..]).collect();
    let Some(columns) = PathColumns::within(&mut budget, design, readout, &subsets)? else { return Ok(()) };
    let rows = design.problem().labels().count(design.rows());
    let problem = prepared.train_in_units()?;
    let empty = variance(problem.targets().view(), design.weights());
    let held = FoldTestRows::new(&problem, prepared.target_units.as_deref(), &prepared.train);
    let noise = noise(&held, design, readout, budget)?;
    for entry in entries {
        let size = entry.subset.len();
        let Some(record) = records.iter_mut().find(|record| record.size == size) else { continue };
        let Some(error) = record.mse.filter(|error| error.is_finite()) else { continue };
        let lambda = entry.score.lambda.unwrap_or(readout.lambdas[0]);
        let freedom = columns.freedom(&entry.subset, lambda)?;
        let logarithm = rows * error.max(HIDDEN * empty).ln();
        let count = freedom + 1.0;
        let left = rows - count - 1.0;
        let known = |value: f64| value.is_finite().then_some(value);
        record.freedom = known(freedom);
        record.aicc = if left > 0.0 { known(logarithm + 2.0 * count * rows / left) } else { None };
        record.bic = known(logarithm + rows.ln() * count);
        record.cp = noise.and_then(|noise| known(error + 2.0 * noise * freedom / rows));
    }
    Ok(())
}

fn factorization_error(failure: FactorizationError) -> Error {
    Error::Numerical(format!("the degrees of freedom of the path: {failure}; rescale or standardize the columns"))
}

/// σ̂² of the model of all candidates, if the rows and the budget allow one.
fn noise(held: &FoldTestRows<'_>, design: &Design, readout: &Readout, mut budget: f64) -> Result<Option<f64>> {
    let all = design.candidates();
    if all.len() > 2 * MOST_COLUMNS {
        return Ok(None);
    }
    let Some(columns) = PathColumns::within(&mut budget, design, readout, &[&all[..]])? else { return Ok(None) };
    let lambda = readout.lambdas[0];
    let rows = design.problem().labels().count(design.rows());
    let free = rows - columns.freedom(&all, lambda)?;
    if free < 1.0 {
        return Ok(None);
    }
    let model = train(design, &all, Some(lambda))?;
    let error = held.with_predictions(&model, |c| Squared.mean(c.targets, c.predictions, c.weights))?;
    Ok(Some(rows * error / free).filter(|noise| noise.is_finite()))
}

/// Columns of a path, centered if there is an intercept and times the root weights, reduced to a triangle.
struct PathColumns {
    triangle: Array2<f64>,
    place: HashMap<Feature, usize>,
    intercept: f64,
}

impl PathColumns {
    /// Reduces the columns; `None` if they and the degrees of freedom of all subsets exceed `budget` flops, which are
    /// subtracted.
    fn within(budget: &mut f64, design: &Design, readout: &Readout, subsets: &[&[Feature]]) -> Result<Option<Self>> {
        let order = order_features(subsets.iter().copied().flatten());
        let place = feature_places(&order);
        let rows = design.rows();
        let count = order.len();
        let subset_flops = |size: usize| 2.0 * (count + size) as f64 * (size * size) as f64;
        let subsets_flops: f64 = subsets.iter().map(|subset| subset_flops(subset.len())).sum();
        let flops = 2.0 * rows.max(count) as f64 * (count * count) as f64 + subsets_flops;
        if flops > *budget {
            return Ok(None);
        }
        *budget -= flops;
        let weights = training_weights(design, 0..rows);
        let weight = row_weights(weights.as_deref());
        // Zero rows change nothing.
        let mut columns = Array2::zeros((rows.max(count), count));
        for (mut to, &feature) in columns.columns_mut().into_iter().zip(&order) {
            let mut values = design.column(feature).values().to_vec();
            if readout.intercept {
                center((&mut values[..]).into(), weight, (0..rows).map(weight).sum());
            }
            to.iter_mut().zip(values).enumerate().for_each(|(row, (to, value))| *to = value * weight(row).sqrt());
        }
        let triangle =
            if count == 0 { columns } else { linalg::triangle(columns.view()).map_err(factorization_error)? };
        Ok(Some(PathColumns { triangle, place, intercept: f64::from(u8::from(readout.intercept)) }))
    }

    /// Effective degrees of freedom of a subset of the columns.
    fn freedom(&self, subset: &[Feature], lambda: f64) -> Result<f64> {
        let places: Vec<usize> = subset.iter().map(|feature| self.place[feature]).collect();
        let rows = places.iter().max().map_or(0, |last| last + 1);
        let own = self.triangle.slice(s![..rows, ..]).select(ndarray::Axis(1), &places);
        Ok(self.intercept + freedom::ridge(own.view(), lambda).map_err(factorization_error)?)
    }
}

/// Fills in every entry's cost and returns the losses that each cost buys, if columns have costs.
fn frontier(run: Run<'_>, entries: &mut [EntryRecord]) -> Result<Vec<FrontierPoint>> {
    let Run { selector, design, selection, .. } = run;
    let rules = selector.search.rules(design)?;
    let Some(rules) = rules.filter(|rules| rules.has_costs()) else { return Ok(Vec::new()) };
    let path = &selection.path.entries;
    for entry in entries.iter_mut() {
        let known = path.iter().find(|known| known.subset.len() == entry.size);
        entry.cost = known.map(|known| rules.cost(&known.subset));
    }
    Ok(bought(selection, entries, selector.search.kind()))
}

/// The entries, including the empty subset, with a lower loss than all that cost as much or less; in increasing cost.
/// The loss is cross-validated if available.
fn bought(selection: &Selection, entries: &[EntryRecord], search: &str) -> Vec<FrontierPoint> {
    let is_validated = entries.iter().any(|entry| entry.cross_validated.is_some());
    let empty = EntryRecord {
        score: selection.path.empty.loss,
        cost: Some(0.0),
        cross_validated: selection.chosen.empty.map(|cell| cell.loss),
        cross_validated_error: selection.chosen.empty.and_then(|cell| cell.standard_error),
        ..EntryRecord::default()
    };
    let point = |entry: &EntryRecord| {
        let (loss, standard_error) = if is_validated {
            (entry.cross_validated?, entry.cross_validated_error)
        } else {
            (entry.score, entry.standard_error)
        };
        Some(FrontierPoint { size: entry.size, loss, standard_error, search: search.to_owned(), cost: entry.cost? })
    };
    let mut all: Vec<FrontierPoint> = [&empty].into_iter().chain(entries).filter_map(point).collect();
    all.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.loss.total_cmp(&b.loss)).then(a.size.cmp(&b.size)));
    let mut lowest = f64::INFINITY;
    all.retain(|point| {
        let is_lower = point.loss < lowest;
        lowest = lowest.min(point.loss);
        is_lower
    });
    all
}

/// Budget of the correlations of a result, in multiply-adds.
const MOST_PRODUCTS: f64 = 3e10;

/// Largest number of columns if they outnumber the rows, so that the matrix is not much larger than its columns.
const MOST_BEYOND_ROWS: usize = 2048;

/// Redundancy of selected columns, and the lower triangle of their row-weighted correlations for a report: each column
/// with those before it.
///
/// Redundancy is RED, the mean of |ρ_kl| over pairs of different columns; `None` for fewer than two, and for too many to
/// compute within the budget. The triangle is empty for many columns. Computed from the products of the final fit or of
/// the search, if any, in O(columns²); else in O(rows · columns²).
///
/// Z. Zhao, L. Wang, H. Liu, *Efficient spectral feature selection with minimum redundancy*, AAAI 2010.
fn correlations(design: &Design, subset: &[Feature]) -> (Option<f64>, Vec<Vec<Option<f64>>>) {
    let rows = design.rows();
    if rows as f64 * (subset.len() as f64).powi(2) > MOST_PRODUCTS || subset.len() > rows.max(MOST_BEYOND_ROWS) {
        return (None, Vec::new());
    }
    let own = rescale(design).1;
    let known = known_equations(own, subset);
    let matrix = match known.and_then(|known| known.correlations(subset)) {
        Some(known) => known,
        None => {
            let mut scaled = Array2::zeros((rows, subset.len()).f());
            for (mut to, &feature) in scaled.columns_mut().into_iter().zip(subset) {
                to.assign(&Array1::from(unit_column(design, feature)));
            }
            vaglio_kernels::linalg::gram(scaled.view()).mapv(|r| r.clamp(-1.0, 1.0))
        }
    };
    let size = matrix.nrows() as f64;
    let pairs = matrix.indexed_iter().filter(|((k, l), _)| k != l);
    let sum = pairs.map(|(_, r)| r.abs()).sum::<f64>();
    let redundancy = (matrix.nrows() > 1).then(|| sum / (size * (size - 1.0)));
    if matrix.nrows() > MOST_CORRELATED {
        return (redundancy, Vec::new());
    }
    let finite = |r: &f64| Some(*r).filter(|r| r.is_finite());
    let before = |(k, row): (usize, ArrayView1<'_, f64>)| row.iter().take(k).map(finite).collect();
    (redundancy, matrix.rows().into_iter().enumerate().map(before).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_testkit::data::regression;

    #[test]
    fn more_columns_than_rows_have_the_same_redundancy() {
        let problem = regression(20, 600, 3).weighted().problem();
        let design = Design::identity(&problem, Readout::new(vec![1.0], true).unwrap());
        let all: Vec<Feature> = (0..600).collect();
        let (redundancy, shown) = correlations(&design, &all);
        assert!(shown.is_empty());
        let column = |f: usize| -> Vec<f64> {
            let (x, w) = (design.column(f).values().to_vec(), design.weights().unwrap());
            let mean = x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() / w.iter().sum::<f64>();
            let x: Vec<f64> = x.iter().zip(w).map(|(x, w)| (x - mean) * w.sqrt()).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect()
        };
        let columns: Vec<Vec<f64>> = all.iter().map(|&f| column(f)).collect();
        let pair = |k: usize, l: usize| columns[k].iter().zip(&columns[l]).map(|(a, b)| a * b).sum::<f64>().abs();
        let sum: f64 = all.iter().map(|&k| all.iter().filter(|&&l| l != k).map(|&l| pair(k, l)).sum::<f64>()).sum();
        assert!((redundancy.unwrap() - sum / (600.0 * 599.0)).abs() < 1e-12);
    }
}
