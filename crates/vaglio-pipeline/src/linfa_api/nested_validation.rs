//! Nested cross-validation of a whole pipeline.

use super::FitError;
use super::rows::{Rows, TableRecords};
use super::table_fit::TargetedTable;
use super::targets::TargetValue;
use crate::pipeline::{Pipeline, ValidPipeline};
use crate::resampling::{self, FoldLosses, LossSums, OuterFoldFit, StageMonitor};
use linfa::ParamGuard;
use linfa::dataset::{AsTargets, DatasetBase};
use ndarray::Array2;
use serde::Serialize;
use std::fmt;
use vaglio_core::{Error, Loss, Part, Result, pluralize, short};
use vaglio_report::LEVEL;
use vaglio_report::record::OuterFolds;
use vaglio_search::Monitor;

/// Nested cross-validation results of a pipeline. `Display` prints one line: loss, interval and baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NestedResult {
    /// Loss function: the criterion's, or the readout's if the criterion has none.
    pub measure: Part<dyn Loss>,
    /// Pooled loss of all held-out rows.
    pub loss: f64,
    /// Standard error of the loss, if known: the larger of those between clusters of rows and between folds.
    pub standard_error: Option<f64>,
    /// 95 % confidence interval of the loss on new rows, selection included; `None` for too few rows or folds.
    pub interval: Option<[f64; 2]>,
    /// Loss of the baseline without features, by the same folds.
    pub empty_loss: f64,
    /// All outer folds, repeat by repeat.
    pub folds: Vec<NestedFold>,
}

impl fmt::Display for NestedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nested error {}", short(self.loss))?;
        if let Some([low, high]) = self.interval {
            write!(f, " (95 % interval {} to {})", short(low), short(high))?;
        }
        write!(f, "; without features {}; {}", short(self.empty_loss), pluralize(self.folds.len(), "outer fold"))
    }
}

/// Result of one outer fold. `Debug` leaves rows and predictions out.
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NestedFold {
    /// Held-out rows, by their index in the dataset.
    pub rows: Vec<usize>,
    /// Decision values of the held-out rows, rows × outputs.
    pub predictions: Array2<f64>,
    /// Loss of the held-out rows; +∞ if a class is missing that the loss needs.
    pub loss: f64,
    /// Names of the features selected on the training rows, in order of entry.
    pub selected: Vec<String>,
    /// Penalty λ of the model.
    pub lambda: Option<f64>,
}

impl fmt::Debug for NestedFold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NestedFold { loss, selected, lambda, .. } = self;
        let mut shown = f.debug_struct("NestedFold");
        shown.field("loss", loss).field("selected", selected).field("lambda", lambda).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Nested cross-validation on a dataset with independent rows: see [`Pipeline::nested_with`].
    ///
    /// # Errors
    /// Returns the errors of [`Pipeline::nested_with`].
    ///
    /// # Example
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::{Array1, Array2};
    /// use vaglio::{Pipeline, criteria::Loo, learners::Rls, search::Greedy};
    ///
    /// let x = Array2::from_shape_fn((40, 4), |(row, column)| ((row * (7 + 3 * column)) % 11) as f64);
    /// let y = Array1::from_shape_fn(40, |row| 2.0 * x[[row, 1]] + (row % 3) as f64);
    /// let pipeline = Pipeline::new(Loo::default(), Greedy::new(2), Rls::default());
    /// let worth = pipeline.nested(5, &Dataset::new(x, y))?;
    /// assert!(worth.loss < worth.empty_loss && worth.folds.len() == 5);
    /// assert!(worth.folds.iter().all(|fold| fold.selected.contains(&"feature-1".to_owned())));
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn nested<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue>(
        &self,
        folds: usize,
        dataset: &DatasetBase<R, T>,
    ) -> Result<NestedResult, FitError> {
        self.nested_with(folds, 1, dataset, &Rows::new())
    }

    /// Nested cross-validation on a dataset with groups, folds or series of rows. The whole procedure, from the maps to
    /// the choice of size and λ, is repeated on the training rows of outer folds. Held-out rows evaluate it. Folds are
    /// of groups where rows have them; `repeats` is the number of random splits into folds.
    ///
    /// Equals `evaluate: {nested: {folds, repeats}}` in a pipeline file. Cost: a fit for each fold and repeat.
    ///
    /// # Errors
    /// [`Error::Setting`] for too few folds; the errors of [`Pipeline::fit_with`], also for a fold;
    /// [`Error::Stopped`] if the observer ended it.
    pub fn nested_with<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue>(
        &self,
        folds: usize,
        repeats: usize,
        dataset: &DatasetBase<R, T>,
        rows: &Rows,
    ) -> Result<NestedResult, FitError> {
        let how = OuterFolds { folds, repeats, ..OuterFolds::default() };
        how.check().map_err(|error| error.under("nested"))?;
        let pipeline = self.check_ref()?;
        let (given, _) = TargetedTable::from_dataset(dataset, rows)?;
        Ok(pipeline.run_within_limits(|monitor| pipeline.evaluate(&how, given, monitor))?)
    }
}

impl ValidPipeline {
    fn evaluate(&self, how: &OuterFolds, given: TargetedTable, monitor: &mut Monitor<'_>) -> Result<NestedResult> {
        let (rows, task, outputs) = given.into_rows()?;
        let mut places: Vec<usize> = (0..rows.table.rows()).map(|row| rows.table.origin(row)).collect();
        let counting = rows.counted_rows();
        let (sample, fitted) = self.sample(rows, task, outputs)?;
        // Rows of weight 0 are dropped and belong to no fold, unless they serve as history.
        if let Some(counting) = counting.filter(|counting| counting.len() == sample.rows()) {
            places = counting.into_iter().map(|row| places[row]).collect();
        }
        let selector = self.selector();
        if self.limits.memory.is_some() {
            self.check_memory(&fitted.problem, &selector.design(&fitted.problem)?)?;
        }
        let watcher = StageMonitor::new(monitor);
        let outer = resampling::outer(&selector, &sample, how, &watcher)?;
        let Some(outer) = outer else {
            return Err(Error::Stopped(watcher.check_stop().unwrap_or(vaglio_core::StopReason::Interrupted)));
        };
        let measure = selector.loss(sample.task());
        let sums: Vec<LossSums> = outer.iter().map(|fold| fold.loss_sums(&*measure)).collect();
        let empties: Vec<LossSums> = outer.iter().map(|fold| fold.empty_loss_sums(&*measure)).collect();
        let repeats = outer.iter().map(|fold| fold.repeat + 1).max().unwrap_or(0);
        let losses = FoldLosses::new(&sums, repeats);
        let (loss, standard_error) = losses.pooled_mean(&*measure)?;
        let interval = losses.mean_with_interval(&*measure, None, 0.0, LEVEL).map(|(_, interval)| interval);
        let empty_loss = FoldLosses::new(&empties, repeats).mean(&*measure)?;
        let fold_record = |(fold, own): (OuterFoldFit, &LossSums)| NestedFold {
            loss: own.mean(&*measure),
            rows: fold.rows.into_iter().map(|row| places[row]).collect(),
            predictions: fold.held.predictions.reversed_axes(),
            selected: fold.selected,
            lambda: fold.model.lambda(),
        };
        let folds = outer.into_iter().zip(&sums).map(fold_record).collect();
        Ok(NestedResult { measure, loss, standard_error, interval, empty_loss, folds })
    }
}
