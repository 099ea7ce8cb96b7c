//! Entries of a sparse matrix in any order, from which its columns are built.

use super::{SMALLER, unreadable};
use crate::budget::Budget;
use std::path::Path;
use vaglio_core::{Error, Result, SparseNumbers};

/// Matrix entries by row and column, in any order.
pub(super) struct Triplets {
    /// Numbers of rows and columns of the matrix.
    pub shape: [usize; 2],
    pub rows: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
    /// Whether duplicate entries are added up; otherwise they are rejected.
    pub adds: bool,
}

/// Bytes of an entry while columns are built, and of a column without its entries, including its name.
const ENTRY: usize = 2 * (2 * size_of::<u32>() + size_of::<f64>());
pub(super) const COLUMN: usize = size_of::<SparseNumbers>() + size_of::<String>() + 32;
/// Maximum number of entries preallocated: a file may claim more than it has.
const ROOM: usize = 1 << 24;
/// Maximum number of rows and of columns.
const MOST: usize = u32::MAX as usize;

impl Triplets {
    /// Creates an empty matrix of a shape, with capacity for about `entries`. Checks the memory limit first.
    ///
    /// # Errors
    /// Fails for a matrix without rows or columns, or with more than 2³² of either; [`Error::Setting`] at
    /// `limits.memory`.
    pub fn new(path: &Path, shape: [usize; 2], entries: usize, budget: Budget) -> Result<Self> {
        for (count, what) in shape.iter().zip(["rows", "columns"]) {
            if *count == 0 || *count > MOST {
                return Err(unreadable(path, format!("it has {count} {what}, and from 1 to {MOST} are read")));
            }
        }
        let bytes = ENTRY as f64 * entries as f64 + COLUMN as f64 * shape[1] as f64;
        budget.need(bytes, path.display(), SMALLER)?;
        let capacity = entries.min(ROOM);
        Ok(Triplets {
            shape,
            rows: Vec::with_capacity(capacity),
            columns: Vec::with_capacity(capacity),
            values: Vec::with_capacity(capacity),
            adds: false,
        })
    }

    /// Adds an entry.
    pub fn push(&mut self, row: usize, column: usize, value: f64) {
        self.rows.push(row as u32);
        self.columns.push(column as u32);
        self.values.push(value);
    }

    /// Builds the columns. Cost O(entries + columns), plus sorting if rows are unordered.
    ///
    /// # Errors
    /// [`Error::NonFinite`] for an infinity; [`Error::Unreadable`] for duplicate entries that are not added up.
    pub fn columns(self, path: &Path, names: &[String]) -> Result<Vec<SparseNumbers>> {
        let Triplets { shape: [rows, columns], rows: row_numbers, columns: column_numbers, values, adds } = self;
        let mut starts = vec![0usize; columns + 1];
        column_numbers.iter().for_each(|&column| starts[column as usize + 1] += 1);
        (0..columns).for_each(|column| starts[column + 1] += starts[column]);
        let mut next = starts.clone();
        let mut sorted = vec![(0u32, 0.0f64); values.len()];
        for ((&row, &column), &value) in row_numbers.iter().zip(&column_numbers).zip(&values) {
            let place = &mut next[column as usize];
            sorted[*place] = (row, value);
            *place += 1;
        }
        drop((row_numbers, column_numbers, values, next));
        let mut all = Vec::with_capacity(columns);
        for (own, name) in starts.windows(2).zip(names) {
            let entries = &mut sorted[own[0]..own[1]];
            entries.sort_by_key(|(row, _)| *row);
            let (mut own, mut numbers) = (Vec::with_capacity(entries.len()), Vec::<f64>::with_capacity(entries.len()));
            for &(row, value) in entries.iter() {
                match numbers.last_mut() {
                    Some(last) if own.last() == Some(&row) && adds => *last += value,
                    Some(_) if own.last() == Some(&row) => {
                        let message = format!("row {}, column `{name}`: it has two entries", row + 1);
                        return Err(unreadable(path, message));
                    }
                    _ => {
                        own.push(row);
                        numbers.push(value);
                    }
                }
            }
            if let Some(at) = numbers.iter().position(|value| value.is_infinite()) {
                let count = numbers.iter().filter(|value| value.is_infinite()).count();
                let (row, value, file) = (own[at] as usize + 1, numbers[at].to_string(), Some(path.to_owned()));
                return Err(Error::NonFinite { row, column: name.clone(), value, count, file, remedy: None });
            }
            all.push(SparseNumbers::new(rows, own, numbers));
        }
        Ok(all)
    }
}
