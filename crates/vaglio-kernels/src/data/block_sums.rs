//! Sums of products over blocks of rows: one read of the columns serves the training rows of all folds.
//!
//! Rows with the same training sets form a block. Sums of blocks are added for each training set and never subtracted,
//! so they lose no digits. A fold reads its own rows instead if: its means lie far from the overall means; rows are
//! weighted; there are more than 32 blocks; a block has fewer than 512 rows, so that sums would take as much memory as
//! the columns.

mod row_blocks;

pub(crate) use row_blocks::RowBlocks;

use super::gram_cache::Operand;
use crate::f64x8::F64x8;
use crate::parallel;
use crate::row_groups::RowGroups;
use crate::sums::{product, times};
use crate::{Column, ColumnEntries};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use vaglio_columns::lock;

/// Sums of columns over blocks of rows. They are plain sums of products, so adding blocks loses no digits.
///
/// With an intercept, columns and targets are shifted by their means over all rows. Memory 8·n bytes for each block and
/// each requested column.
#[derive(Debug)]
pub(crate) struct BlockSums {
    /// Whether columns are shifted by their means.
    pub intercept: bool,
    /// The stored rows by block, followed by a group of the rows that are not chosen. Shifts are 0 without an
    /// intercept.
    groups: RowGroups,
    blocks: usize,
    /// Number of chosen rows.
    rows: usize,
    active: Vec<bool>,
    /// Σ(x_i − shift) and Σ(x_i − shift)², as blocks × columns.
    sums: [Vec<f64>; 2],
    /// Sum and sum of squares of each centered output, by block.
    targets: Vec<[Vec<f64>; 2]>,
    /// Cached products with columns and targets, as blocks × columns.
    known: Mutex<HashMap<Operand, Arc<[f64]>>>,
}

/// Maximum number of blocks; with more, each has few rows of a tile.
const MOST_BLOCKS: usize = 32;
/// Minimum rows per block: the sums of a column then take little memory beside the column.
const ROWS_OF_BLOCK: usize = 512;

impl BlockSums {
    /// Computes sums of the active columns; each row has a block label. One read of the columns, cost O(m·n).
    ///
    /// Returns `None` if there are too many blocks, too few rows per block, or numbers overflow.
    pub fn new(entries: &ColumnEntries<'_>, labels: &[u32], targets: &[&[f64]], intercept: bool) -> Option<Self> {
        let (ColumnEntries { stored, active, .. }, rows) = (entries, labels.len());
        let count = *labels.iter().max()? as usize + 1;
        if count > MOST_BLOCKS || count * ROWS_OF_BLOCK > rows {
            return None;
        }
        // As in [`Data::new`](crate::Data::new), so that searches on all rows have the same bits.
        let ones = vec![1.0; rows];
        let counted = entries.spread(&ones);
        let mut stored_groups = vec![count as u32; counted.len()];
        entries.rows(rows).iter().zip(labels).for_each(|(&row, label)| stored_groups[row] = *label);
        let mean = |x: Column<'_>, shift: f64| shift + product(x, shift, &counted) / rows as f64;
        let column = |column: usize| {
            let x = stored[column];
            (x, if intercept && active[column] { mean(x, mean(x, 0.0)) } else { 0.0 })
        };
        let groups = RowGroups::new(stored_groups, count + 1, &counted, &parallel::map(stored.len(), column));
        let mut vectors: Vec<Vec<f64>> = targets.iter().map(|y| target(entries, y, intercept)).collect();
        let target_sums = vectors.iter().map(|y| [groups.sums(y), groups.sums(&times(y, y))]).collect();
        vectors.push(counted.to_vec());
        let (sums, known) = ([Vec::new(), Vec::new()], Mutex::default());
        let (blocks, active) = (count, active.clone());
        let mut out = BlockSums { intercept, groups, blocks, rows, active, sums, targets: target_sums, known };
        let mut found = out.products(stored, &vectors);
        let sums = found.pop().unwrap_or_default();
        let squares = out.each_active(|column| out.groups.squares(stored[column], column, &counted));
        out.sums = [sums, out.by_block(&squares, |squares, block| squares[block])];
        let known =
            found.into_iter().enumerate().map(|(output, sums)| (Operand::Target(output), sums.into())).collect();
        out.known = Mutex::new(known);
        out.sums.iter().flatten().all(|sum| sum.is_finite()).then_some(out)
    }

    /// Computes and caches products with the given columns. Cost O(m·n) for each.
    pub fn read(&self, stored: &[Column<'_>], columns: &[usize]) {
        let vector = |&column: &usize| self.groups.shift(stored[column], column);
        let found = self.products(stored, &parallel::map_slice(columns, vector));
        let found = columns.iter().zip(found).map(|(&column, sums)| (Operand::Column(column), sums.into()));
        lock(&self.known).extend(found);
    }

    /// Products of each active column with every vector, as blocks × columns for each vector.
    fn products(&self, stored: &[Column<'_>], vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let eights = vectors.chunks(F64x8::WIDTH).flat_map(|vectors| {
            let z = self.groups.vectors(vectors);
            let products = self.each_active(|column| self.groups.products(stored[column], column, &z));
            (0..vectors.len()).map(move |lane| self.by_block(&products, |sums, block| sums[block].lane(lane)))
        });
        eights.collect()
    }

    /// Results of the active columns.
    fn each_active<T: Send>(&self, result: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
        parallel::map(self.active.len(), |column| self.active[column].then(|| result(column)))
    }

    /// A number of each column in each block, as blocks × columns; 0 for inactive ones.
    fn by_block<T>(&self, columns: &[Option<T>], number_of: impl Fn(&T, usize) -> f64) -> Vec<f64> {
        let number = |block| columns.iter().map(move |column| (column, block));
        let all = (0..self.blocks).flat_map(number);
        all.map(|(column, block)| column.as_ref().map_or(0.0, |column| number_of(column, block))).collect()
    }
}

/// A target less its mean, for all stored rows.
fn target(entries: &ColumnEntries<'_>, y: &[f64], intercept: bool) -> Vec<f64> {
    let shift = y.first().copied().filter(|_| intercept).unwrap_or(0.0);
    let mean = shift + if intercept { y.iter().map(|y| y - shift).sum::<f64>() / y.len() as f64 } else { 0.0 };
    let centered: Vec<f64> = y.iter().map(|y| y - mean).collect();
    entries.spread(&centered).into_owned()
}
