//! Fits pipelines on tables, whose columns may be text and dates.

use super::FitError;
use super::fitted_pipeline::FittedPipeline;
use super::rows::{Rows, TableRecords, names, table};
use super::targets::{TargetValue, classes_for, encode};
use crate::pipeline::Pipeline;
use crate::preprocess::LabeledTable;
use linfa::ParamGuard;
use linfa::dataset::{AsTargets, DatasetBase, TargetDim};
use ndarray::Array2;
use vaglio_core::{Error, Result, Table, Task};

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
    /// precision, and text and date columns if maps take them. The types of targets are those of
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
}
