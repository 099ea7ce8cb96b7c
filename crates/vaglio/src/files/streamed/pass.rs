//! One pass over the rows of files, in batches.

use super::cells::{RowCells, too_many};
use super::file_rows::FileRows;
use crate::resample::Rows;
use std::collections::HashMap;
use std::time::Instant;
use vaglio_core::{Cells, Column, Error, Numbers, Result, Table};
use vaglio_kernels::condensed::{CondensedCell, Condenser, NO_CELL, RowBatch};
use vaglio_kernels::linalg::Failure;
use vaglio_tables::ColumnSurvey;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{Batch, Hint, InferredType, Survey};

/// Rows of a sample.
const SAMPLE: usize = 1 << 17;
/// Rows of a block, at most.
const HEIGHT: usize = 1 << 12;
/// The part of the memory that blocks and rows that stand for others may take.
const PART: f64 = 0.25;

/// What a pass reads.
pub(super) struct TablePass<'p> {
    pub files: &'p FileRows,
    pub features: &'p [String],
    pub hints: &'p HashMap<String, Hint>,
    /// Rows of all files.
    pub rows: usize,
    pub budget: Budget,
    /// Whether the first rows are taken to be like all, and dealt over all cells.
    pub is_sample: bool,
}

/// What a pass has made.
pub(super) struct Condensed {
    pub cells: Vec<CondensedCell>,
    /// Seconds of the pass; of a sample those that all rows would take.
    pub seconds: f64,
    /// What the features are taken for.
    found: Vec<ColumnSurvey>,
    /// Where the test rows stand in the files, and their features.
    test: (Vec<usize>, Vec<(String, Vec<f64>)>),
}

impl TablePass<'_> {
    /// The rows of each cell reduced to few; `origins` says where the labelled rows stand in the files, and `test_rows` which are
    /// kept as they are. Cost O(rows · columns²).
    ///
    /// # Errors
    /// Those of reading; cells that are missing; [`Error::Setting`] for more cells than there is memory for.
    pub fn condensed(
        &self,
        labels: &Rows,
        origins: &[usize],
        cells: &RowCells,
        test_rows: Option<&[usize]>,
    ) -> Result<Condensed> {
        let side = self.features.len() + labels.targets.nrows() + 1;
        let room = PART * self.budget.limit() as f64;
        let bytes = |height: usize| (cells.count * side * (2 * side + height) * 8) as f64;
        if bytes(2 * side) > room {
            return Err(too_many(cells.count));
        }
        let height = ((room / (cells.count * side * 8) as f64) as usize).saturating_sub(2 * side).min(HEIGHT);
        let mut place = vec![NO_CELL; self.rows];
        origins.iter().enumerate().for_each(|(row, &origin)| place[origin] = row as u32);
        let mut test = SetAside::new(test_rows.unwrap_or_default(), self);
        self.budget.need(test.bytes(), "the test rows", "set fewer rows aside, or raise the limit")?;
        let columns: Vec<(String, Hint)> = self.features.iter().map(|name| (name.clone(), self.hint(name))).collect();
        let mut condenser: Option<Condenser> = None;
        let (mut seen, begun) = (0, Instant::now());
        let mut reader = self.files.reader(&columns, &[])?;
        let mut batch = reader.next_rows()?;
        while let Some(now) = batch {
            // The next rows are read meanwhile.
            let (next, done) = rayon::join(
                || reader.next_rows(),
                || self.take(&now, (&mut condenser, &mut test), (labels, cells, &place), height),
            );
            done?;
            seen += rows_of(&now);
            if self.is_sample && seen >= SAMPLE {
                break;
            }
            batch = next?;
        }
        let seconds = begun.elapsed().as_secs_f64() * self.rows as f64 / seen.max(1) as f64;
        let cells = condenser.map_or_else(|| Ok(Vec::new()), Condenser::finish).map_err(failed)?;
        let found = |name: &String| ColumnSurvey {
            name: name.clone(),
            taken: InferredType::Number,
            missing: 0,
            first_missing: None,
            levels: 0,
            note: None,
        };
        Ok(Condensed {
            cells,
            seconds,
            found: self.features.iter().map(found).collect(),
            test: (test.rows, test.columns),
        })
    }

    fn hint(&self, name: &str) -> Hint {
        match self.hints.get(name) {
            Some(hint) if *hint != Hint::Auto => *hint,
            _ if self.files.is_typed(name) => Hint::Auto,
            _ => Hint::Number,
        }
    }

    /// Takes the rows of a batch in.
    fn take(
        &self,
        batch: &Batch,
        (condenser, test): (&mut Option<Condenser>, &mut SetAside),
        (labels, cells, place): (&Rows, &RowCells, &[u32]),
        height: usize,
    ) -> Result<()> {
        let rows = rows_of(batch);
        let place = place.get(batch.first..batch.first + rows).ok_or_else(|| {
            let message = "it was changed while it was read; try again when nothing writes to it".to_owned();
            Error::Unreadable { path: self.files.first().clone(), message }
        })?;
        let mut columns: Vec<Column<'_>> = Vec::new();
        for (name, cells) in &batch.columns {
            columns.push(numbers(name, cells).map_err(|error| batch.survey.located(following(error, batch.first)))?);
        }
        let own = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            place.iter().map(|&row| if row == NO_CELL { 0.0 } else { of(row as usize) }).collect()
        };
        let targets: Vec<Vec<f64>> = labels.targets.rows().into_iter().map(|target| own(&|row| target[row])).collect();
        columns.extend(targets.iter().map(|target| Column::Double(target)));
        let weights = labels.weights.as_ref().map(|weights| own(&|row| weights[row]));
        let cell = |(at, &row): (usize, &u32)| match row {
            NO_CELL => NO_CELL,
            _ if self.is_sample => ((batch.first + at) % cells.count) as u32,
            row => cells.of_row[row as usize],
        };
        let of_rows: Vec<u32> = place.iter().enumerate().map(cell).collect();
        test.take(&columns, rows);
        let condenser = condenser.get_or_insert_with(|| Condenser::new(cells.count, shifts(&columns), height));
        let batch = RowBatch { columns: &columns, cells: &of_rows, weights: weights.as_deref() };
        condenser.push(batch).map_err(failed)
    }
}

fn rows_of(batch: &Batch) -> usize {
    batch.columns.first().map_or(0, |(_, cells)| cells.len())
}

/// A number near the entries of each column: that of all where all are equal, else the mean.
fn shifts(columns: &[Column<'_>]) -> Vec<f64> {
    let shift = |column: &Column<'_>| {
        let values = column.values();
        match column.is_constant() {
            true => values[0],
            false => values.iter().map(|x| x / values.len() as f64).sum(),
        }
    };
    columns.iter().map(shift).collect()
}

/// The numbers of a column, none of which is missing.
fn numbers<'c>(name: &str, cells: &'c Cells) -> Result<Column<'c>> {
    let Some(column) = cells.numbers() else {
        let message = format!(
            "the column `{name}` holds {}, and tables that are read in batches hold numbers; map it in the file before, or add the column to \
             data.exclude",
            cells.what()
        );
        return Err(Error::setting("preprocess", message));
    };
    match cells.missing() {
        None => Ok(column),
        Some(missing) => Err(Error::NonFinite {
            row: missing.first + 1,
            column: name.to_owned(),
            value: "a missing cell".into(),
            count: missing.count,
            file: None,
            remedy: Some(
                "tables that are read in batches have no missing cells; fill them in the file before, or add the column to data.exclude".into(),
            ),
        }),
    }
}

/// An error about a row of a batch as one of its file.
fn following(error: Error, first: usize) -> Error {
    match error {
        Error::NonFinite { row, column, value, count, file, remedy } => {
            Error::NonFinite { row: row + first, column, value, count, file, remedy }
        }
        other => other,
    }
}

fn failed(failure: Failure) -> Error {
    Error::Numerical(format!("the moments of the columns: {failure}; rescale the columns"))
}

/// Rows that are kept as they are.
struct SetAside {
    rows: Vec<usize>,
    /// The places among these, in the order of the files.
    order: Vec<usize>,
    next: usize,
    seen: usize,
    columns: Vec<(String, Vec<f64>)>,
}

impl SetAside {
    fn new(rows: &[usize], pass: &TablePass<'_>) -> Self {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|&at| rows[at]);
        let columns = pass.features.iter().map(|name| (name.clone(), Vec::new())).collect();
        SetAside { rows: rows.to_vec(), order, next: 0, seen: 0, columns }
    }

    fn bytes(&self) -> f64 {
        8.0 * self.rows.len() as f64 * self.columns.len() as f64
    }

    fn take(&mut self, columns: &[Column<'_>], rows: usize) {
        while let Some(&at) = self.order.get(self.next).filter(|&&at| self.rows[at] < self.seen + rows) {
            let row = self.rows[at] - self.seen;
            for ((_, kept), column) in self.columns.iter_mut().zip(columns) {
                kept.resize(self.rows.len(), 0.0);
                kept[at] = column.get(row);
            }
            self.next += 1;
        }
        self.seen += rows;
    }
}

impl Condensed {
    /// Adds what the features are taken for, in the order of the header.
    pub fn surveyed(&self, survey: &mut Survey, header: &[String]) {
        let known = |column: &ColumnSurvey| !self.found.iter().any(|found| found.name == column.name);
        survey.columns.retain(known);
        survey.columns.extend(self.found.iter().cloned());
        survey.columns.sort_by_key(|column| header.iter().position(|name| *name == column.name));
    }

    /// The rows that were set aside, with their features.
    ///
    /// # Errors
    /// [`Error::Shape`] where they were not read, which does not occur.
    pub fn test_table(&self, mut aside: Table) -> Result<Table> {
        let features =
            self.test.1.iter().map(|(name, values)| (name.clone(), Cells::Numbers(Numbers::from(values.clone()))));
        let features: Vec<(String, Cells)> = features.collect();
        let labels = aside.take_columns().into_iter().filter(|(name, _)| !features.iter().any(|(own, _)| own == name));
        let columns = labels.chain(features.iter().cloned()).collect();
        aside.with_columns(columns)
    }
}
