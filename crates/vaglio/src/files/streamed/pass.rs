//! One pass over the rows of files, in batches.

use super::cells::{RowCells, too_many};
use super::file_rows::FileRows;
use super::first_pass::FirstPass;
use super::means::Filled;
use crate::resample::Rows;
use crate::resample::numeric::{numeric, unless_too_large};
use std::collections::HashMap;
use std::time::Instant;
use vaglio_core::{Cells, Column, Columns, Error, Numbers, Result, Table};
use vaglio_kernels::condensed::{CondensedCell, Condenser, NO_CELL, RowBatch};
use vaglio_kernels::linalg::Failure;
use vaglio_tables::ColumnSurvey;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{Batch, Hint, InferredType, Survey};

/// Rows of a sample.
pub(super) const SAMPLE: usize = 1 << 17;
/// Rows of a block, at most.
const HEIGHT: usize = 1 << 12;
/// The part of the memory that blocks and rows that stand for others may take.
const PART: f64 = 0.25;

/// What a pass reads.
pub(super) struct TablePass<'p> {
    pub files: &'p FileRows,
    pub features: &'p [String],
    pub hints: &'p HashMap<String, Hint>,
    /// What is done to the rows before they are reduced.
    pub first: &'p FirstPass,
    /// Rows of all files.
    pub rows: usize,
    pub budget: Budget,
    /// Whether the first rows are taken to be like all, and dealt over all cells.
    pub is_sample: bool,
}

/// What a pass has made.
pub(super) struct Condensed {
    pub cells: Vec<CondensedCell>,
    /// The names of the columns before the targets.
    pub names: Vec<String>,
    /// Columns whose missing cells are filled again, with what stands there, and whether in each fold.
    pub filled: Vec<(Filled, bool)>,
    /// Seconds of the pass; of a sample those that all rows would take.
    pub seconds: f64,
    /// What the features are taken for.
    found: Vec<ColumnSurvey>,
    /// Where the test rows stand in the files, and their features.
    test: Vec<(String, Cells)>,
}

/// What a pass makes.
struct Making {
    condenser: Option<Condenser>,
    names: Vec<String>,
    filled: Vec<(Filled, bool)>,
    test: SetAside,
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
        let mut place = vec![NO_CELL; self.rows];
        origins.iter().enumerate().for_each(|(row, &origin)| place[origin] = row as u32);
        let test = SetAside::new(test_rows.unwrap_or_default(), &mut place);
        let bytes = 8.0 * (test.rows.len() * self.features.len()) as f64;
        self.budget.need(bytes, "the test rows", "set fewer rows aside, or raise the limit")?;
        let unknown =
            |(column, is_in_folds): &(String, bool)| (Filled { column: column.clone(), value: f64::NAN }, *is_in_folds);
        let filled = self.first.filled.iter().map(unknown).collect();
        let mut making = Making { condenser: None, names: Vec::new(), filled, test };
        let columns: Vec<(String, Hint)> = self.features.iter().map(|name| (name.clone(), self.hint(name))).collect();
        let (mut seen, begun) = (0, Instant::now());
        let mut reader = self.files.reader(&columns, &[])?;
        let mut batch = reader.next_rows()?;
        while let Some(now) = batch {
            // The next rows are read meanwhile.
            let (next, done) =
                rayon::join(|| reader.next_rows(), || self.take(now, &mut making, (labels, cells, &place)));
            seen += done?;
            if self.is_sample && seen >= SAMPLE {
                break;
            }
            batch = next?;
        }
        let seconds = begun.elapsed().as_secs_f64() * self.rows as f64 / seen.max(1) as f64;
        let Making { condenser, names, filled, test } = making;
        let cells = condenser.map_or_else(|| Ok(Vec::new()), Condenser::finish).map_err(failed)?;
        let found = |name: &String| ColumnSurvey {
            name: name.clone(),
            taken: InferredType::Number,
            missing: 0,
            first_missing: None,
            levels: 0,
            note: None,
        };
        let found = match self.first.survey.is_empty() {
            true => self.features.iter().map(found).collect(),
            false => self.first.survey.clone(),
        };
        // A column that no row was seen to miss is filled with nothing.
        let filled = filled.into_iter().filter(|(filled, _)| !filled.value.is_nan()).collect();
        Ok(Condensed { cells, names, filled, seconds, found, test: test.finish()? })
    }

    fn hint(&self, name: &str) -> Hint {
        match self.hints.get(name) {
            Some(hint) if *hint != Hint::Auto => *hint,
            _ if self.files.is_typed(name) => Hint::Auto,
            _ => Hint::Number,
        }
    }

    /// Takes the rows of a batch in; how many they are.
    fn take(
        &self,
        batch: Batch,
        making: &mut Making,
        (labels, cells, place): (&Rows, &RowCells, &[u32]),
    ) -> Result<usize> {
        let Batch { first, columns, survey } = batch;
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        let place = place.get(first..first + rows).ok_or_else(|| {
            let message = "it was changed while it was read; try again when nothing writes to it".to_owned();
            Error::Unreadable { path: self.files.first().clone(), message }
        })?;
        making.test.take(&columns, place)?;
        let kept: Vec<usize> = (0..rows).filter(|&at| place[at] < TEST).collect();
        let mut table = Table::new(columns)?.following(first);
        if kept.len() < rows {
            table = table.select_rows(&kept);
        }
        if !kept.is_empty() {
            let place: Vec<u32> = kept.iter().map(|&at| place[at]).collect();
            self.mapped(table, making)
                .and_then(|columns| self.push(&columns, &place, first, making, (labels, cells)))
                .map_err(|error| survey.located(error))?;
        }
        Ok(rows)
    }

    /// The columns of some rows behind the maps, and those that say where cells were missing.
    fn mapped(&self, mut table: Table, making: &mut Making) -> Result<Columns> {
        let is_missing = |name: &String| -> Vec<f64> {
            let cells = table.get(name);
            let is_missing = |row| cells.is_some_and(|cells| cells.is_missing(row));
            (0..table.rows()).map(|row| f64::from(u8::from(is_missing(row)))).collect()
        };
        let masks: Vec<Vec<f64>> = making.filled.iter().map(|(filled, _)| is_missing(&filled.column)).collect();
        if !self.first.survey.is_empty() {
            // Columns without any value are no features.
            let empty = |name: &str| {
                self.first.survey.iter().any(|found| found.name == name && found.taken == InferredType::Empty)
            };
            let columns = table.take_columns().into_iter().filter(|(name, _)| !empty(name)).collect();
            table = table.with_columns(columns)?;
        }
        for map in self.first.maps.iter() {
            unless_too_large(&**map, &table, self.budget)?;
            table = map.transform(table)?;
        }
        let (mut columns, mut names) = numeric(&mut table)?;
        for ((filled, _), mask) in making.filled.iter_mut().zip(masks) {
            let column = names.iter().position(|name| *name == filled.column);
            if let (true, Some(row), Some(column)) = (filled.value.is_nan(), mask.iter().position(|m| *m > 0.0), column)
            {
                filled.value = columns.column(column).get(row);
            }
            columns.push(mask);
            names.push(Filled::mask(&filled.column));
        }
        making.names = names;
        Ok(columns)
    }

    /// Reduces some rows, which stand at these places of the labels.
    fn push(
        &self,
        columns: &Columns,
        place: &[u32],
        first: usize,
        making: &mut Making,
        (labels, cells): (&Rows, &RowCells),
    ) -> Result<()> {
        let own = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { place.iter().map(|&row| of(row as usize)).collect() };
        let targets: Vec<Vec<f64>> = labels.targets.rows().into_iter().map(|target| own(&|row| target[row])).collect();
        let columns = (0..columns.len()).map(|k| columns.column(k));
        let columns: Vec<Column<'_>> = columns.chain(targets.iter().map(|target| Column::Double(target))).collect();
        let weights = labels.weights.as_ref().map(|weights| own(&|row| weights[row]));
        let cell = |(at, &row): (usize, &u32)| match self.is_sample {
            true => ((first + at) % cells.count) as u32,
            false => cells.of_row[row as usize],
        };
        let of_rows: Vec<u32> = place.iter().enumerate().map(cell).collect();
        if making.condenser.is_none() {
            making.condenser = Some(Condenser::new(cells.count, shifts(&columns), self.height(cells, columns.len())?));
        }
        let Some(condenser) = &mut making.condenser else { return Ok(()) };
        condenser.push(RowBatch { columns: &columns, cells: &of_rows, weights: weights.as_deref() }).map_err(failed)
    }

    /// Rows of a block, of so many columns and targets.
    ///
    /// # Errors
    /// [`Error::Setting`] for more cells than there is memory for.
    fn height(&self, cells: &RowCells, columns: usize) -> Result<usize> {
        let (side, room) = (columns + 1, PART * self.budget.limit() as f64);
        if (cells.count * side * (4 * side) * 8) as f64 > room {
            return Err(too_many(cells.count));
        }
        Ok(((room / (cells.count * side * 8) as f64) as usize).saturating_sub(2 * side).min(HEIGHT))
    }
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

fn failed(failure: Failure) -> Error {
    Error::Numerical(format!("the moments of the columns: {failure}; rescale the columns"))
}

/// Rows that are kept as they are, in the order of the files.
struct SetAside {
    rows: Vec<usize>,
    parts: Vec<Table>,
}

/// Where a row is one of these.
const TEST: u32 = NO_CELL - 1;

impl SetAside {
    /// Marks the rows among the places.
    fn new(rows: &[usize], place: &mut [u32]) -> Self {
        rows.iter().for_each(|&row| place[row] = TEST);
        SetAside { rows: rows.to_vec(), parts: Vec::new() }
    }

    fn take(&mut self, columns: &[(String, Cells)], place: &[u32]) -> Result<()> {
        let rows: Vec<usize> = (0..place.len()).filter(|&at| place[at] == TEST).collect();
        if !rows.is_empty() {
            let columns = columns.iter().map(|(name, cells)| (name.clone(), cells.select_rows(&rows)));
            self.parts.push(Table::new(columns.collect())?);
        }
        Ok(())
    }

    /// The columns, rows in the order that they were asked for.
    fn finish(self) -> Result<Vec<(String, Cells)>> {
        let Some(first) = self.parts.first() else { return Ok(Vec::new()) };
        let mut sorted: Vec<usize> = self.rows.clone();
        sorted.sort_unstable();
        let order: Vec<usize> = self.rows.iter().filter_map(|row| sorted.binary_search(row).ok()).collect();
        let column = |(at, (name, _)): (usize, &(String, Cells))| {
            let parts = self.parts.iter().map(|part| &part.columns()[at].1);
            Ok((name.clone(), together(parts)?.select_rows(&order)))
        };
        first.columns().iter().enumerate().map(column).collect()
    }
}

/// Cells of one kind, one part after the other.
fn together<'c>(parts: impl Iterator<Item = &'c Cells> + Clone) -> Result<Cells> {
    let mut all = parts.clone().peekable();
    let other = || Error::Shape("a column is of another kind than before".into());
    match all.peek() {
        Some(Cells::Text(_)) => {
            let text = |cells: &Cells| if let Cells::Text(text) = cells { Some(text.clone()) } else { None };
            let text: Option<Vec<Vec<String>>> = all.map(text).collect();
            Ok(Cells::Text(text.ok_or_else(other)?.concat()))
        }
        Some(Cells::Dates(_)) => {
            let dates = |cells: &Cells| if let Cells::Dates(dates) = cells { Some(dates.clone()) } else { None };
            let dates: Option<Vec<Vec<f64>>> = all.map(dates).collect();
            Ok(Cells::Dates(dates.ok_or_else(other)?.concat()))
        }
        _ => {
            let numbers = |cells: &Cells| cells.numbers().map(|column| column.values().into_owned());
            let numbers: Option<Vec<Vec<f64>>> = all.map(numbers).collect();
            Ok(Cells::Numbers(Numbers::from(numbers.ok_or_else(other)?.concat())))
        }
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
        let features = &self.test;
        let labels = aside.take_columns().into_iter().filter(|(name, _)| !features.iter().any(|(own, _)| own == name));
        let columns = labels.chain(features.iter().cloned()).collect();
        aside.with_columns(columns)
    }
}
