//! One pass over a table that is not in memory, once all models are known: what single rows say of these.

mod columns;
mod errors;
mod refined;

use super::Prepared;
use super::facts::cells::Values;
use super::facts::residuals::residual_stride;
use columns::ChosenColumns;
use errors::RoundErrors;
use ndarray::Array2;
use refined::Refinement;
use std::collections::HashMap;
use vaglio_core::engine::{EngineDesign, select_rows};
use vaglio_core::{Design, Feature, Loss, Model, PathEntry, Result, Score, ZeroOne};
use vaglio_pipeline::final_model::{Judging, Known};
use vaglio_pipeline::resample::along::Held;
use vaglio_pipeline::resample::behind::{AffineModels, Judge, Probes, RowLabels, of_choice, of_round, rounds_of};
use vaglio_pipeline::resample::whole::HeldOutRows;
use vaglio_pipeline::resample::{Outer, Pooled, Sample, Watcher};
use vaglio_pipeline::selector::{Selection, ValidSelector};
use vaglio_tables::budget::release;

/// What a pass has found.
pub(super) struct RowFigures {
    /// Predictions of the first output by the final model before it was refined, of one row in so many.
    pub fitted: Vec<f64>,
    /// In how many.
    pub every: usize,
    /// The final model, refined.
    pub model: Option<Model>,
    /// Of rows that the folds of the search held out.
    pub of_choice: Option<Pooled>,
    /// Of rows that the folds of the criterion held out, by models of the final subset.
    pub of_subset: Option<Pooled>,
    /// The standard error of the score of each entry of the path, where it is one between rows.
    pub errors: Option<Vec<Option<f64>>>,
    /// The share of rows that the model of each entry of the path takes for another class.
    pub error_rates: Vec<f64>,
    /// The values of the chosen columns, by name, of as many as there is memory for.
    pub columns: HashMap<String, Values>,
}

/// Predictions of rows by one model, by the places of the rows in increasing order.
struct OfRows {
    /// None of all rows.
    rows: Option<Vec<u32>>,
    predictions: Array2<f64>,
}

impl OfRows {
    /// Of the rows of some cells.
    fn new(labels: &RowLabels, cells: &[u32]) -> Self {
        let (members, all) = (labels.members(cells), 0..labels.cells.len() as u32);
        let is_own = |row: &u32| members[labels.cells[*row as usize] as usize];
        let count = all.clone().filter(is_own).count();
        let rows = (count < all.len()).then(|| {
            let mut rows = Vec::with_capacity(count);
            rows.extend(all.filter(is_own));
            rows
        });
        OfRows { predictions: Array2::zeros((labels.targets.nrows(), count)), rows }
    }

    fn take(&mut self, rows: &[usize], predictions: &[Array2<f64>]) {
        for (row, column) in rows.iter().zip(predictions.iter().flat_map(|all| all.columns())) {
            let at = match &self.rows {
                Some(rows) => rows.binary_search(&(*row as u32)).ok(),
                None => Some(*row),
            };
            if let Some(at) = at {
                self.predictions.column_mut(at).assign(&column);
            }
        }
    }

    /// With the places of the rows.
    fn placed(self) -> (Array2<f64>, Vec<u32>) {
        let OfRows { rows, predictions } = self;
        let all = 0..predictions.ncols() as u32;
        (predictions, rows.unwrap_or_else(|| all.collect()))
    }

    /// With what they are compared with, beside what the model without columns says of any row.
    fn held_out(self, labels: &RowLabels, empty: &Array2<f64>) -> (HeldOutRows, Vec<usize>) {
        let (predictions, rows) = self.placed();
        let rows: Vec<usize> = rows.into_iter().map(|row| row as usize).collect();
        let of = |all: &Vec<f64>| rows.iter().map(|&row| all[row]).collect();
        let held = HeldOutRows {
            targets: select_rows(&*labels.targets, &rows),
            empty: select_rows(empty, &vec![0; rows.len()]),
            predictions,
            weights: labels.weights.as_ref().map(of),
            units: None,
            clusters: rows.iter().map(|&row| labels.cluster(row)).collect(),
        };
        (held, rows)
    }
}

/// Rows of several parts after one another; `None` of no part.
fn pooled(labels: &RowLabels, parts: Vec<OfRows>) -> Option<Pooled> {
    let sizes: Vec<usize> = parts.iter().map(|part| part.predictions.ncols()).collect();
    (!sizes.is_empty()).then(|| Pooled::of_rows(labels, &sizes, parts.into_iter().map(OfRows::placed)))
}

impl RowFigures {
    /// Reads the table, whose rows take the place of those that stood for them in the outer folds; `None` where the rows are in
    /// memory and where the learner judges units of rows, and when it was stopped.
    ///
    /// # Errors
    /// Those of the fits and of reading.
    pub fn read(
        selector: &ValidSelector,
        (prepared, design): (&Prepared, &Design),
        selection: &Selection,
        outer: &mut [Outer],
        watcher: &Watcher<'_>,
    ) -> Result<Option<Self>> {
        let sample = &prepared.sample;
        let Some(rows) = prepared.rows_behind().filter(|_| design.decisions().is_none()) else { return Ok(None) };
        let (labels, is_of_classes) = (rows.labels(), !prepared.is_regression());
        let mut models: Vec<(Vec<u32>, AffineModels)> =
            outer.iter().map(|fold| of_outer(sample, fold)).collect::<Result<_>>()?;
        let is_chosen = outer.is_empty() && (is_of_classes || prepared.test.is_none());
        let choice = if is_chosen { of_choice(selector, sample, &selection.chosen, watcher)? } else { Vec::new() };
        let entry = selection.path.result();
        let subset = match is_of_classes && outer.is_empty() && choice.is_empty() {
            true => {
                let (subset, lambda) = entry.map_or((&[][..], None), |entry| (&entry.subset[..], entry.score.lambda));
                let score = Score { loss: f64::NAN, lambda: lambda.or(selection.model.lambda()) };
                let of = PathEntry::new(subset.to_vec(), score);
                let first = rounds_of(selector, design)?.into_iter().next();
                first.map_or(Ok(Vec::new()), |round| of_round(selector, (sample, design), &round, &[of]))?
            }
            false => Vec::new(),
        };
        let counts = [models.len(), choice.len(), subset.len()];
        models.extend(choice.into_iter().chain(subset));
        let cells = sample.cells(&(0..sample.rows()).collect::<Vec<_>>());
        let every = residual_stride(labels.cells.len());
        let mut fitted = vec![0.0; labels.cells.len().div_ceil(every)];

        let chosen: Vec<Feature> = entry.map_or_else(Vec::new, |entry| entry.subset.clone());
        let mut columns = ChosenColumns::new((prepared, design), &chosen, &**rows)?;
        let mut all: Vec<OfRows> = models.iter().map(|(cells, _)| OfRows::new(labels, cells)).collect();
        let mut wrong = vec![0.0; if is_of_classes { selection.path.entries.len() } else { 0 }];
        let mut errors = RoundErrors::new(selector, (prepared, design), &selection.path)?;
        let mut refinement = Refinement::new((prepared, design), selection)?;
        let mut judges: Vec<Judge<'_>> = Vec::new();
        for ((cells, models), own) in models.into_iter().zip(&mut all) {
            let take = move |rows: &[usize], predictions: &[Array2<f64>]| own.take(rows, predictions);
            judges.push(Judge { cells, models, take: Box::new(take) });
        }
        if is_of_classes {
            let (models, wrong) = (path_models(selector, (prepared, design), selection)?, &mut wrong);
            let take = move |rows: &[usize], predictions: &[Array2<f64>]| {
                let targets = select_rows(&*labels.targets, rows);
                let weights: Vec<f64> = rows.iter().map(|&row| labels.weight(row)).collect();
                let weight: f64 = weights.iter().sum();
                for (wrong, predictions) in wrong.iter_mut().zip(predictions) {
                    *wrong += weight * ZeroOne.mean(targets.view(), predictions.view(), Some(&weights));
                }
            };
            judges.push(Judge { cells: cells.clone(), models, take: Box::new(take) });
        }
        let of_final = |rows: &[usize], predictions: &[Array2<f64>]| {
            let Some(first) = predictions.first().map(|all| all.row(0)) else { return };
            let known = rows.iter().zip(first).filter(|(row, _)| row.is_multiple_of(every));
            known.for_each(|(row, prediction)| fitted[row / every] = *prediction);
        };
        let models = final_model(prepared, selection)?;
        judges.push(Judge { cells: cells.clone(), models, take: Box::new(of_final) });
        judges.extend(errors.judges(prepared, labels));
        judges.extend(refinement.as_mut().and_then(|refinement| refinement.judge(cells.clone(), prepared, labels)));
        let mut read = std::mem::take(&mut columns.read);
        judges.extend(columns.judge(cells));
        tracing::info!("rows are predicted by models that had not seen them");
        let is_done = rows.judged(&mut judges, &mut read, watcher.sign())?;
        drop(judges);
        if !is_done {
            return Ok(None);
        }
        release();
        let mut all = all.into_iter();
        let [of_outer, of_choice, of_subset] = counts.map(|count| all.by_ref().take(count).collect::<Vec<OfRows>>());
        for (fold, own) in outer.iter_mut().zip(of_outer) {
            (fold.held, fold.rows) = own.held_out(labels, &fold.held.empty);
        }
        let weight = labels.weights.as_ref().map_or(labels.cells.len() as f64, |weights| weights.iter().sum());
        Ok(Some(RowFigures {
            fitted,
            every,
            of_choice: pooled(labels, of_choice),
            of_subset: pooled(labels, of_subset),
            model: refinement.map(|refinement| refinement.model(design)).transpose()?,
            errors: errors.found(),
            error_rates: wrong.into_iter().map(|wrong| wrong / weight).collect(),
            columns: columns.values(read),
        }))
    }
}

/// The model of an outer fold with the cells that it holds out.
fn of_outer(sample: &Sample, fold: &Outer) -> Result<(Vec<u32>, AffineModels)> {
    let probes = Probes::new(sample, (&fold.maps, &fold.columns), fold.model.inputs())?;
    let units = fold.target_units.as_deref();
    let held = Held { problem: &probes.problem, units, training: None, made: None, clusters: None };
    let predictions = held.predicted(&fold.model)?;
    Ok((sample.cells(&fold.rows), probes.models(&[predictions])))
}

fn final_model(prepared: &Prepared, selection: &Selection) -> Result<AffineModels> {
    let fitted = prepared.sample.fitted()?;
    let model = selection.predictor();
    let probes = Probes::new(&prepared.sample, (&fitted.maps, fitted.problem.names()), model.inputs())?;
    let predictions = Held::new(&probes.problem, prepared.target_units.as_deref(), &prepared.train).predicted(model)?;
    Ok(probes.models(&[predictions]))
}

/// The model of every entry of the path on all rows.
fn path_models(
    selector: &ValidSelector,
    (prepared, design): (&Prepared, &Design),
    selection: &Selection,
) -> Result<AffineModels> {
    let path = &selection.path;
    let fitted = prepared.sample.fitted()?;
    let features: Vec<Feature> = path.entries.iter().flat_map(|entry| &entry.subset).copied().collect();
    let probes = Probes::new(&prepared.sample, (&fitted.maps, fitted.problem.names()), &features)?;
    let held = Held::new(&probes.problem, prepared.target_units.as_deref(), &prepared.train);
    let by = Judging { known: &Known::default(), stop: design.sign(), reduced: None };
    let mut all = Vec::new();
    let of = (&prepared.train, design);
    selector.predictions(of, (&path.entries, path.empty), &held, by, |index, _, predictions| {
        all.extend(index.map(|_| predictions));
        Ok(())
    })?;
    Ok(probes.models(&all))
}
