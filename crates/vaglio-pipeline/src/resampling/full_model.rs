//! Losses of the model with all columns, which a search with more columns than rows never reaches.

use super::{
    FoldLosses, LambdaPaths, LossSums, PathModels, TargetsAndPredictions, Validation, most_clusters, predictions_along,
};
use crate::jobs::run_parallel;
use std::time::Instant;
use vaglio_core::{ErrorClass, Result, Score, short};
use vaglio_report::record::{Cell, LossTable, Warning, WarningKind};
use vaglio_search::{CrossValidation, PathEntry};

/// Largest work of these fits over all folds and λ, in multiply-adds.
const MOST_WORK: f64 = 3e10;

impl Validation<'_, '_> {
    /// Values of λ for fits of all columns in the folds: the grid, extended like the searches. Empty if: fits
    /// take too long; the search reaches all columns.
    fn full_lambdas(&self, by_lambda: &[LambdaPaths]) -> Vec<Option<f64>> {
        let Validation { selector, design, how, .. } = *self;
        // A backward search has the full model on its path.
        if selector.search.extent(design).is_ok_and(|search_extent| search_extent.start >= design.candidates().len()) {
            return Vec::new();
        }
        let (rows, columns) = (design.rows() as f64, design.candidates().len() as f64);
        let lambdas = design.lambdas();
        let work = (how.folds * how.repeats * lambdas.len()) as f64 * rows * rows * columns;
        // A final model is not comparable with the readout of all columns.
        let is_judged = selector.model.is_none() && design.readout().is_some();
        match is_judged && columns > rows && work <= MOST_WORK {
            true if by_lambda.len() > 1 && self.path.is_none() => by_lambda.iter().map(|paths| paths.lambda).collect(),
            true => lambdas,
            false => Vec::new(),
        }
    }

    /// Held-out losses of the models with all columns, by fold and λ. Cost O(rows² · columns) per fold and λ.
    fn full_losses(&self, lambdas: &[Option<f64>]) -> Result<Vec<Vec<LossSums>>> {
        let (begun, journal) = (Instant::now(), &self.watcher.journal);
        let known: Option<Vec<Vec<LossSums>>> = journal.recall("choose/full");
        if let Some(known) = known.filter(|known| known.iter().all(|fold_losses| fold_losses.len() == lambdas.len())) {
            return Ok(known);
        }
        let (judge, most) = (self.sample.judge().unwrap_or_default(), most_clusters(lambdas.len()));
        let losses = |job: usize| {
            let fold = self.fold(job, &[])?;
            let (design, columns) = (&fold.design, fold.design.candidates());
            let all = |&lambda: &Option<f64>| PathEntry::new(columns.clone(), Score { loss: f64::NAN, lambda });
            let entries: Vec<PathEntry> = lambdas.iter().map(all).collect();
            let (models, mut by_lambda) = (PathModels { design, entries: &entries, reduced: None }, Vec::new());
            let each = |_, rows: TargetsAndPredictions<'_>| {
                by_lambda.push(LossSums::new(self.loss, rows, most));
                Ok(())
            };
            fold.on_scale(judge, |held| predictions_along(models, held, each))?;
            Ok(by_lambda)
        };
        let count = self.splits.count();
        let full = run_parallel(&self.selector.slots, count, |job| losses(job).map_err(self.in_fold(job)))?;
        journal.keep_worth(begun, "choose/full", &full);
        Ok(full)
    }

    /// Warns if all columns are better than the `taken` ones by more than a standard error of the paired difference.
    /// `paths` are at the chosen λ. Returns `None` if stopped, and if a fit fails.
    pub fn all_columns_warning(
        &self,
        by_lambda: &[LambdaPaths],
        paths: &LambdaPaths,
        taken: Cell,
    ) -> Result<Option<Warning>> {
        let (loss, size) = (self.loss, self.design.candidates().len());
        let lambdas = self.full_lambdas(by_lambda);
        if lambdas.is_empty() {
            return Ok(None);
        }
        let full = match self.watcher.ends(|| self.full_losses(&lambdas)) {
            // A λ at which no fit of all columns succeeds does not fail the run.
            Err(error) if error.class() == ErrorClass::Numerical => None,
            full => full?,
        };
        let Some(full) = full else { return Ok(None) };
        let losses =
            |place: usize| FoldLosses::new(full.iter().map(|fold_losses| &fold_losses[place]), self.how.repeats);
        let cells = (0..lambdas.len()).map(|place| Ok(vec![losses(place).cell(loss, size)?])).collect::<Result<_>>()?;
        let (place, best) = LossTable { cells, ..LossTable::default() }.pick(&CrossValidation::default())?;
        let (lowest, error) = (best.loss, best.standard_error.unwrap_or(0.0));
        // A loss that is not a number is not better.
        let is_better = || {
            losses(place).difference(loss, &paths.losses(taken.size)).is_none_or(|error| lowest + error < taken.loss)
        };
        if !(lowest < taken.loss && is_better()) {
            return Ok(None);
        }
        let at = lambdas[place].map_or_else(String::new, |lambda| format!(" at lambda {}", short(lambda)));
        let message = format!(
            "all {size} columns together have a cross-validated loss of {} (standard error {}){at}, and the {} that were taken \
             one of {}; where columns cost nothing, `search: all` predicts better",
            short(lowest),
            short(error),
            taken.size,
            short(taken.loss)
        );
        Ok(Some(Warning::new(WarningKind::AllColumns, message)))
    }
}
