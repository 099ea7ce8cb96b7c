//! Rows that are a union of whole blocks.

use super::BlockSums;
use crate::ColumnEntries;
use crate::data::gram_cache::Operand;
use crate::sums::axpy;
use crate::tolerance::SHIFTED_SQUARES;
use std::sync::Arc;
use vaglio_columns::lock;

/// The blocks of [`BlockSums`] that make up a set of rows.
#[derive(Debug)]
pub(crate) struct RowBlocks {
    pub blocks: Arc<BlockSums>,
    included: Vec<usize>,
    rows: f64,
    /// Additional shift of each column.
    offsets: Vec<f64>,
    /// Additional shift of each target.
    targets: Vec<f64>,
}

impl RowBlocks {
    /// Returns `None` if: the rows of `entries` are not whole blocks; a shift removes much of a column; an active
    /// column has no sums.
    pub fn new(blocks: &Arc<BlockSums>, entries: &ColumnEntries<'_>, targets: &[&[f64]]) -> Option<Self> {
        let (active, rows) = (&entries.active, entries.rows(targets.first()?.len()));
        let mut counts = vec![0; blocks.blocks];
        for &row in rows.iter() {
            *counts.get_mut(*blocks.groups.per_row.get(row)? as usize)? += 1;
        }
        let is_whole = |(own, all): (&usize, &usize)| *own == 0 || own == all;
        let has_sums = active.iter().zip(&blocks.active).all(|(own, all)| *all || !own);
        if !counts.iter().zip(&blocks.groups.sizes).all(is_whole) || !has_sums || active.len() != blocks.active.len() {
            return None;
        }
        let included: Vec<usize> = (0..counts.len()).filter(|&block| counts[block] > 0).collect();
        let mut out = RowBlocks {
            blocks: Arc::clone(blocks),
            included,
            rows: rows.len() as f64,
            offsets: Vec::new(),
            targets: Vec::new(),
        };
        // All rows together are already shifted by their means, up to rounding; without an intercept none are.
        let by = if blocks.intercept && rows.len() < blocks.rows { 1.0 / out.rows } else { 0.0 };
        out.offsets = out.total(&blocks.sums[0]).into_iter().map(|sum| sum * by).collect();
        let squares = out.total(&blocks.sums[1]);
        let is_shifted = |offset: f64, square: f64| out.rows * offset * offset > SHIFTED_SQUARES * square;
        let sum_included = |sums: &[f64]| out.included.iter().map(|&block| sums[block]).sum::<f64>();
        let targets = blocks.targets.iter().map(|[sums, squares]| (sum_included(sums) * by, sum_included(squares)));
        let columns = out.offsets.iter().copied().zip(squares).zip(active).filter(|(_, is_active)| **is_active);
        if columns.map(|(column, _)| column).chain(targets.clone()).any(|(offset, square)| is_shifted(offset, square)) {
            return None;
        }
        out.targets = targets.map(|(offset, _)| offset).collect();
        Some(out)
    }

    /// Shifts and squares of all columns; 0 for inactive ones.
    pub fn statistics(&self, active: &[bool]) -> (Vec<f64>, Vec<f64>) {
        let squares = self.total(&self.blocks.sums[1]).into_iter().zip(&self.offsets);
        let left = squares.map(|(square, offset)| square - self.rows * offset * offset);
        let shifts = self.blocks.groups.shifts.iter().zip(&self.offsets).map(|(shift, offset)| shift + offset);
        let if_active = |(value, is_active): (f64, &bool)| if *is_active { value } else { 0.0 };
        (shifts.zip(active).map(if_active).collect(), left.zip(active).map(if_active).collect())
    }

    /// Products with a column or target, if the blocks have them.
    pub fn products(&self, operand: Operand) -> Option<Vec<f64>> {
        let offset = match operand {
            Operand::Column(column) => self.offsets[column],
            Operand::Target(output) => *self.targets.get(output)?,
        };
        let sums = lock(&self.blocks.known).get(&operand).cloned()?;
        let mut products = self.total(&sums);
        for (product, own) in products.iter_mut().zip(&self.offsets) {
            *product -= self.rows * own * offset;
        }
        Some(products)
    }

    /// Adds up blocks × columns over the included blocks.
    fn total(&self, sums: &[f64]) -> Vec<f64> {
        let columns = self.blocks.active.len();
        let mut total = vec![0.0; columns];
        self.included.iter().for_each(|block| axpy(1.0, &sums[block * columns..], &mut total));
        total
    }
}
