//! Matching of cells to the levels of the training rows.

use super::LearnedLevels;
use crate::numerals::normalize_number;
use crate::{Cells, LevelValues, Numbers, SparseNumbers};
use std::borrow::Cow;
use std::collections::HashMap;

/// The rows of each level of a column. A cell has the level of an equal text, or else the first level that is the same
/// number.
pub(super) struct RowsByLevel<'l> {
    known: &'l LearnedLevels,
    /// Rows by level; the last list is of other levels.
    rows: Vec<Vec<usize>>,
    missing: Vec<usize>,
    len: usize,
}

impl<'l> RowsByLevel<'l> {
    /// Finds the rows of all levels of some cells.
    pub fn new(known: &'l LearnedLevels, cells: &Cells) -> Self {
        // Levels by number, found for the first label without an equal text.
        let mut numbers: Option<HashMap<Cow<'static, str>, usize>> = None;
        let mut by_number = |label: &str| {
            let number = normalize_number(label)?;
            let numbers = numbers.get_or_insert_with(|| {
                let levels = known.levels.iter().enumerate().rev();
                levels.filter_map(|(place, level)| Some((normalize_number(level)?, place))).collect()
            });
            numbers.get(&number).copied()
        };
        let others = known.levels.len();
        let (mut rows, mut missing) = (vec![Vec::new(); others + 1], Vec::new());
        for row in 0..cells.len() {
            if cells.is_missing(row) {
                missing.push(row);
                continue;
            }
            let label = cells.text(row);
            let place = known.places.get(&*label).copied().or_else(|| by_number(&label));
            rows[place.unwrap_or(others)].push(row);
        }
        RowsByLevel { known, rows, missing, len: cells.len() }
    }

    /// The rows of other levels.
    pub fn others(&self) -> &[usize] {
        self.rows.last().map_or(&[], Vec::as_slice)
    }

    /// Values of a formula. Indicators of few of many rows are sparse.
    pub(super) fn values(&self, formula: &LevelValues) -> Numbers {
        let listed = formula.levels.iter();
        let listed = listed.filter_map(|(level, value)| Some((&self.rows[*self.known.places.get(level)?][..], *value)));
        let others = (self.others(), formula.other);
        let mut given: Vec<(&[usize], f64)> = listed.chain([others]).collect();
        let is_zero_else = formula.other == 0.0 || given.len() == self.rows.len();
        let is_indicator = is_zero_else && given.iter().all(|(_, value)| [0.0, 1.0].contains(value));
        given.retain(|(_, value)| !is_indicator || *value == 1.0);
        let ones: usize = given.iter().map(|(rows, _)| rows.len()).sum();
        let is_sparse = SparseNumbers::most_entries(self.len).is_some_and(|most| ones <= most);
        if is_indicator && is_sparse && self.missing.is_empty() {
            let mut rows: Vec<u32> = given.iter().flat_map(|(rows, _)| rows.iter().map(|&row| row as u32)).collect();
            rows.sort_unstable();
            // A level of a damaged model may be listed twice.
            rows.dedup();
            let ones = vec![1.0; rows.len()];
            return Numbers::Sparse(SparseNumbers::new(self.len, rows, ones));
        }
        let mut values = vec![if is_indicator { 0.0 } else { formula.other }; self.len];
        for (rows, value) in given {
            rows.iter().for_each(|&row| values[row] = value);
        }
        self.missing.iter().for_each(|&row| values[row] = formula.missing);
        Numbers::from(values)
    }
}
