//! Sums of products over blocks of rows: one read of the columns serves the training rows of all folds.
//!
//! Rows with the same training sets form a block, whose sums are added up for each training set and never subtracted,
//! so they lose no digits. Entries are gathered tile by tile. A fold reads its own rows instead if: its means lie far
//! from the overall means; rows are weighted; there are more than 32 blocks; a block has fewer than 512 rows, so that
//! sums would take as much memory as the columns.

mod row_blocks;

pub(crate) use row_blocks::RowBlocks;

use crate::f64x8::F64x8;
use crate::parallel;
use crate::sums::{LaneSums, add_products, product};
use crate::sweep::{PANEL, Placed, Sweep, TOGETHER};
use crate::{Column, ColumnEntries, Level};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Sums of columns over blocks of rows. They are plain sums of products, so adding blocks loses no digits.
///
/// With an intercept, columns and targets are shifted by their means over all rows. Memory 8·n bytes for each block and
/// each requested column.
#[derive(Debug)]
pub struct BlockSums {
    level: Level,
    intercept: bool,
    /// Block of each stored row; `None` for rows that are not chosen.
    labels: Vec<Option<u32>>,
    /// Number of rows of each block.
    counts: Vec<usize>,
    /// Stored rows; within a tile ordered by block.
    order: Vec<u32>,
    tiles: Vec<Vec<BlockRun>>,
    active: Vec<bool>,
    /// Shift of each column; 0 without an intercept.
    shifts: Vec<f64>,
    /// Σ(x_i − shift), 0 without an intercept, and Σ(x_i − shift)², as blocks × columns.
    sums: [Vec<f64>; 2],
    /// Sum and sum of squares of each centered output, by block.
    targets: Vec<[Vec<f64>; 2]>,
    /// Cached products with columns and targets, as blocks × columns.
    known: Mutex<HashMap<GramRow, Arc<[f64]>>>,
}

/// A row of the Gram matrix: products of every column with one column or target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum GramRow {
    Column(usize),
    Target(usize),
}

/// Rows of one block in a tile, as a range of `order`.
#[derive(Debug)]
struct BlockRun {
    block: usize,
    places: Range<usize>,
}

/// Maximum number of blocks; with more, each has few rows of a tile.
const MOST_BLOCKS: usize = 32;
/// Minimum rows per block: the sums of a column then take little memory beside the column.
const ROWS_OF_BLOCK: usize = 512;
/// Stored rows per tile: four columns of them stay in the first-level cache.
const TILE: usize = 1 << 10;

impl BlockSums {
    /// Computes sums of the `active` columns; each row has a block label. One read of the columns, cost O(m·n).
    ///
    /// Returns `None` if there are too many blocks, too few rows per block, or numbers overflow.
    pub fn new(
        level: Level,
        entries: &ColumnEntries<'_>,
        active: &[bool],
        labels: &[u32],
        targets: &[&[f64]],
        intercept: bool,
    ) -> Option<Self> {
        let (stored, rows) = (entries.stored(), labels.len());
        let count = *labels.iter().max()? as usize + 1;
        if count > MOST_BLOCKS || count * ROWS_OF_BLOCK > rows {
            return None;
        }
        let mut counts = vec![0; count];
        labels.iter().for_each(|&label| counts[label as usize] += 1);
        let mut of_stored = vec![None; stored.first()?.len()];
        entries.rows(rows).iter().zip(labels).for_each(|(&row, label)| of_stored[row] = Some(*label));
        let (order, tiles) = in_tiles(&of_stored, count);
        // As in [`Data::from_input`](crate::Data::from_input), so that searches on all rows have the same bits.
        let counted = entries.spread(&vec![1.0; rows]).into_owned();
        let mean = |x: Column<'_>, shift: f64| shift + product(level, x, shift, &counted) / rows as f64;
        let shift = |column: usize| match (intercept && active[column], stored[column]) {
            (false, _) => 0.0,
            (true, x) => mean(x, mean(x, 0.0)),
        };
        let mut blocks = BlockSums {
            level,
            intercept,
            labels: of_stored,
            counts,
            order,
            tiles,
            active: active.to_vec(),
            shifts: parallel::map(stored.len(), shift),
            sums: [Vec::new(), Vec::new()],
            targets: Vec::new(),
            known: Mutex::default(),
        };
        let in_order: Vec<Vec<f64>> = targets.iter().map(|y| blocks.target(entries, y)).collect();
        let none = || vec![0.0; count];
        let of_target =
            |y: &Vec<f64>| [if intercept { blocks.sums_of(y, |y| y) } else { none() }, blocks.sums_of(y, |y| y * y)];
        blocks.targets = in_order.iter().map(of_target).collect();
        let ones = vec![1.0; rows];
        let vectors: Vec<&[f64]> = in_order.iter().chain(intercept.then_some(&ones)).map(|v| &**v).collect();
        let found = blocks.sweep(stored, &vectors, true);
        let of = |kind: usize| -> Vec<f64> { blocks.kind_sums(&found, vectors.len() + 1, kind) };
        let known = (0..targets.len()).map(|output| (GramRow::Target(output), Arc::from(of(output)))).collect();
        let sums = if intercept { of(targets.len()) } else { vec![0.0; count * stored.len()] };
        blocks.sums = [sums, of(vectors.len())];
        blocks.known = Mutex::new(known);
        blocks.sums.iter().flatten().all(|sum| sum.is_finite()).then_some(blocks)
    }

    /// A target less its mean, in the order of `order`.
    fn target(&self, entries: &ColumnEntries<'_>, y: &[f64]) -> Vec<f64> {
        let shift = y.first().copied().filter(|_| self.intercept).unwrap_or(0.0);
        let mean = shift + if self.intercept { y.iter().map(|y| y - shift).sum::<f64>() / y.len() as f64 } else { 0.0 };
        let centered: Vec<f64> = y.iter().map(|y| y - mean).collect();
        let stored = entries.spread(&centered);
        self.order.iter().map(|&row| stored[row as usize]).collect()
    }

    /// Whether columns are shifted by their means.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    fn sums_of(&self, in_order: &[f64], of: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.counts.len()];
        for run in self.tiles.iter().flatten() {
            sums[run.block] += in_order[run.places.clone()].iter().map(|&y| of(y)).sum::<f64>();
        }
        sums
    }

    /// Extracts one of `kinds` results of the active columns, as blocks × columns.
    fn kind_sums(&self, found: &[f64], kinds: usize, kind: usize) -> Vec<f64> {
        let (blocks, columns) = (self.counts.len(), self.active.len());
        let mut out = vec![0.0; blocks * columns];
        let active = (0..columns).filter(|&column| self.active[column]);
        for (column, found) in active.zip(found.chunks(blocks * kinds)) {
            found.chunks(kinds).enumerate().for_each(|(block, kinds)| out[block * columns + column] = kinds[kind]);
        }
        out
    }

    /// Shifted entries of a column, in the order of `order`.
    fn in_order(&self, x: Column<'_>, shift: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.order.len()];
        gather(x, &self.order, shift, &mut out);
        out
    }

    /// Computes and caches products with the given columns. Cost O(m·n) for each.
    fn read(&self, stored: &[Column<'_>], columns: &[usize]) {
        let vectors: Vec<Vec<f64>> =
            parallel::map_slice(columns, |&column| self.in_order(stored[column], self.shifts[column]));
        let slices: Vec<&[f64]> = vectors.iter().map(|v| &**v).collect();
        let found = self.sweep(stored, &slices, false);
        let rows = columns.iter().enumerate();
        let rows =
            rows.map(|(k, &column)| (GramRow::Column(column), Arc::from(self.kind_sums(&found, columns.len(), k))));
        let rows: Vec<(GramRow, Arc<[f64]>)> = rows.collect();
        if let Ok(mut known) = self.known.lock() {
            known.extend(rows);
        }
    }

    /// Products of each active column with every vector over every block, and its squares if requested, as columns ×
    /// blocks × vectors.
    fn sweep(&self, stored: &[Column<'_>], vectors: &[&[f64]], with_squares: bool) -> Vec<f64> {
        let columns: Vec<(Column<'_>, f64)> = stored
            .iter()
            .zip(&self.shifts)
            .zip(&self.active)
            .filter(|(_, is_active)| **is_active)
            .map(|((x, shift), _)| (*x, *shift))
            .collect();
        let share = columns.len().div_ceil(rayon::current_num_threads()).next_multiple_of(TOGETHER);
        parallel::flat_map_chunks(&columns, share.clamp(TOGETHER, PANEL), |panel| {
            self.panel(panel, vectors, with_squares)
        })
    }

    fn panel(&self, columns: &[(Column<'_>, f64)], vectors: &[&[f64]], with_squares: bool) -> Vec<f64> {
        let (blocks, count) = (self.counts.len(), vectors.len());
        // See [`start_of`].
        let mut sums = vec![F64x8::ZERO; columns.len() * blocks * count];
        let mut squares = vec![[LaneSums::<1>::ZERO]; columns.len() * blocks];
        let mut entries = vec![0.0; TOGETHER * TILE];
        for tile in &self.tiles {
            let (Some(first), Some(last)) = (tile.first(), tile.last()) else { continue };
            let (start, end) = (first.places.start, last.places.end);
            let groups = columns.chunks(TOGETHER).zip(sums.chunks_mut(TOGETHER * blocks * count));
            for ((columns, sums), squares) in groups.zip(squares.chunks_mut(TOGETHER * blocks)) {
                for (&(x, shift), out) in columns.iter().zip(entries.chunks_mut(TILE)) {
                    gather(x, &self.order[start..end], shift, &mut out[..end - start]);
                }
                for run in tile {
                    let own = run.places.start - start..run.places.end - start;
                    let vectors: Vec<&[f64]> = vectors.iter().map(|v| &v[run.places.clone()]).collect();
                    let of_tile = entries.chunks(TILE).take(columns.len()).enumerate();
                    let placed: Vec<Placed<'_, f64>> = of_tile.map(|(c, x)| (c, &x[own.clone()], 0.0)).collect();
                    let each = columns.len() * count;
                    let sums = &mut sums[run.block * each..][..each];
                    Sweep::new(self.level, &vectors).add(&placed, &(0..own.len()), sums);
                    for &(c, x, _) in placed.iter().filter(|_| with_squares) {
                        add_products(self.level, [x], [0.0], [x], &mut squares[c * blocks + run.block]);
                    }
                }
            }
        }
        let mut out = Vec::with_capacity(columns.len() * blocks * (count + 1));
        for (column, squares) in squares.chunks(blocks).enumerate() {
            for (block, square) in squares.iter().enumerate() {
                let at = start_of(column, columns.len(), block, blocks) * count;
                out.extend(sums[at..at + count].iter().map(|sum| sum.sum()));
                out.extend(square[0].total().into_iter().filter(|_| with_squares));
            }
        }
        out
    }
}

/// Index of a column and a block among the sums of a panel, in steps of the number of vectors.
///
/// Columns come in groups of [`TOGETHER`], of which the last may be smaller. Within a group the sums are blocks ×
/// columns × vectors, since a run of rows of one block adds to all columns of the group at once. So a group that begins
/// with column f starts at f·blocks, and block b of column c is b·(columns of the group) + c − f further on.
fn start_of(column: usize, columns: usize, block: usize, blocks: usize) -> usize {
    let first = column - column % TOGETHER;
    let together = TOGETHER.min(columns - first);
    first * blocks + block * together + column - first
}

/// Orders the rows that have a block, tile by tile, and by block within a tile.
fn in_tiles(labels: &[Option<u32>], blocks: usize) -> (Vec<u32>, Vec<Vec<BlockRun>>) {
    let mut order = Vec::with_capacity(labels.len());
    let tiles = labels.chunks(TILE).enumerate().map(|(tile, labels)| {
        let mut runs = Vec::new();
        for block in 0..blocks {
            let start = order.len();
            let own = labels.iter().enumerate().filter(|(_, label)| **label == Some(block as u32));
            order.extend(own.map(|(row, _)| (tile * TILE + row) as u32));
            if order.len() > start {
                runs.push(BlockRun { block, places: start..order.len() });
            }
        }
        runs
    });
    let tiles = tiles.collect();
    (order, tiles)
}

/// Gathers the shifted entries of some rows.
fn gather(x: Column<'_>, rows: &[u32], shift: f64, out: &mut [f64]) {
    match x {
        Column::Double(x) => out.iter_mut().zip(rows).for_each(|(out, &row)| *out = x[row as usize] - shift),
        Column::Single(x) => out.iter_mut().zip(rows).for_each(|(out, &row)| *out = f64::from(x[row as usize]) - shift),
        Column::Byte(x) => out.iter_mut().zip(rows).for_each(|(out, &row)| *out = f64::from(x[row as usize]) - shift),
        Column::Sparse(_) | Column::Product(_) => {
            let rows: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
            out.iter_mut().zip(x.gathered(&rows)).for_each(|(out, x)| *out = x - shift);
        }
    }
}
