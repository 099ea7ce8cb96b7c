//! One pass over the rows of files, in batches.

use super::cells::{RowCells, too_many};
use super::checkpoints::{Checkpoints, Key, RangeStore};
use super::file_rows::FileRows;
use super::first_pass::FirstPass;
use super::means::Filled;
use super::pass_state::{PassState, SetAside, TEST, joined, seen_missing, split};
use crate::column_types;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;
use vaglio_core::{Cells, Column, Columns, Error, Result, Table};
use vaglio_kernels::condensed::{CondensedCell, Condenser, RowBatch};
use vaglio_kernels::linalg::Failure;
use vaglio_pipeline::resample::Rows;
use vaglio_pipeline::resample::numeric::{numeric, unless_too_large};
use vaglio_tables::ColumnSurvey;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{BEYOND_DOUBLES, Batch, Hint, InferredType, Survey};

/// Rows of a sample.
pub(super) const SAMPLE: usize = 1 << 17;
/// Rows of a block, at most.
const HEIGHT: usize = 1 << 12;
/// The part of the memory that blocks and rows that stand for others may take.
const PART: f64 = 0.25;
/// Rows of a range, at least, and how many times as many as cells and columns make numbers.
const LEAST: usize = 1 << 17;
const TIMES: usize = 100;
/// Ranges of rows, at most.
const MOST_RANGES: usize = 64;

/// What a pass reads.
#[derive(Debug)]
pub(super) struct TablePass {
    pub files: FileRows,
    pub features: Vec<String>,
    pub hints: HashMap<String, Hint>,
    /// What is done to the rows before they are reduced.
    pub first: FirstPass,
    /// Rows of all files.
    pub rows: usize,
    pub budget: Budget,
    /// Whether the first rows are taken to be like all, and dealt over all cells.
    pub is_sample: bool,
}

/// Training rows of a batch behind the maps.
pub(super) struct Mapped {
    pub columns: Columns,
    pub names: Vec<String>,
    /// Their places among the labelled rows.
    pub place: Vec<u32>,
    pub survey: Survey,
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

impl TablePass {
    /// The rows of each cell reduced to few; `place` says which labelled one each row of the files is, and `test_rows` which are
    /// kept as they are. Cost O(rows · columns²).
    ///
    /// # Errors
    /// Those of reading; cells that are missing; [`Error::Setting`] for more cells than there is memory for.
    pub fn condensed(
        &self,
        labels: &Rows,
        place: &[u32],
        cells: &RowCells,
        test_rows: Option<&[usize]>,
        (mut checkpoints, ranges): (Option<&mut Checkpoints<'_>>, Option<&RangeStore>),
    ) -> Result<Condensed> {
        let test = SetAside::new(test_rows.unwrap_or_default());
        let bytes = 8 * test.rows.len() * self.features.len();
        self.budget.need(bytes as f64, "the test rows", "set fewer rows aside, or raise the limit")?;
        let unknown =
            |(name, is_in_folds): &(String, bool)| (Filled { column: name.clone(), value: f64::NAN }, *is_in_folds);
        let filled: Vec<(Filled, bool)> = self.first.filled.iter().map(unknown).collect();
        let empty =
            || PassState { condenser: None, names: Vec::new(), filled: filled.clone(), test: test.emptied(), seen: 0 };
        let begun = Instant::now();
        let key = (checkpoints.is_some() || ranges.is_some()).then(|| self.key(labels, place, cells, test_rows));
        let count = if self.is_sample { 1 } else { self.ranges(cells.count) };
        let of = |range: usize| range * self.rows / count..(range + 1) * self.rows / count;
        let rows = (labels, cells, place);
        let (mut all, mut before) = (empty(), 0);
        if let (Some(ranges), Some(key)) = (ranges, &key) {
            let made = |range: usize| -> Result<Vec<u8>> {
                let mut state = empty();
                self.go_on(&mut state, of(range), rows, |_, _| ranges.stop.check())?;
                Ok(state.bytes())
            };
            ranges.fill(key, count, made)?;
            for range in 0..count {
                let mut state = empty();
                let known = ranges.known(key, range).and_then(|known| state.restored(&known));
                known.ok_or_else(|| ranges.lost(key, range))?;
                all.append(state)?;
            }
        } else {
            let mut known =
                checkpoints.as_ref().zip(key.as_ref()).and_then(|(checkpoints, key)| checkpoints.known(key));
            let mut range = 0;
            while range < count {
                let mut state = empty();
                if let Some(both) = known.take().as_deref().and_then(|known| split(known, empty)) {
                    (all, state) = both;
                    before = all.seen + state.seen;
                    range = (0..count).find(|&range| of(range).end > all.seen).unwrap_or(count - 1);
                    tracing::info!("the pass over the table goes on behind row {before} of {}", self.rows);
                }
                let is_end = range + 1 == count;
                self.go_on(&mut state, of(range), rows, |state, is_last| match (&mut checkpoints, &key) {
                    (Some(checkpoints), Some(key)) => checkpoints.keep(key, is_last && is_end, || joined(&all, state)),
                    _ => Ok(()),
                })?;
                all.append(state)?;
                range += 1;
            }
        }
        let seen = all.seen - before;
        let seconds = begun.elapsed().as_secs_f64() * self.rows as f64 / seen.max(1) as f64;
        let PassState { condenser, mut names, filled, test, .. } = all;
        let mut cells = condenser.map_or_else(|| Ok(Vec::new()), Condenser::finish).map_err(failed)?;
        let found =
            |name: &String| ColumnSurvey { notation: None, ..ColumnSurvey::new(name.clone(), InferredType::Number) };
        let found = match self.first.survey.is_empty() {
            true => self.features.iter().map(found).collect(),
            false => self.first.survey.clone(),
        };
        let filled = seen_missing(filled, &mut names, &mut cells);
        Ok(Condensed { cells, names, filled, seconds, found, test: test.finish()? })
    }

    /// Into how many ranges of rows a pass is parted, whose reductions are put together: few enough that this costs little.
    pub fn ranges(&self, cells: usize) -> usize {
        let least = LEAST.max(TIMES * cells * (self.features.len() + 2));
        // Of text each range would be looked for from the beginning.
        if self.files.is_by_column() { (self.rows / least).clamp(1, MOST_RANGES) } else { 1 }
    }

    /// Takes in the rows of a range behind those that were seen, and tells after each batch, and whether that was the last.
    fn go_on(
        &self,
        state: &mut PassState,
        range: Range<usize>,
        rows: (&Rows, &RowCells, &[u32]),
        mut then: impl FnMut(&PassState, bool) -> Result<()>,
    ) -> Result<()> {
        let mut left = range.len().saturating_sub(state.seen);
        if left == 0 {
            return Ok(());
        }
        let mut reader = self.files.reader(&self.hinted(&self.features), &[])?;
        reader.skip(range.start + state.seen)?;
        let mut batch = reader.next_rows()?;
        while let Some(now) = batch {
            let now = now.first_rows(left);
            // The next rows are read meanwhile.
            let is_last = now.rows() == left;
            let read = || if is_last { Ok(None) } else { reader.next_rows() };
            let (next, done) = rayon::join(read, || self.take(now, state, rows));
            let done = done?;
            (state.seen, left) = (state.seen + done, left - done);
            batch = next?;
            if self.is_sample && state.seen >= SAMPLE {
                break;
            }
            then(state, batch.is_none())?;
        }
        Ok(())
    }

    /// Columns with how they are read.
    pub fn hinted(&self, names: &[String]) -> Vec<(String, Hint)> {
        names.iter().map(|name| (name.clone(), self.hint(name))).collect()
    }

    /// What a pass follows from: the files as the system knows them, the maps, and what the rows are.
    fn key(&self, labels: &Rows, place: &[u32], cells: &RowCells, test_rows: Option<&[usize]>) -> Key {
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(self.files.identity());
        // What memory there is parts the rows.
        let height = self.height(cells, self.features.len()).unwrap_or(0);
        hash.update([self.files.at_once().to_le_bytes(), height.to_le_bytes()].concat());
        let hints: Vec<Hint> = self.features.iter().map(|name| self.hint(name)).collect();
        hash.update(format!("{hints:?}"));
        hash.update(serde_json::to_vec(&(&self.features, &*self.first.maps, &self.first.filled)).unwrap_or_default());
        let mut words = |words: &mut dyn ExactSizeIterator<Item = u64>| {
            hash.update((words.len() as u64).to_le_bytes());
            words.for_each(|word| hash.update(word.to_le_bytes()));
        };
        words(&mut place.iter().map(|row| u64::from(*row)));
        words(&mut cells.of_row.iter().map(|cell| u64::from(*cell)));
        words(&mut test_rows.unwrap_or_default().iter().map(|row| *row as u64));
        words(&mut labels.targets.iter().map(|y| y.to_bits()));
        words(&mut labels.weights.iter().flatten().map(|weight| weight.to_bits()).collect::<Vec<u64>>().into_iter());
        hash.finalize().into()
    }

    fn hint(&self, name: &str) -> Hint {
        match self.hints.get(name) {
            Some(hint) => *hint,
            None => Hint::Auto,
        }
    }

    /// Takes the rows of a batch in; how many they are.
    fn take(
        &self,
        batch: Batch,
        state: &mut PassState,
        (labels, cells, place): (&Rows, &RowCells, &[u32]),
    ) -> Result<usize> {
        let (rows, first) = (batch.rows(), batch.first);
        state.test.take(&batch.columns, self.of_batch(&batch, place)?)?;
        if let Some(Mapped { columns, names, place, survey }) = self.mapped(batch, place, &mut state.filled)? {
            state.names = names;
            let pushed = self.push(&columns, &place, first, state, (labels, cells));
            pushed.map_err(|error| survey.located(error))?;
        }
        Ok(rows)
    }

    /// The places of the rows of a batch.
    fn of_batch<'p>(&self, batch: &Batch, place: &'p [u32]) -> Result<&'p [u32]> {
        place.get(batch.first..batch.first + batch.rows()).ok_or_else(|| {
            let message = "it was changed while it was read; try again when nothing writes to it".to_owned();
            Error::Unreadable { path: self.files.first().clone(), message }
        })
    }

    /// The training rows of a batch behind the maps, with columns that say where cells were missing; `None` where it has none.
    ///
    /// # Errors
    /// Those of the maps, with their places in the files.
    pub fn mapped(&self, batch: Batch, place: &[u32], filled: &mut [(Filled, bool)]) -> Result<Option<Mapped>> {
        let place = self.of_batch(&batch, place)?;
        let Batch { first, columns, survey } = batch;
        let is_beyond = |found: &&ColumnSurvey| found.note.as_deref() == Some(BEYOND_DOUBLES);
        if let Some(found) = survey.columns.iter().find(is_beyond)
            && let Some((name, cells)) = columns.iter().find(|(name, _)| *name == found.name)
        {
            return Err(column_types::beyond(name, cells, |row| survey.place(first + row), false));
        }
        let kept: Vec<usize> = (0..place.len()).filter(|&at| place[at] < TEST).collect();
        let mut table = Table::new(columns)?.following(first);
        if kept.len() < place.len() {
            table = table.select_rows(&kept);
        }
        if kept.is_empty() {
            return Ok(None);
        }
        let place: Vec<u32> = kept.iter().map(|&at| place[at]).collect();
        let (columns, names) = self.behind_maps(table, filled).map_err(|error| survey.located(error))?;
        Ok(Some(Mapped { columns, names, place, survey }))
    }

    fn behind_maps(&self, mut table: Table, filled: &mut [(Filled, bool)]) -> Result<(Columns, Vec<String>)> {
        let mut masks = vec![vec![0.0; table.rows()]; filled.len()];
        if !self.first.survey.is_empty() {
            // Columns without any value are no features.
            let empty = |name: &str| {
                self.first.survey.iter().any(|found| found.name == name && found.taken == InferredType::Empty)
            };
            let columns = table.take_columns().into_iter().filter(|(name, _)| !empty(name)).collect();
            table = table.with_columns(columns)?;
        }
        for map in self.first.maps.iter() {
            // A column may be one that an earlier map makes, and has missing cells until a map fills them.
            for ((filled, _), mask) in filled.iter().zip(&mut masks) {
                let cells = table.get(&filled.column).filter(|cells| cells.missing().is_some());
                if let Some(cells) = cells {
                    *mask = (0..table.rows()).map(|row| f64::from(u8::from(cells.is_missing(row)))).collect();
                }
            }
            unless_too_large(&**map, &table, self.budget)?;
            table = map.transform(table)?;
        }
        let (mut columns, mut names) = numeric(&mut table)?;
        for ((filled, _), mask) in filled.iter_mut().zip(masks) {
            let column = names.iter().position(|name| *name == filled.column);
            if let (true, Some(row), Some(column)) = (filled.value.is_nan(), mask.iter().position(|m| *m > 0.0), column)
            {
                filled.value = columns.column(column).get(row);
            }
            columns.push(mask);
            names.push(Filled::mask(&filled.column));
        }
        Ok((columns, names))
    }

    /// Reduces some rows, which stand at these places of the labels.
    fn push(
        &self,
        columns: &Columns,
        place: &[u32],
        first: usize,
        state: &mut PassState,
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
        if state.condenser.is_none() {
            state.condenser = Some(Condenser::new(cells.count, shifts(&columns), self.height(cells, columns.len())?));
        }
        let Some(condenser) = &mut state.condenser else { return Ok(()) };
        condenser.push(RowBatch { columns: &columns, cells: &of_rows, weights: weights.as_deref() }).map_err(failed)
    }

    /// Rows of a block, of so many columns and targets.
    ///
    /// # Errors
    /// [`Error::Setting`] for more cells than there is memory for.
    fn height(&self, cells: &RowCells, columns: usize) -> Result<usize> {
        let (side, room) = (columns + 1, PART * self.budget.limit() as f64);
        if cells.count > most_cells(self.budget, columns) {
            return Err(too_many(cells.count));
        }
        // Those of a range, and of all before it.
        Ok(((0.5 * room / (cells.count * side * 8) as f64) as usize).saturating_sub(2 * side).min(HEIGHT))
    }
}

/// How many cells of so many columns and targets there is memory for.
fn most_cells(budget: Budget, columns: usize) -> usize {
    (PART * budget.limit() as f64 / (32 * (columns + 1).pow(2)) as f64) as usize
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

pub(super) fn failed(failure: Failure) -> Error {
    Error::Numerical(format!("the moments of the columns: {failure}; rescale the columns"))
}

impl Condensed {
    /// Adds what the features are taken for, in the order of the header.
    pub fn surveyed(&self, survey: &mut Survey, header: &[String]) {
        let known = |column: &ColumnSurvey| !self.found.iter().any(|found| found.name == column.name);
        survey.columns.retain(known);
        survey.columns.extend(self.found.iter().cloned());
        survey.columns.sort_by_key(|column| header.iter().position(|name| *name == column.name));
    }

    /// The rows that were set aside, with their features; `None` where none was read.
    ///
    /// # Errors
    /// [`Error::Shape`] where they were not read, which does not occur.
    pub fn test_table(&self, mut aside: Table) -> Result<Option<Table>> {
        let features = &self.test;
        if features.is_empty() {
            return Ok(None);
        }
        let labels = aside.take_columns().into_iter().filter(|(name, _)| !features.iter().any(|(own, _)| own == name));
        let columns = labels.chain(features.iter().cloned()).collect();
        aside.with_columns(columns).map(Some)
    }
}
