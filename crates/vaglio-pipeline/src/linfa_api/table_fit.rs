//! Fits pipelines on data that are no dataset: tables with text and dates, and problems. Problems of datasets.

use super::FitError;
use super::fitted_pipeline::FittedPipeline;
use super::rows::{Rows, TableRecords, names, table};
use super::targets::{TargetValue, classes_for, encode};
use crate::pipeline::{Pipeline, ValidPipeline};
use crate::preprocess::{LabeledTable, numeric};
use crate::resampling::{FittedProblem, Sample};
use linfa::ParamGuard;
use linfa::dataset::{AsTargets, DatasetBase, TargetDim};
use ndarray::Array2;
use std::sync::Arc;
use vaglio_core::{Cells, Error, Numbers, Problem, Result, Table, Task};

/// A table with targets, to fit a pipeline without linfa datasets.
#[derive(Debug, Clone)]
pub struct TargetedTable {
    /// Columns of numbers, text and dates; NaN for missing numbers. Text and dates need maps in the pipeline.
    pub table: Table,
    /// Targets, outputs × rows. Two classes have one output, ±1; more have one each, 1 for rows of the class and −1 for
    /// others.
    pub targets: Array2<f64>,
    /// Prediction task, with the labels of classes.
    pub task: Task,
    /// Names of the target columns; a single one for classes.
    pub names: Vec<String>,
    /// Weight of each row; a row with weight 0 is ignored.
    pub weights: Option<Vec<f64>>,
    /// Groups, folds, series and times of rows.
    pub rows: Rows,
}

impl TargetedTable {
    /// The table of a dataset, with its classes.
    ///
    /// # Errors
    /// [`Error::Shape`] for a dataset without rows, and for targets of another length; errors of [`encode`].
    pub(super) fn from_dataset<R: TableRecords, T: AsTargets<Elem = E>, E: TargetValue>(
        dataset: &DatasetBase<R, T>,
        rows: &Rows,
    ) -> Result<(Self, Vec<E>)> {
        let (task, targets, classes) = encode(dataset.targets())?;
        let records = dataset.records();
        let columns = names(dataset.feature_names(), records.nfeatures());
        let table = table(columns.into_iter().zip(0..), records)?;
        let weights = dataset.weights().map(|all| all.iter().map(|w| f64::from(*w)).collect());
        let count = if task == Task::Regression { targets.nrows() } else { 1 };
        let given = dataset.target_names();
        let names =
            if given.len() == count { given.to_vec() } else { (0..count).map(|o| format!("target-{o}")).collect() };
        let given = TargetedTable { table, targets, task, names, weights, rows: rows.clone() };
        given.check()?;
        Ok((given, classes))
    }

    /// The rows by series and time with their labels, the task, and the name of each output.
    ///
    /// # Errors
    /// [`Error::Shape`] for lists of another length, negative weights, and duplicate times in a series.
    pub(super) fn into_rows(self) -> Result<(LabeledTable, Task, Vec<String>)> {
        let TargetedTable { table, targets, task, names, weights, rows } = self;
        if let Some(count) = weights.as_ref().map(Vec::len).filter(|count| *count != table.rows()) {
            return Err(Error::Shape(format!("{count} weights for {} rows", table.rows())));
        }
        if let Some(row) = weights.iter().flatten().position(|weight| weight.is_nan() || *weight < 0.0) {
            return Err(Error::Shape(format!("row {}: the weight is negative or not a number", row + 1)));
        }
        let outputs = task.output_names(&names).to_vec();
        Ok((rows.label_and_sort(table, targets, weights)?, task, outputs))
    }

    /// Refuses targets that do not fit the task.
    fn check(&self) -> Result<()> {
        let (outputs, rows) = self.targets.dim();
        let expected = self.task.output_names(&self.names).len();
        if self.task != Task::Regression && self.names.len() != 1 {
            return Err(Error::Shape(format!("classes are one target column, and {} are named", self.names.len())));
        }
        if outputs != expected || outputs == 0 {
            return Err(Error::Shape(format!("{outputs} rows of targets, and the task has {expected}")));
        }
        match self.table.rows() {
            0 => Err(Error::Shape("the data have no rows".into())),
            all if all != rows => Err(Error::Shape(format!("the columns have {all} rows and the targets {rows}"))),
            _ => Ok(()),
        }
    }
}

impl Pipeline {
    /// Fits maps, tunes, searches and trains on a table. Like [`Pipeline::fit_with`], but with weights in double
    /// precision, and text and date columns if maps take them. Targets have the types of
    /// [`Pipeline::fit_problem`].
    ///
    /// # Errors
    /// Returns the errors of [`Pipeline::fit_problem`], and of text and dates that no map uses.
    ///
    /// # Example
    /// ```
    /// use ndarray::array;
    /// use vaglio::core::{Cells, Table, Task};
    /// use vaglio::{Rows, TargetedTable, files::FileModel, prelude::*};
    ///
    /// let kinds = ["oak", "elm", "oak", "elm", "oak", "elm"].map(String::from).to_vec();
    /// let heights = vec![3.0, 1.0, 4.0, 1.5, 5.0, 9.0];
    /// let table = Table::new(vec![("kind".into(), Cells::Text(kinds)), ("height".into(), Cells::Numbers(heights.into()))])?;
    /// let targets = array![[1.0, 0.1, 1.1, 0.0, 0.9, 0.1]];
    /// let (task, names, weights) = (Task::Regression, vec!["shade".into()], None);
    /// let pipeline = Pipeline::from_yaml("version: 1\npreprocess: [one_hot]\nsearch: {kind: greedy, max_features: 1}\n")?;
    /// let given = TargetedTable { table: table.clone(), targets, task, names, weights, rows: Rows::new() };
    /// let fitted: FittedPipeline<f64, Ix1> = pipeline.fit_table(given)?;
    /// assert_eq!(fitted.saved().sources, ["kind"]);
    /// assert!(FileModel(fitted.saved()).predict(table)?.values[[0, 0]] > 0.8);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn fit_table<E: TargetValue, I: TargetDim>(
        &self,
        given: TargetedTable,
    ) -> Result<FittedPipeline<E, I>, FitError> {
        let pipeline = self.check_ref()?;
        given.check()?;
        let classes = classes_for::<E, I>(&given.task, given.targets.nrows());
        pipeline.fit_targeted(given, classes.map_err(|why| Error::setting("targets", why))?)
    }

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
        pipeline.fit_sample(targets, classes, || pipeline.sample_from_problem(problem))
    }
}

impl ValidPipeline {
    /// Like [`ValidPipeline::sample`], from the rows of a problem.
    fn sample_from_problem(&self, problem: &Problem) -> Result<(Sample, FittedProblem)> {
        let (task, outputs) = (problem.task().clone(), problem.target_names().to_vec());
        if self.preprocess.is_empty() && self.target_map.is_none() {
            let is_ordered = problem.labels().time.is_some() || self.selector().needs_order();
            let sample = Sample::from_problem(self.recipe(task, outputs)?.in_precision(problem.clone())?, is_ordered);
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
