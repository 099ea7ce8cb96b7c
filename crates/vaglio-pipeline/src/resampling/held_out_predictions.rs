//! Predictions of held-out rows with their targets and figures. The cross-validated search makes them at the chosen
//! size and λ.

use super::{
    Choice, EVERY, Fold, FoldLosses, LossSums, PathModels, Sample, TrainTestSplit, choice_splits, in_choice_fold,
};
use crate::jobs::StageMonitor;
use crate::selector::ValidSelector;
use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use vaglio_core::{ClassOrder, Error, Loss, Measure, Result, ZeroOne, gather, row_weights, select_rows};
use vaglio_report::record::Figures;
use vaglio_search::{CrossValidation, PathEntry};

/// Largest number of rows for which standard errors keep every cluster.
const MOST_ROWS: usize = 1 << 20;
/// Number of clusters per fold for more rows; the standard error is off by at most 1/√(2·2¹⁶), or 0.28 %.
const MOST_CLUSTERS: u32 = 1 << 16;

/// Predictions with the targets to compare.
#[derive(Clone, Copy)]
pub struct TargetsAndPredictions<'a> {
    /// Targets, outputs × rows.
    pub targets: ArrayView2<'a, f64>,
    /// Predictions, outputs × rows.
    pub predictions: ArrayView2<'a, f64>,
    /// Weight of each row; equal if absent.
    pub weights: Option<&'a [f64]>,
    /// Unit of each row, if rows are evaluated in groups; rows of a unit are adjacent.
    pub units: Option<&'a [u32]>,
    /// Cluster of each row; its own if absent.
    pub clusters: Option<&'a [u32]>,
}

impl TargetsAndPredictions<'_> {
    /// First row, weight and loss of every unit of positive weight, in order, for a mean loss.
    pub fn units(&self, loss: &dyn Loss) -> impl Iterator<Item = (usize, f64, f64)> {
        let TargetsAndPredictions { targets, predictions, weights, units, .. } = *self;
        let (mut target, mut prediction) = (vec![0.0; targets.nrows()], vec![0.0; targets.nrows()]);
        let alone = match targets.nrows() {
            1 => targets.to_slice().zip(predictions.to_slice()),
            _ => None,
        };
        let is_squared = loss.traits().measure == Measure::Squared;
        let mut of_row = move |row: usize| match alone {
            Some((targets, predictions)) if is_squared => (targets[row] - predictions[row]).powi(2),
            Some((targets, predictions)) => loss.row_loss(&targets[row..=row], &predictions[row..=row]),
            None => {
                target.iter_mut().zip(targets.column(row)).for_each(|(to, from)| *to = *from);
                prediction.iter_mut().zip(predictions.column(row)).for_each(|(to, from)| *to = *from);
                loss.row_loss(&target, &prediction)
            }
        };
        let weight = row_weights(weights);
        let mut next = 0;
        std::iter::from_fn(move || {
            while next < targets.ncols() {
                let row = next;
                next = match units {
                    None => row + 1,
                    Some(units) => row + units[row..].iter().take_while(|unit| **unit == units[row]).count(),
                };
                let total: f64 = (row..next).map(weight).sum();
                if total > 0.0 {
                    let mean = (row..next).map(|row| weight(row) * of_row(row)).sum::<f64>() / total;
                    return Some((row, total, mean));
                }
            }
            None
        })
    }
}

/// Held-out rows with predictions in the user's units, of one fold or of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PooledPredictions {
    /// Targets, outputs × rows.
    pub targets: Array2<f64>,
    /// Predictions, outputs × rows.
    pub predictions: Array2<f64>,
    /// Weight of each row.
    pub weights: Vec<f64>,
    /// Unit of each row of one fold, if rows are evaluated in groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) units: Option<Vec<u32>>,
    /// Cluster of each row.
    pub clusters: Vec<u32>,
    /// Index of each row among all rows; empty if unknown.
    #[serde(skip)]
    pub places: Vec<u32>,
    /// End of the rows of each fold.
    #[serde(skip)]
    pub ends: Vec<usize>,
}

impl PooledPredictions {
    /// Held-out rows of one fold.
    pub fn from_rows(rows: TargetsAndPredictions<'_>) -> Self {
        let count = rows.targets.ncols();
        PooledPredictions {
            targets: rows.targets.to_owned(),
            predictions: rows.predictions.to_owned(),
            weights: rows.weights.map_or_else(|| vec![1.0; count], <[f64]>::to_vec),
            units: rows.units.map(<[u32]>::to_vec),
            clusters: rows.clusters.map_or_else(|| (0..count as u32).collect(), <[u32]>::to_vec),
            places: Vec::new(),
            ends: vec![count],
        }
    }

    /// Concatenates the held-out rows of folds.
    pub fn new<'a>(folds: impl Iterator<Item = &'a PooledPredictions>) -> Result<Self> {
        let folds: Vec<&PooledPredictions> = folds.collect();
        let views = |matrix: fn(&PooledPredictions) -> &Array2<f64>| {
            let views: Vec<ArrayView2<'_, f64>> = folds.iter().map(|fold| matrix(fold).view()).collect();
            concatenate(Axis(1), &views).map_err(|e| Error::failed("folds differ", e))
        };
        let ends = folds.iter().scan(0, |end, fold| {
            *end += fold.weights.len();
            Some(*end)
        });
        Ok(PooledPredictions {
            targets: views(|fold| &fold.targets)?,
            predictions: views(|fold| &fold.predictions)?,
            weights: folds.iter().flat_map(|fold| &fold.weights).copied().collect(),
            units: None,
            clusters: folds.iter().flat_map(|fold| &fold.clusters).copied().collect(),
            places: Vec::new(),
            ends: ends.collect(),
        })
    }

    /// Targets and predictions to compare.
    pub fn targets_and_predictions(&self) -> TargetsAndPredictions<'_> {
        TargetsAndPredictions {
            targets: self.targets.view(),
            predictions: self.predictions.view(),
            weights: Some(&self.weights),
            units: self.units.as_deref(),
            clusters: Some(&self.clusters),
        }
    }

    /// Rows of each fold.
    pub fn folds(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        std::iter::once(0).chain(self.ends.iter().copied()).zip(&self.ends).map(|(from, to)| from..*to)
    }

    /// Sets the row indices of each fold, if they match the pooled rows in number.
    pub fn set_rows<'r>(&mut self, folds: impl Iterator<Item = &'r Vec<usize>>) {
        let folds: Vec<&Vec<usize>> = folds.collect();
        if self.folds().map(|rows| rows.len()).eq(folds.iter().map(|rows| rows.len())) {
            self.places = folds.into_iter().flatten().map(|&row| row as u32).collect();
        }
    }

    /// Standard error of a loss of these rows, given the number of random splits.
    pub fn error(&self, loss: &dyn Loss, repeats: usize) -> Option<f64> {
        let most = if self.targets.ncols() <= MOST_ROWS { EVERY } else { MOST_CLUSTERS };
        let fold = |rows: Range<usize>| {
            let judged = TargetsAndPredictions {
                targets: self.targets.slice(s![.., rows.clone()]),
                predictions: self.predictions.slice(s![.., rows.clone()]),
                weights: Some(&self.weights[rows.clone()]),
                units: None,
                clusters: Some(&self.clusters[rows]),
            };
            LossSums::new(loss, judged, most)
        };
        let sums: Vec<LossSums> = self.folds().map(fold).collect();
        FoldLosses::new(&sums, repeats).pooled_mean(loss).ok()?.1
    }

    /// Error figures of these rows; `classes` breaks ties of classes.
    pub fn figures(&self, classes: Option<&ClassOrder>, loss: &dyn Loss, repeats: usize) -> Figures {
        let (targets, predictions) = (self.targets.view(), self.predictions.view());
        let figures = Figures::new(classes, loss, targets, predictions, Some(&self.weights));
        Figures {
            standard_error: self.error(loss, repeats),
            error_rate_error: figures.error_rate.and_then(|_| self.error(&ZeroOne, repeats)),
            ..figures
        }
    }

    /// Loss of the selected rows.
    pub(super) fn mean(&self, loss: &dyn Loss, keeps: impl Fn(usize) -> bool) -> f64 {
        let rows: Vec<usize> = (0..self.weights.len()).filter(|&row| keeps(row)).collect();
        if rows.len() == self.weights.len() {
            return loss.mean(self.targets.view(), self.predictions.view(), Some(&self.weights));
        }
        let weights = gather(&self.weights, &rows);
        let (targets, predictions) = (select_rows(&self.targets, &rows), select_rows(&self.predictions, &rows));
        loss.mean(targets.view(), predictions.view(), Some(&weights))
    }
}

/// Train/test splits of the first repeat of the cross-validated search, with the chosen entry of each. Empty if the search
/// was not cross-validated.
fn chosen_splits<'c>(
    selector: &ValidSelector,
    sample: &Sample,
    chosen: &'c Choice,
) -> Result<Vec<(TrainTestSplit, &'c PathEntry)>> {
    let Some(how) = chosen.folds.as_ref().filter(|_| !chosen.fold_entries.is_empty()) else { return Ok(Vec::new()) };
    let splits = choice_splits(selector, sample, &CrossValidation { repeats: 1, ..how.clone() })?;
    Ok(splits.all().zip(&chosen.fold_entries).collect())
}

/// Held-out predictions for the first repeat's folds, by the subset that each fold's search reached. Returns `None` if:
/// the search was not cross-validated; the work was stopped. Cost: the maps and one fit per fold.
pub fn held_out(
    selector: &ValidSelector,
    sample: &Sample,
    chosen: &Choice,
    watcher: &StageMonitor<'_>,
) -> Result<Option<PooledPredictions>> {
    let splits = chosen_splits(selector, sample, chosen)?;
    if splits.is_empty() {
        return Ok(None);
    }
    let in_fold = |number: usize| {
        let _held_out = tracing::debug_span!("held out", fold = number + 1).entered();
        let (split, entry) = &splits[number];
        let fold = Fold::new(selector, sample, split, None)?;
        let (design, held) = (&fold.design.at_lambda(chosen.path_lambda()), fold.test_rows());
        let models = PathModels { design, entries: std::slice::from_ref(*entry), reduced: None };
        let mut predicted = None;
        selector.predictions(models, &watcher.stop, &held, |_, rows| {
            predicted = Some(PooledPredictions::from_rows(rows));
            Ok(())
        })?;
        Ok(predicted)
    };
    let found = watcher.jobs_in("held out", &selector.slots, splits.len(), |number| {
        in_fold(number).map_err(|error| in_choice_fold(error, number))
    })?;
    let Some(found) = found else { return Ok(None) };
    let mut pooled = PooledPredictions::new(found.iter())?;
    pooled.set_rows(splits.iter().map(|(split, _)| &split.held));
    Ok(Some(pooled))
}

/// Names of the columns chosen in each fold of the first repeat at the selected size; empty if the search was not
/// cross-validated. Cost: the maps of each fold.
pub fn chosen_in_folds(selector: &ValidSelector, sample: &Sample, chosen: &Choice) -> Result<Vec<Vec<String>>> {
    let fold_names = |(split, entry): &(TrainTestSplit, &PathEntry)| {
        let design = Fold::new(selector, sample, split, None)?.design;
        Ok(entry.subset.iter().filter_map(|&feature| design.problem().names().get(feature).cloned()).collect())
    };
    chosen_splits(selector, sample, chosen)?.iter().map(fold_names).collect()
}
