//! The user's data, checked once.

mod selection;

use crate::labels::RowLabels;
use crate::power_of_two::largest;
use crate::prediction_units::PredictionUnits;
use crate::table::refuse_duplicates;
use crate::{Columns, Error, Feature, PerFoldPreprocessing, Result, StopSign, Task};
use ndarray::Array2;
use rayon::prelude::*;
use std::sync::Arc;

/// Columns, targets, row weights and groups, checked once: finite, of one length, with unique names.
///
/// Later code does not check again. Clones share the arrays. Rows of weight 0 are dropped, so a weight of 0 equals the
/// absence of the row.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) columns: Arc<Columns>,
    /// Upper bound of the magnitude of each column.
    pub(crate) largest: Arc<[f64]>,
    pub(crate) names: Arc<[String]>,
    pub(crate) targets: Arc<Array2<f64>>,
    pub(crate) target_names: Arc<[String]>,
    pub(crate) task: Task,
    pub(crate) labels: RowLabels,
    pub(crate) blocks: Arc<[Block]>,
    pub(crate) in_folds: PerFoldPreprocessing,
    pub(crate) bias: Option<Feature>,
    pub(crate) seed: u64,
    pub(crate) sign: StopSign,
}

/// Columns that belong together, such as the indicators of one text column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The source of the columns.
    pub name: String,
    /// The columns, in increasing order.
    pub columns: Vec<Feature>,
}

impl Problem {
    /// A problem without weights or groups.
    ///
    /// `targets` is outputs × rows.
    ///
    /// # Errors
    /// [`Error::Shape`] when lengths differ, there is no row, or a name is listed twice; [`Error::NonFinite`] for NaN
    /// or an infinite value.
    ///
    /// # Example
    /// ```
    /// use vaglio_core::{Columns, Problem, Task};
    /// let mut columns = Columns::new(3);
    /// columns.push(vec![1.0, 2.0, 4.0]);
    /// let targets = ndarray::array![[1.0, 2.0, 3.0]];
    /// let problem = Problem::new(columns, vec!["x".into()], targets, vec!["y".into()], Task::Regression)?;
    /// assert_eq!(problem.rows(), 3);
    /// # Ok::<(), vaglio_core::Error>(())
    /// ```
    pub fn new(
        columns: Columns,
        names: Vec<String>,
        targets: impl Into<Arc<Array2<f64>>>,
        target_names: Vec<String>,
        task: Task,
    ) -> Result<Self> {
        let targets = targets.into();
        let (outputs, rows) = targets.dim();
        if rows == 0 {
            return Err(Error::Shape("the data have no rows".into()));
        }
        let (count, column_rows) = (columns.len(), columns.rows());
        if column_rows != rows {
            return Err(Error::Shape(format!("the columns have {column_rows} rows and the targets {rows}")));
        }
        let (named, named_targets) = (names.len(), target_names.len());
        if named != count || named_targets != outputs || outputs == 0 {
            let message = format!("{named} names for {count} columns and {named_targets} for {outputs} targets");
            return Err(Error::Shape(message));
        }
        refuse_duplicates(names.iter().map(String::as_str))?;
        let largest = bounds(&columns, &names)?;
        let targets = finite_targets(targets, &target_names)?;
        Ok(Problem {
            largest,
            columns: Arc::new(columns),
            names: names.into(),
            targets,
            target_names: target_names.into(),
            task,
            labels: RowLabels::default(),
            blocks: Arc::from([]),
            in_folds: PerFoldPreprocessing::default(),
            bias: None,
            seed: 0,
            sign: StopSign::default(),
        })
    }

    /// Replaces the labels of the rows, and drops those of weight 0. A weight of 2 counts as the row given twice in one
    /// fold, 0 as its absence. Counts of rows count each row of positive weight once.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong length, rows of one series that are not contiguous, different targets in one unit, a
    /// negative weight, or no positive one; [`Error::NonFinite`].
    pub fn with_labels(self, labels: RowLabels) -> Result<Self> {
        Problem { labels, ..self }.check_labels()
    }

    /// Checks the labels of the rows, and drops rows of weight 0.
    fn check_labels(self) -> Result<Self> {
        self.labels.check(self.rows())?;
        PredictionUnits::check(self.labels.units.as_deref(), &self.targets)?;
        let Some(weights) = self.weights() else { return Ok(self) };
        check_finite("weights", weights)?;
        if let Some(row) = weights.iter().position(|&w| w < 0.0) {
            return Err(Error::Shape(format!("row {}: the weight {} is negative", row + 1, weights[row])));
        }
        let kept: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        if kept.is_empty() {
            return Err(Error::Shape("every row has weight 0".into()));
        }
        Ok(if kept.len() == self.rows() { self } else { self.select_rows(&kept) })
    }

    /// Sets row weights.
    ///
    /// # Errors
    /// Returns the errors of [`Problem::with_labels`].
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        self.labels.weights = Some(weights.into());
        self.check_labels()
    }

    /// Sets groups; rows of one group stay in one fold. To be called before [`Problem::with_weights`].
    ///
    /// # Errors
    /// Returns the errors of [`Problem::with_labels`].
    pub fn with_groups(mut self, groups: Vec<u32>) -> Result<Self> {
        self.labels.groups = Some(groups.into());
        self.check_labels()
    }

    /// Sets the seed of every random choice.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Problem { seed, ..self }
    }

    /// Sets the sign that ends work on the problem.
    #[must_use]
    pub fn with_sign(self, sign: StopSign) -> Self {
        Problem { sign, ..self }
    }

    /// Adds blocks of columns that belong together.
    #[must_use]
    pub fn with_blocks(self, blocks: Vec<Block>) -> Self {
        Problem { blocks: blocks.into(), ..self }
    }

    /// Sets the preprocessing that is fitted again on the training rows of each fold.
    #[must_use]
    pub fn with_preprocessing(self, in_folds: PerFoldPreprocessing) -> Self {
        Problem { in_folds, ..self }
    }

    /// Declares a bias: a constant column that may be selected and is penalized like the others.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such column, or it is not constant, or 0.
    pub fn with_bias(self, bias: Feature) -> Result<Self> {
        if bias >= self.columns.len() || !self.columns.is_constant(bias) || self.columns.column(bias).get(0) == 0.0 {
            return Err(Error::Shape(format!("column {bias} of {} is no bias", self.columns.len())));
        }
        Ok(Problem { bias: Some(bias), ..self })
    }

    /// Rounds columns of doubles to single precision, at four bytes an entry.
    ///
    /// # Errors
    /// [`Error::Numerical`] for entries out of the range of single precision, or a column that becomes constant.
    pub fn in_single(mut self) -> Result<Self> {
        let columns = std::mem::take(&mut self.columns);
        self.columns = Arc::new(Arc::unwrap_or_clone(columns).in_single());
        let fault = |index: usize| Some((index, self.columns.single(index)?.fault()?));
        let Some((index, fault)) = (0..self.names.len()).find_map(fault) else { return Ok(self) };
        Err(Error::Numerical(format!("column `{}`: {fault}, or keep doubles", self.names[index])))
    }

    /// Returns a copy with other values of the columns.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of rows or columns; [`Error::NonFinite`].
    pub fn with_values(&self, columns: Columns) -> Result<Self> {
        if (columns.rows(), columns.len()) != (self.rows(), self.names.len()) {
            return Err(Error::Shape(format!("{} columns of {} rows", columns.len(), columns.rows())));
        }
        Ok(Problem { largest: bounds(&columns, &self.names)?, columns: Arc::new(columns), ..self.clone() })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.targets.ncols()
    }

    /// The candidate columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Whether the columns are those of another problem, not only equal to them.
    pub fn has_columns_of(&self, other: &Problem) -> bool {
        Arc::ptr_eq(&self.columns, &other.columns)
    }

    /// Whether all entries of a column are equal, so that it cannot be selected; the bias can.
    pub(crate) fn is_constant(&self, feature: Feature) -> bool {
        self.bias != Some(feature) && self.columns.is_constant(feature)
    }

    /// The columns whose entries are all equal, without the bias.
    pub fn constant(&self) -> Vec<Feature> {
        (0..self.columns.len()).filter(|&feature| self.is_constant(feature)).collect()
    }

    /// Upper bound of the magnitude of each column, before columns are rescaled.
    pub fn largest(&self) -> &[f64] {
        &self.largest
    }

    /// Name of each column.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Targets, outputs × rows; classes are coded ±1.
    pub fn targets(&self) -> &Arc<Array2<f64>> {
        &self.targets
    }

    /// Name of each target.
    pub fn target_names(&self) -> &[String] {
        &self.target_names
    }

    /// The prediction task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Labels of the rows; weights are positive.
    pub fn labels(&self) -> &RowLabels {
        &self.labels
    }

    /// Row weights, all positive, if given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.labels.weights.as_deref()
    }

    /// Group of each row, if given.
    pub fn groups(&self) -> Option<&[u32]> {
        self.labels.groups.as_deref()
    }

    /// The series of each row, if given; rows of one series are contiguous and in the order of time.
    pub fn series(&self) -> Option<&[u32]> {
        self.labels.series.as_deref()
    }

    /// The seed from which every random choice follows.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The stop sign of the run: training and loops over long trials should call [`StopSign::check`] now and then.
    pub fn sign(&self) -> &StopSign {
        &self.sign
    }

    /// Columns that belong together.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The constant column that may be selected, if there is a bias.
    pub fn bias(&self) -> Option<Feature> {
        self.bias
    }

    /// The preprocessing that is fitted again on the training rows of each fold.
    pub fn in_folds(&self) -> &PerFoldPreprocessing {
        &self.in_folds
    }
}

/// Upper bound of the magnitude of each column.
fn bounds(columns: &Columns, names: &[String]) -> Result<Arc<[f64]>> {
    let bounds: Vec<f64> = (0..columns.len()).into_par_iter().map(|index| largest(columns.column(index))).collect();
    for index in (0..bounds.len()).filter(|&index| !bounds[index].is_finite()) {
        check_finite(&names[index], &columns.column(index).values())?;
    }
    Ok(bounds.into())
}

/// Refuses targets that are not finite, and copies others into standard layout, so that each output is contiguous.
fn finite_targets(targets: Arc<Array2<f64>>, names: &[String]) -> Result<Arc<Array2<f64>>> {
    for (name, row) in names.iter().zip(targets.rows()) {
        check_finite(name, &row.to_vec())?;
    }
    Ok(if targets.is_standard_layout() { targets } else { Arc::new(targets.as_standard_layout().into_owned()) })
}

fn check_finite(name: &str, values: &[f64]) -> Result<()> {
    let Some(first) = values.iter().position(|v| !v.is_finite()) else { return Ok(()) };
    Err(Error::NonFinite {
        row: first + 1,
        column: name.to_owned(),
        value: values[first].to_string(),
        count: values.iter().filter(|v| !v.is_finite()).count(),
        file: None,
        remedy: None,
    })
}
