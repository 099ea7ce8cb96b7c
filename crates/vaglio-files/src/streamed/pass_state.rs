//! The state of a pass over a table: what it has made so far.

use super::checkpoints::{StateReader, StateWriter};
use super::means::Filled;
use super::pass::failed;
use vaglio_core::{Cells, Error, Numbers, Result, Table};
use vaglio_kernels::condensed::{CondensedCell, Condenser, NO_CELL};

/// The state of a pass.
pub(super) struct PassState {
    pub condenser: Option<Condenser>,
    /// The names of the columns before the targets.
    pub names: Vec<String>,
    /// Columns whose missing cells are filled again, with what stands there, and whether in each fold.
    pub filled: Vec<(Filled, bool)>,
    pub test: SetAside,
    /// Rows of the files that were taken in.
    pub seen: usize,
}

impl PassState {
    /// As bytes, by which [`PassState::restored`] goes on.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = StateWriter::default();
        out.count(self.seen);
        out.words(&self.condenser.as_ref().map(Condenser::state).unwrap_or_default());
        out.count(self.names.len());
        self.names.iter().for_each(|name| out.text(name));
        out.doubles(&self.filled.iter().map(|(filled, _)| filled.value).collect::<Vec<f64>>());
        out.count(self.test.parts.len());
        for part in &self.test.parts {
            out.count(part.columns().len());
            for (name, cells) in part.columns() {
                out.text(name);
                match cells {
                    Cells::Numbers(numbers) => {
                        out.count(0);
                        out.doubles(&numbers.view().values());
                    }
                    Cells::Dates(dates) => {
                        out.count(1);
                        out.doubles(dates);
                    }
                    Cells::Text(text) => {
                        out.count(2);
                        out.count(text.len());
                        text.iter().for_each(|cell| out.text(cell));
                    }
                }
            }
        }
        out.0
    }

    /// The same pass behind the rows that another had taken in; `None` for bytes that are of none.
    pub fn restored(&mut self, bytes: &[u8]) -> Option<()> {
        let from = &mut StateReader(bytes);
        let seen = from.count()?;
        let words = from.words()?;
        let condenser = if words.is_empty() { None } else { Some(Condenser::of_state(&words)?) };
        let names: Vec<String> = (0..from.count()?).map(|_| from.text()).collect::<Option<_>>()?;
        let values = from.doubles().filter(|values| values.len() == self.filled.len())?;
        let cells = |from: &mut StateReader<'_>| -> Option<(String, Cells)> {
            let name = from.text()?;
            let cells = match from.count()? {
                0 => Cells::Numbers(Numbers::from(from.doubles()?)),
                1 => Cells::Dates(from.doubles()?),
                _ => Cells::Text((0..from.count()?).map(|_| from.text()).collect::<Option<_>>()?),
            };
            Some((name, cells))
        };
        let part = |from: &mut StateReader<'_>| {
            let columns: Option<Vec<(String, Cells)>> = (0..from.count()?).map(|_| cells(from)).collect();
            Table::new(columns?).ok()
        };
        let parts: Vec<Table> = (0..from.count()?).map(|_| part(from)).collect::<Option<_>>()?;
        if !from.0.is_empty() {
            return None;
        }
        (self.seen, self.condenser, self.names, self.test.parts) = (seen, condenser, names, parts);
        self.filled.iter_mut().zip(values).for_each(|((filled, _), value)| filled.value = value);
        Some(())
    }

    /// Takes in what was made of the rows that follow.
    ///
    /// # Errors
    /// [`Error::Numerical`] for numbers that overflow.
    pub fn append(&mut self, next: PassState) -> Result<()> {
        self.condenser = match (self.condenser.take(), next.condenser) {
            (Some(mut own), Some(next)) => {
                own.append(next).map_err(failed)?;
                Some(own)
            }
            (own, next) => own.or(next),
        };
        if self.names.is_empty() {
            self.names = next.names;
        }
        for ((own, _), (next, _)) in self.filled.iter_mut().zip(next.filled) {
            own.value = if own.value.is_nan() { next.value } else { own.value };
        }
        self.test.parts.extend(next.test.parts);
        self.seen += next.seen;
        Ok(())
    }
}

/// The state of a pass before a range of rows, and of that.
pub(super) fn joined(all: &PassState, range: &PassState) -> Vec<u8> {
    let (all, mut out) = (all.bytes(), StateWriter::default());
    out.count(all.len());
    [out.0, all, range.bytes()].concat()
}

/// Both again, behind passes that have taken in nothing.
pub(super) fn split(bytes: &[u8], empty: impl Fn() -> PassState) -> Option<(PassState, PassState)> {
    let mut from = StateReader(bytes);
    let length = from.count()?;
    let (whole, part) = from.0.split_at_checked(length)?;
    let (mut all, mut range) = (empty(), empty());
    all.restored(whole)?;
    range.restored(part)?;
    Some((all, range))
}

/// Rows that are kept as they are, in the order of the files.
pub(super) struct SetAside {
    pub rows: Vec<usize>,
    parts: Vec<Table>,
}

/// Where a row is one of these.
pub(super) const TEST: u32 = NO_CELL - 1;

/// Of each of so many rows of the files the place among the labelled rows, or which it is of the others: 4 bytes a row.
pub(super) fn places(rows: usize, labelled: &Table, test_rows: &[usize]) -> Vec<u32> {
    let mut place = vec![NO_CELL; rows];
    (0..labelled.rows()).for_each(|row| place[labelled.origin(row)] = row as u32);
    test_rows.iter().for_each(|&row| place[row] = TEST);
    place
}

impl SetAside {
    /// Those of the files.
    pub fn new(rows: &[usize]) -> Self {
        SetAside { rows: rows.to_vec(), parts: Vec::new() }
    }

    /// The same rows, of which none was read.
    pub fn emptied(&self) -> Self {
        SetAside { rows: self.rows.clone(), parts: Vec::new() }
    }

    pub fn take(&mut self, columns: &[(String, Cells)], place: &[u32]) -> Result<()> {
        let rows: Vec<usize> = (0..place.len()).filter(|&at| place[at] == TEST).collect();
        if !rows.is_empty() {
            let columns = columns.iter().map(|(name, cells)| (name.clone(), cells.select_rows(&rows)));
            self.parts.push(Table::new(columns.collect())?);
        }
        Ok(())
    }

    /// The columns, rows in the order that they were asked for; of a sample the last that was read stands for those that were not.
    pub fn finish(self) -> Result<Vec<(String, Cells)>> {
        let Some(first) = self.parts.first() else { return Ok(Vec::new()) };
        let mut sorted: Vec<usize> = self.rows.clone();
        sorted.sort_unstable();
        let last = self.parts.iter().map(Table::rows).sum::<usize>().saturating_sub(1);
        let place = |row| sorted.binary_search(row).ok().map(|place| place.min(last));
        let order: Vec<usize> = self.rows.iter().filter_map(place).collect();
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

/// The columns of which a row was seen to miss a cell. Another is filled with nothing, and needs no mask.
pub(super) fn seen_missing(
    filled: Vec<(Filled, bool)>,
    names: &mut Vec<String>,
    cells: &mut [CondensedCell],
) -> Vec<(Filled, bool)> {
    let (filled, whole): (Vec<_>, Vec<_>) = filled.into_iter().partition(|(filled, _)| !filled.value.is_nan());
    for (filled, _) in whole {
        let mask = Filled::mask(&filled.column);
        if let Some(at) = names.iter().position(|name| *name == mask) {
            names.remove(at);
            cells.iter_mut().for_each(|cell| drop(cell.columns.remove(at)));
        }
    }
    filled
}
