//! Cache of inner products of columns, shared by all states of the same rows.
//!
//! K-fold needs the shifts and squares alone; only leave-one-out asks for products.

use super::block_sums::{BlockSums, RowBlocks};
use crate::parallel;
use crate::sums::axpy;
use crate::{Column, ColumnEntries, Data};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use vaglio_columns::lock;

/// A column or target that every column is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    /// A column.
    Column(usize),
    /// The target of an output.
    Target(usize),
}

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
    fn row(&self, operand: Operand) -> Option<Arc<[f64]>> {
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
}

impl Data<'_> {
    /// x_iᵀx_b for every column i and each given column b, scaled and centered; 0 for inactive i.
    ///
    /// A cache miss costs one read of the data. The read also prefetches `likely` columns: it computes twice as many as
    /// were served since the last read, within limits. Cost O(m·n) for each column once.
    pub(crate) fn with_columns(&self, columns: &[usize], likely: impl FnOnce() -> Vec<usize>) -> Vec<Arc<[f64]>> {
        let row = |&column: &usize| self.gram.row(Operand::Column(column));
        let is_unknown = |column: &usize| row(column).is_none();
        let mut wanted: Vec<usize> = columns.iter().copied().filter(is_unknown).collect();
        let (is_read, served) = (!wanted.is_empty(), self.gram.served.load(Ordering::Relaxed));
        if is_read {
            let more = (2 * served).clamp(LEAST, MOST).saturating_sub(wanted.len());
            let is_new = |column: &usize| !columns.contains(column) && is_unknown(column);
            wanted.extend(likely().into_iter().filter(is_new).take(more));
            let operands: Vec<Operand> = wanted.iter().copied().map(Operand::Column).collect();
            self.read_gram(&operands);
        }
        self.gram.served.store(columns.len() + if is_read { 0 } else { served }, Ordering::Relaxed);
        columns.iter().filter_map(row).collect()
    }

    /// Σ_b part_b·x_iᵀx_b for every column i, if all these products are cached. Cost O(n) for each b.
    pub(crate) fn with_sum(&self, parts: &[(usize, f64)]) -> Option<Arc<[f64]>> {
        let mut sums = vec![0.0; self.columns()];
        for &(column, part) in parts {
            let row = self.gram.row(Operand::Column(column))?;
            axpy(part, &row, &mut sums);
        }
        Some(sums.into())
    }

    /// x_iᵀy for every column i and an output's residuals of the empty subset. Cost O(m·n) once.
    pub(crate) fn with_target(&self, output: usize) -> Arc<[f64]> {
        let target = Operand::Target(output);
        self.gram.row(target).unwrap_or_else(|| Arc::clone(&self.read_gram(&[target])[0]))
    }

    /// x_iᵀv for every column i and each given vector v, like [`Data::products_of_most`]; 0 for inactive i.
    pub(crate) fn with_vectors(&self, vectors: &[impl AsRef<[f64]>]) -> Vec<Arc<[f64]>> {
        let mut rows = vec![vec![0.0; self.columns()]; vectors.len()];
        let columns: &[usize] = if vectors.is_empty() { &[] } else { &self.candidates };
        for some in columns.chunks(AT_ONCE) {
            let products = self.products_of_most(some, vectors);
            for (&column, products) in some.iter().zip(products.chunks(vectors.len())) {
                rows.iter_mut().zip(products).for_each(|(row, product)| row[column] = *product);
            }
        }
        rows.into_iter().map(Arc::from).collect()
    }

    /// Computes products in one read of the columns and caches them. The cache is not locked meanwhile.
    fn read_gram(&self, wanted: &[Operand]) -> Vec<Arc<[f64]>> {
        if let Some(own) = &self.gram.blocks {
            let column = |operand: &Operand| if let Operand::Column(column) = *operand { Some(column) } else { None };
            own.blocks.read(&self.entries.stored, &wanted.iter().filter_map(column).collect::<Vec<_>>());
            if let Some(rows) = wanted.iter().map(|&operand| self.gram.row_of_blocks(operand)).collect() {
                return rows;
            }
        }
        let vectors: Vec<Cow<'_, [f64]>> = parallel::map_slice(wanted, |item| self.operand(*item));
        let rows = self.with_vectors(&vectors);
        lock(&self.gram.known).extend(wanted.iter().copied().zip(rows.iter().cloned()));
        rows
    }

    /// A column like [`Data::scaled_column`], or a target like [`Data::centered`]; borrowed if it needs no change.
    fn operand(&self, operand: Operand) -> Cow<'_, [f64]> {
        match operand {
            Operand::Target(output) => self.centered[output].as_slice().into(),
            Operand::Column(column) => match self.column(column) {
                (Column::Double(x), 0.0) if !self.has_intercept() && self.root().is_none() => x.into(),
                _ => self.scaled_column(column).into(),
            },
        }
    }
}

/// Minimum and maximum number of columns per read: below the first, memory bounds the time; beyond the second,
/// arithmetic does.
const LEAST: usize = 8;
const MOST: usize = 16;
/// Columns multiplied with vectors at a time.
const AT_ONCE: usize = 1 << 12;
