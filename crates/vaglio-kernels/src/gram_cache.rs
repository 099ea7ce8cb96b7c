//! Inner products of columns, each computed once for all states of the same rows.

use crate::Entries;
use crate::block_sums::{BlockSums, GramRow, RowBlocks};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Shifts and squares of columns, and the inner products of columns and targets with every column that were asked for.
///
/// None of it depends on λ. Memory 8·n bytes for each column asked for.
#[derive(Debug)]
pub struct GramCache {
    pub(crate) shifts: Vec<f64>,
    pub(crate) squares: Vec<f64>,
    pub(crate) intercept: bool,
    known: Mutex<CachedRows>,
    /// The row blocks whose sums other rows share.
    blocks: Option<RowBlocks>,
}

#[derive(Debug, Default)]
struct CachedRows {
    rows: HashMap<GramRow, Arc<[f64]>>,
    /// Columns that were asked for since columns were last read, that one included.
    served: usize,
}

impl GramCache {
    pub(crate) fn new(shifts: Vec<f64>, squares: Vec<f64>, intercept: bool) -> Self {
        GramCache { shifts, squares, intercept, known: Mutex::default(), blocks: None }
    }

    /// Of the rows of `entries`, from the sums of the row blocks that they are made of; `None` where they are not, or would
    /// lose digits. `targets` are those that the sums were made with. Cost O(n·blocks).
    pub fn of_blocks(
        sums: &Arc<BlockSums>,
        entries: &Entries<'_>,
        active: &[bool],
        targets: &[&[f64]],
    ) -> Option<Arc<Self>> {
        let blocks = RowBlocks::new(sums, entries, active, targets)?;
        let (shifts, squares) = blocks.statistics(active);
        Some(Arc::new(GramCache { blocks: Some(blocks), ..GramCache::new(shifts, squares, sums.has_intercept()) }))
    }

    /// Whether columns were centered.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The products with one column or target, where they are known.
    pub(crate) fn row(&self, of: GramRow) -> Option<Arc<[f64]>> {
        let known = self.known.lock().ok()?.rows.get(&of).cloned();
        known.or_else(|| self.row_of_blocks(of))
    }

    fn row_of_blocks(&self, of: GramRow) -> Option<Arc<[f64]>> {
        let mut products = self.blocks.as_ref()?.products(of)?;
        products.iter_mut().zip(&self.squares).filter(|(_, s)| **s == 0.0).for_each(|(product, _)| *product = 0.0);
        let row: Arc<[f64]> = products.into();
        self.known.lock().ok()?.rows.insert(of, Arc::clone(&row));
        Some(row)
    }

    /// Of how many columns a read that `needed` are waiting for is to make the products: twice those that the last one
    /// served.
    pub(crate) fn count(&self, needed: usize) -> usize {
        let served = self.known.lock().map_or(1, |known| known.served);
        needed.max((2 * served).clamp(LEAST, MOST))
    }

    /// Notes for how many columns products were asked, and whether they had to be read.
    pub(crate) fn has_served(&self, columns: usize, is_read: bool) {
        if let Ok(mut known) = self.known.lock() {
            known.served = columns + if is_read { 0 } else { known.served };
        }
    }

    /// Reads the products with some columns and targets for the row blocks that these rows are made of; `None` without such.
    pub(crate) fn read_blocks(&self, entries: &Entries<'_>, wanted: &[GramRow]) -> Option<Vec<Arc<[f64]>>> {
        let blocks = self.blocks.as_ref()?;
        let column = |of: &GramRow| if let GramRow::Column(column) = *of { Some(column) } else { None };
        blocks.read(entries, &wanted.iter().filter_map(column).collect::<Vec<_>>());
        wanted.iter().map(|&of| self.row_of_blocks(of)).collect()
    }

    /// Keeps what was read for all states.
    pub(crate) fn insert(&self, read: impl Iterator<Item = (GramRow, Arc<[f64]>)>) {
        if let Ok(mut known) = self.known.lock() {
            known.rows.extend(read);
        }
    }
}

/// Columns that one read of the data makes the products of, at least and at most: memory bounds a read for the first few,
/// and beyond the last arithmetic counts more.
const LEAST: usize = 8;
const MOST: usize = 16;
