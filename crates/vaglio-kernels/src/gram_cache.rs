//! Cache of inner products of columns, shared by all states of the same rows.

use crate::block_sums::{BlockSums, RowBlocks};
use crate::{ColumnEntries, Operand};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use vaglio_columns::lock;

/// Shifts and squares of columns, and the rows of the Gram matrix requested so far.
///
/// Independent of λ. Memory 8·n bytes per requested column.
#[derive(Debug)]
pub struct GramCache {
    pub(crate) shifts: Vec<f64>,
    pub(crate) squares: Vec<f64>,
    /// Whether columns were centered.
    pub intercept: bool,
    /// The rows requested so far.
    known: Mutex<HashMap<Operand, Arc<[f64]>>>,
    /// Number of columns requested since the last read, including that read.
    served: AtomicUsize,
    /// Row blocks whose sums other row sets share.
    blocks: Option<RowBlocks>,
}

impl GramCache {
    pub(crate) fn new(shifts: Vec<f64>, squares: Vec<f64>, intercept: bool) -> Self {
        GramCache { shifts, squares, intercept, known: Mutex::default(), served: AtomicUsize::default(), blocks: None }
    }

    /// Computes sums of the active columns over blocks of rows, which other row sets share; each row has a block label.
    /// One read of the columns, cost O(m·n).
    ///
    /// Returns `None` if there are too many blocks, too few rows per block, or numbers overflow.
    pub fn with_blocks(
        entries: &ColumnEntries<'_>,
        labels: &[u32],
        targets: &[&[f64]],
        intercept: bool,
    ) -> Option<Arc<Self>> {
        let sums = BlockSums::new(entries, labels, targets, intercept)?;
        GramCache::from_blocks(&Arc::new(sums), entries, targets)
    }

    /// Builds the cache for some of the rows from the sums of their blocks. Cost O(n·blocks).
    ///
    /// `targets` must be the ones the sums were made with. Returns `None` if the rows are not a union of blocks, or if
    /// digits would be lost.
    pub fn for_rows(&self, entries: &ColumnEntries<'_>, targets: &[&[f64]]) -> Option<Arc<Self>> {
        GramCache::from_blocks(&self.blocks.as_ref()?.blocks, entries, targets)
    }

    fn from_blocks(sums: &Arc<BlockSums>, entries: &ColumnEntries<'_>, targets: &[&[f64]]) -> Option<Arc<Self>> {
        let blocks = RowBlocks::new(sums, entries, targets)?;
        let (shifts, squares) = blocks.statistics(&entries.active);
        Some(Arc::new(GramCache { blocks: Some(blocks), ..GramCache::new(shifts, squares, sums.intercept) }))
    }

    /// Products with one column or target, if cached or available from row blocks.
    pub(crate) fn row(&self, operand: Operand) -> Option<Arc<[f64]>> {
        let known = lock(&self.known).get(&operand).cloned();
        known.or_else(|| self.row_of_blocks(operand))
    }

    fn row_of_blocks(&self, operand: Operand) -> Option<Arc<[f64]>> {
        let mut products = self.blocks.as_ref()?.products(operand)?;
        products.iter_mut().zip(&self.squares).filter(|(_, s)| **s == 0.0).for_each(|(product, _)| *product = 0.0);
        let row: Arc<[f64]> = products.into();
        lock(&self.known).insert(operand, Arc::clone(&row));
        Some(row)
    }

    /// Number of columns that a read for `needed` columns should compute: twice the number served by the last read,
    /// within limits.
    pub(crate) fn count(&self, needed: usize) -> usize {
        needed.max((2 * self.served.load(Ordering::Relaxed)).clamp(LEAST, MOST))
    }

    /// Records that products of columns were requested, and whether they had to be read.
    pub(crate) fn record_served(&self, columns: usize, is_read: bool) {
        let before = if is_read { 0 } else { self.served.load(Ordering::Relaxed) };
        self.served.store(columns + before, Ordering::Relaxed);
    }

    /// Reads products with columns and targets for this cache's row blocks; `None` without row blocks.
    pub(crate) fn read_blocks(&self, entries: &ColumnEntries<'_>, wanted: &[Operand]) -> Option<Vec<Arc<[f64]>>> {
        let blocks = self.blocks.as_ref()?;
        let column = |operand: &Operand| if let Operand::Column(column) = *operand { Some(column) } else { None };
        blocks.read(entries, &wanted.iter().filter_map(column).collect::<Vec<_>>());
        wanted.iter().map(|&operand| self.row_of_blocks(operand)).collect()
    }

    /// Caches the computed rows for all states.
    pub(crate) fn insert(&self, read: impl Iterator<Item = (Operand, Arc<[f64]>)>) {
        lock(&self.known).extend(read);
    }
}

/// Minimum and maximum number of columns per read: below the first, memory bounds the time; beyond the second,
/// arithmetic does.
const LEAST: usize = 8;
const MOST: usize = 16;
