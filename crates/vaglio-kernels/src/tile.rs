//! Rows of several columns, laid out so that eight rows are worked on as one.

use crate::Column;
use crate::f64x8::F64x8;
use crate::parallel;
use std::ops::Range;

/// Rows per tile: this many rows of a hundred columns stay in the second-level cache.
const ROWS: usize = 128;

/// Some rows of several columns, in chunks of eight rows: each chunk holds eight entries per column, padded with zeros.
///
/// Memory 8·columns·(rows rounded up to eight) bytes.
#[derive(Debug, Clone)]
pub struct Tile {
    rows: usize,
    columns: usize,
    chunks: Vec<Chunk>,
}

pub(crate) type Chunk = [f64; F64x8::WIDTH];

impl Tile {
    /// Creates a tile of zeros.
    pub fn new(rows: usize, columns: usize) -> Self {
        Tile { rows, columns, chunks: vec![[0.0; F64x8::WIDTH]; rows.div_ceil(F64x8::WIDTH) * columns] }
    }

    /// Copies the rows `rows` of the columns. Cost O(rows·columns).
    ///
    /// # Panics
    /// If a column is shorter.
    pub fn from_columns(columns: &[Column<'_>], rows: Range<usize>) -> Self {
        let mut tile = Tile::new(rows.len(), columns.len());
        for (k, column) in columns.iter().enumerate() {
            let values = column.rows(rows.start, rows.end).values();
            values.iter().enumerate().for_each(|(row, value)| tile.set(row, k, *value));
        }
        tile
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns an entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.chunks[row / F64x8::WIDTH * self.columns + column][row % F64x8::WIDTH]
    }

    /// Sets an entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.chunks[row / F64x8::WIDTH * self.columns + column][row % F64x8::WIDTH] = value;
    }

    /// Iterates over the entries of a column, in row order.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        (0..self.rows).map(move |row| self.get(row, column))
    }

    /// Whether every entry is a finite number.
    pub fn is_finite(&self) -> bool {
        let (whole, rest) = (self.rows / F64x8::WIDTH * self.columns, self.rows % F64x8::WIDTH);
        let (whole, last) = self.chunks.split_at(whole);
        whole.as_flattened().iter().all(|v| v.is_finite())
            && last.iter().all(|chunk| chunk[..rest].iter().all(|v| v.is_finite()))
    }

    /// All entries in memory order, padding included: for functions of single entries.
    pub fn entries(&mut self) -> &mut [f64] {
        self.chunks.as_flattened_mut()
    }

    /// Multiplies every column by its own factor.
    pub fn scale(&mut self, factor: impl Fn(usize) -> f64) {
        let factors: Vec<f64> = (0..self.columns).map(factor).collect();
        for eight in self.chunks.chunks_mut(self.columns.max(1)) {
            eight.iter_mut().zip(&factors).for_each(|(chunk, f)| chunk.iter_mut().for_each(|v| *v *= f));
        }
    }

    /// The entries of eight rows from 8·`chunk` on, column by column.
    pub(crate) fn eight(&self, chunk: usize) -> &[Chunk] {
        &self.chunks[chunk * self.columns..(chunk + 1) * self.columns]
    }

    pub(crate) fn eight_mut(&mut self, chunk: usize) -> &mut [Chunk] {
        &mut self.chunks[chunk * self.columns..(chunk + 1) * self.columns]
    }
}

/// Assembles `columns` columns of `rows` entries from tiles that `make` computes for ranges of rows, in parallel.
///
/// `make` must give a row the same entries in every range; then the bits depend neither on the tiles nor on the number
/// of threads.
///
/// # Errors
/// The first error of `make` in row order.
///
/// # Panics
/// If a tile has fewer columns.
pub fn by_tiles<E: Send>(
    rows: usize,
    columns: usize,
    make: impl Fn(Range<usize>) -> Result<Tile, E> + Sync,
) -> Result<Vec<Vec<f64>>, E> {
    let mut out = vec![vec![0.0; rows]; columns];
    let one = |at: usize, part: &mut [&mut [f64]]| {
        let tile = make(at * ROWS..rows.min((at + 1) * ROWS))?;
        for (k, to) in part.iter_mut().enumerate() {
            for (chunk, to) in to.chunks_mut(F64x8::WIDTH).enumerate() {
                to.copy_from_slice(&tile.eight(chunk)[k][..to.len()]);
            }
        }
        Ok(())
    };
    parallel::map_spans(&mut out, rows, ROWS, one).into_iter().collect::<Result<(), E>>()?;
    Ok(out)
}
