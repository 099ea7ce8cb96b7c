//! Matching of cells to the levels of the training rows.

use super::LearnedLevels;
use crate::numerals::normalized;
use crate::{Cells, Error, LevelValues, Numbers, Result, SparseNumbers, Table};
use std::borrow::Cow;
use std::collections::HashMap;

/// Finds a label among levels: an equal text, or else the first level that is the same number.
pub struct LevelFinder<'l> {
    levels: &'l [String],
    equal: HashMap<&'l str, usize>,
    /// Index of levels by number, built on the first label without an equal text.
    numbers: Option<HashMap<Cow<'static, str>, usize>>,
}

impl<'l> LevelFinder<'l> {
    /// A finder among these levels.
    pub fn new(levels: &'l [String]) -> Self {
        let equal = levels.iter().enumerate().map(|(place, level)| (level.as_str(), place)).collect();
        LevelFinder { levels, equal, numbers: None }
    }

    /// Index of the level that a label matches.
    pub fn place(&mut self, label: &str) -> Option<usize> {
        if let Some(place) = self.equal.get(label) {
            return Some(*place);
        }
        let label = normalized(label)?;
        let numbers = self.numbers.get_or_insert_with(|| {
            let numbers = self.levels.iter().enumerate().rev();
            numbers.filter_map(|(place, level)| Some((normalized(level)?, place))).collect()
        });
        numbers.get(&label).copied()
    }
}

/// The rows of each level of a column.
pub(super) struct RowsByLevel<'l> {
    finder: LevelFinder<'l>,
    /// Rows by level; the last list is of other levels.
    rows: Vec<Vec<usize>>,
    missing: Vec<usize>,
    len: usize,
}

impl<'l> RowsByLevel<'l> {
    /// Finds the rows of all levels of some cells.
    ///
    /// # Errors
    /// [`Error::Shape`] for a level that the map refuses, with row and column.
    pub fn new(known: &'l LearnedLevels, cells: &Cells, table: &Table) -> Result<Self> {
        let others = known.levels.len();
        let mut finder = LevelFinder::new(&known.levels);
        let (mut rows, mut missing) = (vec![Vec::new(); others + 1], Vec::new());
        for row in 0..cells.len() {
            if cells.is_missing(row) {
                missing.push(row);
                continue;
            }
            let label = cells.text(row);
            match (finder.place(&label), &known.refusal) {
                (None, Some(refusal)) => {
                    let (row, refusal) = (table.origin(row) + 1, refusal.replacen("{}", &label, 1));
                    return Err(Error::Shape(format!("row {row}, column `{}`: {refusal}", known.column)));
                }
                (place, _) => rows[place.unwrap_or(others)].push(row),
            }
        }
        Ok(RowsByLevel { finder, rows, missing, len: cells.len() })
    }

    /// Values of a formula. Indicators of few of many rows are sparse.
    pub fn values(&self, of: &LevelValues) -> Numbers {
        let place = |level: &str| self.finder.equal.get(level).copied();
        let listed = of.levels.iter().filter_map(|(level, value)| Some((&self.rows[place(level)?], *value)));
        let others = (&self.rows[self.rows.len() - 1], of.other);
        let mut given: Vec<(&Vec<usize>, f64)> = listed.chain([others]).collect();
        let is_zero_else = of.other == 0.0 || given.len() == self.rows.len();
        let is_indicator = is_zero_else && given.iter().all(|(_, value)| [0.0, 1.0].contains(value));
        given.retain(|(_, value)| !is_indicator || *value == 1.0);
        let ones: usize = given.iter().map(|(rows, _)| rows.len()).sum();
        let is_sparse = SparseNumbers::most_entries(self.len).is_some_and(|most| ones <= most);
        if is_indicator && is_sparse && self.missing.is_empty() {
            let mut rows: Vec<u32> = given.iter().flat_map(|(rows, _)| rows.iter().map(|&row| row as u32)).collect();
            rows.sort_unstable();
            return Numbers::Sparse(SparseNumbers::new(self.len, rows, vec![1.0; ones]));
        }
        let mut values = vec![if is_indicator { 0.0 } else { of.other }; self.len];
        for (rows, value) in given {
            rows.iter().for_each(|&row| values[row] = value);
        }
        self.missing.iter().for_each(|&row| values[row] = of.missing);
        Numbers::from(values)
    }
}
