//! Fitting pipelines on tables, whose columns may be text and dates.

use super::FitError;
use super::fit::Named;
use super::rows::Rows;
use crate::pipeline::{Pipeline, SavedModel, ValidPipeline};
use crate::selector::Selection;
use linfa::ParamGuard;
use ndarray::Array2;
use vaglio_core::{Error, Result, Table, Task};

/// A table whose rows have targets: what a program without datasets of linfa fits a pipeline on.
#[derive(Debug, Clone)]
pub struct TargetedTable {
    /// The columns: numbers, NaN where a cell is missing, text and dates, for which the pipeline has maps.
    pub table: Table,
    /// Outputs × rows. Two classes are one output, ±1; more are one each, 1 for the rows of the class and −1 for others.
    pub targets: Array2<f64>,
    /// What is predicted, with the labels of classes.
    pub task: Task,
    /// Names of the target columns: one of classes.
    pub names: Vec<String>,
    /// The weight of each row; 0 is the absence of the row.
    pub weights: Option<Vec<f64>>,
    /// What else is known of the rows.
    pub rows: Rows,
}

impl TargetedTable {
    /// Refuses targets that are not those of the task.
    fn check(&self) -> Result<()> {
        let (outputs, rows) = self.targets.dim();
        let expected = match &self.task {
            Task::Regression => self.names.len(),
            Task::Binary { .. } => 1,
            Task::Multiclass { labels } => labels.len(),
        };
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
    /// Fits on a table: see [`ValidPipeline::fit_table`].
    ///
    /// # Errors
    /// Those of the settings and of [`ValidPipeline::fit_table`].
    pub fn fit_table(&self, given: TargetedTable) -> std::result::Result<(SavedModel, Selection), FitError> {
        self.check_ref()?.fit_table(given)
    }
}

impl ValidPipeline {
    /// Fits maps, tunes, searches and trains on a table, as [`ValidPipeline::fit_with`] does on a dataset: with the weights in
    /// double precision, and columns of text and dates where the pipeline has maps for them.
    ///
    /// # Errors
    /// Those of [`ValidPipeline::fit_with`]; text and dates that no map takes.
    ///
    /// # Example
    /// ```
    /// use ndarray::array;
    /// use vaglio::core::{Cells, Table, Task};
    /// use vaglio::{Pipeline, Rows, TargetedTable, files::ModelFiles};
    ///
    /// let kinds = ["oak", "elm", "oak", "elm", "oak", "elm"].map(String::from).to_vec();
    /// let heights = vec![3.0, 1.0, 4.0, 1.5, 5.0, 9.0];
    /// let table = Table::new(vec![("kind".into(), Cells::Text(kinds)), ("height".into(), Cells::Numbers(heights.into()))])?;
    /// let targets = array![[1.0, 0.1, 1.1, 0.0, 0.9, 0.1]];
    /// let (task, names, weights) = (Task::Regression, vec!["shade".into()], None);
    /// let pipeline = Pipeline::from_yaml("version: 1\npreprocess: [one_hot]\nsearch: {kind: greedy, max_features: 1}\n")?;
    /// let given = TargetedTable { table: table.clone(), targets, task, names, weights, rows: Rows::new() };
    /// let (model, _) = pipeline.fit_table(given)?;
    /// assert_eq!(model.sources, ["kind"]);
    /// assert!(model.predict(table)?.values[[0, 0]] > 0.8);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn fit_table(&self, given: TargetedTable) -> std::result::Result<(SavedModel, Selection), FitError> {
        given.check()?;
        let TargetedTable { table, targets, task, names, weights, rows } = given;
        let columns = table.names().map(str::to_owned).collect();
        let outputs = match &task {
            Task::Multiclass { labels } => labels.clone(),
            Task::Regression | Task::Binary { .. } => names.clone(),
        };
        Ok(self.alone(|monitor| {
            let rows = rows.of_table(table, targets, weights)?;
            let (sample, fitted) = self.sample_of_rows(rows, task, outputs)?;
            self.fit_sample(&sample, fitted, Named { columns, targets: names }, monitor)
        })?)
    }
}
