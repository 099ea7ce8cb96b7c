//! Gram matrix rows, from the cache shared by states of the same rows.

use crate::parallel;
use crate::sums::axpy;
use crate::{Data, Operand};
use std::borrow::Cow;
use std::sync::Arc;

/// Columns per batch.
const AT_ONCE: usize = 1 << 12;

impl Data<'_> {
    /// x_iᵀx_b for every column i and each given column b, scaled and centered; 0 for inactive i.
    ///
    /// A cache miss costs one read of the data. The read also prefetches `likely` columns, more of them when the last
    /// prefetch was useful. Cost O(m·n) for each column once.
    pub(crate) fn with_columns(&self, columns: &[usize], likely: impl FnOnce() -> Vec<usize>) -> Vec<Arc<[f64]>> {
        let row = |&column: &usize| self.gram.row(Operand::Column(column));
        let is_unknown = |column: &usize| row(column).is_none();
        let mut wanted: Vec<usize> = columns.iter().copied().filter(is_unknown).collect();
        let is_read = !wanted.is_empty();
        if is_read {
            let more = self.gram.count(wanted.len()) - wanted.len();
            let is_new = |column: &usize| !columns.contains(column) && is_unknown(column);
            wanted.extend(likely().into_iter().filter(is_new).take(more));
            let operands: Vec<Operand> = wanted.iter().copied().map(Operand::Column).collect();
            self.read_gram(&operands);
        }
        self.gram.record_served(columns.len(), is_read);
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
        if let Some(rows) = self.gram.read_blocks(&self.entries, wanted) {
            return rows;
        }
        let vectors: Vec<Cow<'_, [f64]>> = parallel::map_slice(wanted, |item| self.operand(*item));
        let rows = self.with_vectors(&vectors);
        self.gram.insert(wanted.iter().copied().zip(rows.iter().cloned()));
        rows
    }
}
