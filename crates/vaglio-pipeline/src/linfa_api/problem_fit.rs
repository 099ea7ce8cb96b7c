//! Fits pipelines on a [`Problem`], whose columns need not be arrays: byte counts, blocks, a bias. Problems of datasets.

use super::FitError;
use super::fitted_pipeline::FittedPipeline;
use super::rows::{Rows, TableRecords};
use super::table_fit::TargetedTable;
use super::targets::{TargetValue, classes_for};
use crate::pipeline::{Pipeline, ValidPipeline};
use crate::preprocess::{LabeledTable, numeric};
use crate::resampling::{FittedProblem, Sample};
use linfa::ParamGuard;
use linfa::dataset::{AsTargets, DatasetBase, TargetDim};
use std::sync::Arc;
use vaglio_core::{Cells, Error, Numbers, Problem, Result, Table, Task};

impl Pipeline {
    /// Fits on a problem instead of a dataset. Columns keep their storage, such as counts at one byte per cell; names,
    /// weights, groups, series, times, blocks and a bias are used.
    ///
    /// Targets are numbers (`E` is `f64` or `f32`) or class labels (`String`, …). `I` is `Ix1` for one column and `Ix2`
    /// for several, like in [`FittedPipeline::load`]. The pipeline's seed is used.
    ///
    /// # Errors
    /// [`FitError::Vaglio`] for: targets of another type; maps in the pipeline if the problem's columns were made by
    /// maps already. Also the errors of [`Pipeline::fit_with`].
    ///
    /// # Example
    /// Counts of words, most of them 0, from compressed columns (those of a `CsMat`):
    /// ```
    /// use vaglio::core::{Columns, Problem};
    /// use vaglio::prelude::*;
    ///
    /// let (rows, ends) = (6, [0, 3, 5, 8]);
    /// let (places, counts) = ([0, 2, 4, 1, 3, 2, 4, 5], [1u8, 2, 3, 1, 1, 4, 2, 7]);
    /// let mut columns = Columns::new(rows);
    /// for of in ends.windows(2) {
    ///     let mut column = vec![0u8; rows];
    ///     (of[0]..of[1]).for_each(|at| column[places[at]] = counts[at]);
    ///     columns.push(column);
    /// }
    /// let names = ["good", "so", "bad"].map(String::from).to_vec();
    /// let targets = ndarray::array![[1.0, 0.1, 2.1, 0.0, 2.9, 0.0]];
    /// let problem = Problem::new(columns, names, targets, vec!["stars".into()], Task::Regression)?;
    /// let fitted: FittedPipeline<f64, Ix1> =
    ///     Pipeline::new(Loo::default(), Greedy::new(1), Rls::new(0.1)).fit_problem(&problem)?;
    /// assert_eq!(fitted.selected(), ["good"]);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn fit_problem<E: TargetValue, I: TargetDim>(
        &self,
        problem: &Problem,
    ) -> Result<FittedPipeline<E, I>, FitError> {
        let pipeline = self.check_ref()?;
        let refused = |why: String| Error::setting("targets", why);
        let classes = classes_for::<E, I>(problem.task(), problem.targets().nrows()).map_err(refused)?;
        // Several classes have one target column.
        let targets = match problem.task() {
            Task::Multiclass { .. } => vec!["target-0".into()],
            Task::Regression | Task::Binary { .. } => problem.target_names().to_vec(),
        };
        let (saved, selection) = pipeline.alone(|monitor| {
            let (sample, fitted) = pipeline.sample_from_problem(problem)?;
            pipeline.fit_sample(&sample, fitted, targets, monitor)
        })?;
        Ok(FittedPipeline::new(saved, classes, selection))
    }
}

impl ValidPipeline {
    /// Like [`ValidPipeline::sample`], from the rows of a problem.
    fn sample_from_problem(&self, problem: &Problem) -> Result<(Sample, FittedProblem)> {
        let (task, outputs) = (problem.task().clone(), problem.target_names().to_vec());
        if self.preprocess.is_empty() && self.target_map.is_none() {
            let is_ordered = problem.labels().time.is_some() || self.selector().needs_order();
            let sample = Sample::plain(self.recipe(task, outputs)?.in_precision(problem.clone())?, is_ordered);
            let fitted = sample.fit()?;
            return Ok((sample, fitted));
        }
        let in_folds = problem.in_folds();
        let is_mapped = in_folds.is_by_maps() || in_folds.is_standardized() || in_folds.missing().is_some();
        if is_mapped || problem.bias().is_some() || !problem.blocks().is_empty() {
            let message = "the columns of the problem have blocks or a bias, or were made by maps; leave the maps of the pipeline out";
            return Err(Error::setting("preprocess", message));
        }
        let columns = problem.names().iter().cloned().zip(problem.columns().iter());
        let cells = columns.map(|(name, column)| (name, Cells::Numbers(Numbers::from(column)))).collect();
        let (targets, labels) = (Arc::clone(problem.targets()), problem.labels().clone());
        self.sample(LabeledTable::new(Table::new(cells)?, targets, labels)?, task, outputs)
    }
}

/// Converts a linfa dataset to a problem, for a search by [`Selector`](crate::ValidSelector::select) without a
/// pipeline.
///
/// Classes are coded like in [`TargetValue`]. Rows of weight 0 are dropped, and series are sorted by time.
///
/// # Errors
/// * [`Error::NonFinite`] for NaN or an infinite value.
/// * [`Error::Shape`] for lists of another length.
/// * [`Error::Setting`] for classes that cannot be distinguished.
pub fn problem<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue>(
    dataset: &DatasetBase<R, T>,
    rows: &Rows,
) -> Result<Problem> {
    let (given, _) = TargetedTable::from_dataset(dataset, rows)?;
    let (mut rows, task, outputs) = given.into_rows()?;
    let (columns, names) = numeric(&mut rows.table)?;
    let targets = std::mem::take(&mut rows.targets);
    Problem::new(columns, names, targets, outputs, task)?.with_labels(rows.row_labels())
}
