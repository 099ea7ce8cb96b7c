//! Held-out predictions of the cross-validated search, at the chosen size and λ, and error figures of such predictions.

use super::{
    Choice, EVERY, Fold, FoldLosses, LossSums, PathModels, PooledPredictions, Sample, TargetsAndPredictions,
    TrainTestSplit, choice_splits, in_choice_fold,
};
use crate::jobs::StageMonitor;
use crate::selector::ValidSelector;
use ndarray::s;
use std::ops::Range;
use vaglio_core::{ClassOrder, Loss, Result, ZeroOne};
use vaglio_report::record::Figures;
use vaglio_search::{CrossValidation, PathEntry};

/// Largest number of rows for which standard errors keep every cluster.
const MOST_ROWS: usize = 1 << 20;
/// Number of clusters per fold for more rows; the standard error is off by at most 1/√(2·2¹⁶), or 0.28 %.
const MOST_CLUSTERS: u32 = 1 << 16;

/// Train/test splits of the first repeat of the cross-validated search.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for invalid splits.
fn chosen_parts(selector: &ValidSelector, sample: &Sample, how: &CrossValidation) -> Result<Vec<TrainTestSplit>> {
    Ok(choice_splits(selector, sample, &CrossValidation { repeats: 1, ..how.clone() })?.all().collect())
}

/// Held-out predictions for the first repeat's folds, by the subset that each fold's search reached. Returns `None` if:
/// the search was not cross-validated; the work was stopped. Cost: the maps and one fit per fold.
pub fn held_out(
    selector: &ValidSelector,
    sample: &Sample,
    chosen: &Choice,
    watcher: &StageMonitor<'_>,
) -> Result<Option<PooledPredictions>> {
    let Some(how) = chosen.folds.as_ref().filter(|_| !chosen.fold_entries.is_empty()) else { return Ok(None) };
    let parts = chosen_parts(selector, sample, how)?;
    let in_fold = |number: usize| {
        let _held_out = tracing::debug_span!("held out", fold = number + 1).entered();
        let fold = Fold::new(selector, sample, &parts[number], None)?;
        let (design, held) = (&fold.design.at_lambda(chosen.path_lambda()), fold.test_rows());
        let entry = &chosen.fold_entries[number];
        let entries = if entry.subset.is_empty() { &[] } else { std::slice::from_ref(entry) };
        let models = PathModels { design, entries, empty_lambda: entry.score.lambda, reduced: None };
        // The empty subset comes first, and is the result unless there is an entry.
        let mut last = None;
        selector.predictions(models, &watcher.stop, &held, |_, rows| {
            last = Some(PooledPredictions::from_rows(rows));
            Ok(())
        })?;
        Ok(last)
    };
    let found = watcher.jobs("held out", &selector.slots, parts.len(), |number| {
        in_fold(number).map_err(|error| in_choice_fold(error, number))
    })?;
    let Some(found) = found else { return Ok(None) };
    let mut pooled = PooledPredictions::new(found.iter())?;
    pooled.set_rows(parts.iter().map(|part| &part.held));
    Ok(Some(pooled))
}

/// Names of the columns chosen in each fold of the first repeat at the selected size; empty if the search was not
/// cross-validated. Cost: the maps of each fold.
pub fn chosen_in_folds(selector: &ValidSelector, sample: &Sample, chosen: &Choice) -> Result<Vec<Vec<String>>> {
    let Some(how) = chosen.folds.as_ref().filter(|_| !chosen.fold_entries.is_empty()) else { return Ok(Vec::new()) };
    let parts = chosen_parts(selector, sample, how)?;
    let fold_names = |(part, entry): (&TrainTestSplit, &PathEntry)| {
        let design = Fold::new(selector, sample, part, None)?.design;
        Ok(entry.subset.iter().filter_map(|&feature| design.problem().names().get(feature).cloned()).collect())
    };
    parts.iter().zip(&chosen.fold_entries).map(fold_names).collect()
}

impl PooledPredictions {
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
}
