//! Groups, folds, series and times of the rows of a dataset.

use crate::preprocess::LabeledTable;
use linfa::Float;
use linfa::dataset::Records;
use ndarray::{Array2, ArrayBase, Data, Ix2};
use std::hash::Hash;
use std::sync::Arc;
use vaglio_core::{Cells, Error, Result, RowLabels, Table, argsort_by, number_labels};

/// Groups, folds, series and times of rows, one entry per row in the order of the dataset.
///
/// # Example
/// ```
/// use vaglio::Rows;
///
/// let rows = Rows::new().groups(["ann", "ann", "bob", "eve"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows(RowLabels);

impl Rows {
    /// Independent rows, without groups, folds, series and times.
    pub fn new() -> Self {
        Rows::default()
    }

    /// Sets the group of each row. Rows of a group are held out together, in `KFold` and in repetitions of the search.
    #[must_use]
    pub fn groups<G: Eq + Hash>(self, by_row: impl IntoIterator<Item = G>) -> Self {
        Rows(RowLabels { groups: Some(number_labels(by_row).0.into()), ..self.0 })
    }

    /// Sets the fold number of each row, for a `KFold` with an `assignment`, whatever column that names. For `given`
    /// splits, 1 marks held-out rows and 0 training rows.
    #[must_use]
    pub fn folds(self, by_row: impl IntoIterator<Item = u32>) -> Self {
        Rows(RowLabels { assignment: Some(by_row.into_iter().collect()), ..self.0 })
    }

    /// Sets the time series of each row. Rows of a series need not be adjacent; they follow the order of their
    /// [`times`](Rows::times), or else their present order.
    ///
    /// For predictions, pass them again to [`predict_with`](crate::FittedPipeline::predict_with); `predict` treats all
    /// rows as one series.
    #[must_use]
    pub fn series<G: Eq + Hash>(self, by_row: impl IntoIterator<Item = G>) -> Self {
        Rows(RowLabels { series: Some(number_labels(by_row).0.into()), ..self.0 })
    }

    /// Sets the time of each row, for learners with memory and for folds forward in time. Rows may be in any order; a
    /// time is unique within its series, or within all rows without series.
    #[must_use]
    pub fn times<T: PartialOrd>(self, by_row: impl IntoIterator<Item = T>) -> Self {
        let times: Vec<T> = by_row.into_iter().collect();
        let order = |a: &&T, b: &&T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
        let mut all: Vec<&T> = times.iter().collect();
        all.sort_by(order);
        all.dedup_by(|a, b| a == b);
        let place = |time: &T| match time.partial_cmp(time) {
            Some(_) => all.partition_point(|other| *other < time) as u32,
            None => NO_TIME,
        };
        Rows(RowLabels { time: Some(times.iter().map(place).collect()), ..self.0 })
    }

    /// Refuses lists with another number of entries than rows, and times that are not numbers.
    fn check(&self, rows: usize) -> Result<()> {
        let RowLabels { groups, assignment, series, time, .. } = &self.0;
        let known = [("groups", groups), ("folds", assignment), ("series", series), ("times", time)];
        let mut counts = known.into_iter().filter_map(|(what, list)| Some((what, list.as_ref()?.len())));
        if let Some((what, count)) = counts.find(|(_, count)| *count != rows) {
            return Err(Error::Shape(format!("`Rows::{what}` has {count} entries for {rows} rows")));
        }
        match time.as_deref().and_then(|times| times.iter().position(|time| *time == NO_TIME)) {
            Some(row) => Err(Error::Shape(format!("row {}: its time is not a number", row + 1))),
            None => Ok(()),
        }
    }

    /// Labels the rows of a table and sorts them by series and time.
    ///
    /// # Errors
    /// [`Error::Shape`] for lists of another length, and for duplicate times in a series.
    pub(super) fn label_and_sort(
        &self,
        table: Table,
        targets: Array2<f64>,
        weights: Option<Vec<f64>>,
    ) -> Result<LabeledTable> {
        self.check(table.rows())?;
        let labels = RowLabels { weights: weights.map(Into::into), ..self.0.clone() };
        let rows = LabeledTable::new(table, Arc::new(targets), labels)?;
        Ok(match self.order(rows.table.rows())? {
            Some(order) => rows.select(&order),
            None => rows,
        })
    }

    /// Order of the rows by series and time; `None` if they are sorted already.
    ///
    /// # Errors
    /// [`Error::Shape`] for duplicate times in a series.
    fn order(&self, rows: usize) -> Result<Option<Vec<usize>>> {
        let label = |list: &Option<Arc<[u32]>>, row: usize| list.as_ref().map_or(0, |list| list[row]);
        let key = |row: usize| (label(&self.0.series, row), label(&self.0.time, row));
        let order = argsort_by(rows, |a, b| key(a).cmp(&key(b)));
        if self.0.time.is_some()
            && let Some(pair) = order.windows(2).find(|pair| key(pair[0]) == key(pair[1]))
        {
            let (first, second) = (pair[0] + 1, pair[1] + 1);
            let message =
                format!("row {second}: its time is that of row {first} of the same series; a time stands once");
            return Err(Error::Shape(message));
        }
        Ok((!order.is_sorted()).then_some(order))
    }
}

/// Marks a time that is not comparable.
const NO_TIME: u32 = u32::MAX;

/// Names of columns, numbered if not given.
pub fn names(given: &[String], columns: usize) -> Vec<String> {
    if given.len() == columns {
        return given.to_vec();
    }
    (0..columns).map(|column| format!("feature-{column}")).collect()
}

/// Whether the dataset's author named the columns.
pub fn are_named(own: &[String]) -> bool {
    own != names(&[], own.len())
}

/// Records that tables can be made from: arrays and sparse records.
pub trait TableRecords: Records {
    /// Cells of a column.
    fn cells(&self, column: usize) -> Cells;
}

impl<F: Float, D: Data<Elem = F>> TableRecords for ArrayBase<D, Ix2> {
    fn cells(&self, column: usize) -> Cells {
        let values: Vec<f64> = self.column(column).iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect();
        Cells::Numbers(values.into())
    }
}

/// Makes a table of some columns, given by name and index.
pub fn table(columns: impl Iterator<Item = (String, usize)>, records: &impl TableRecords) -> Result<Table> {
    let rows = records.nsamples();
    let columns: Vec<(String, Cells)> = columns.map(|(name, place)| (name, records.cells(place))).collect();
    if columns.is_empty() {
        // A table without columns still has rows.
        let mut table = Table::new(vec![(String::new(), Cells::Numbers(vec![0.0; rows].into()))])?;
        table.take_columns();
        return Ok(table);
    }
    Table::new(columns)
}
