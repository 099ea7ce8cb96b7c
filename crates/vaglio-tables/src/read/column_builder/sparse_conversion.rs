//! Conversion of mostly zero columns to sparse ones.

use super::{ColumnBuilder, NumberColumn};
use vaglio_core::{Numbers, SparseNumbers};

impl ColumnBuilder {
    /// Converts a column to sparse if nearly all rows are 0.
    #[must_use]
    pub fn into_sparse_if_rare(self) -> Self {
        let sparse = if let ColumnBuilder::Numbers(column) = &self { column.to_sparse() } else { None };
        sparse.map_or(self, ColumnBuilder::Sparse)
    }
}

impl NumberColumn {
    /// Nonzero entries, if every row has a number and few are nonzero. Cost O(rows).
    fn to_sparse(&self) -> Option<SparseNumbers> {
        let most = SparseNumbers::most_entries(self.rows())?;
        if self.missing.count + self.infinite.count > 0 || self.is_text {
            return None;
        }
        let (rows, values) = match &self.numbers {
            Numbers::Byte(all) => entries(all, most, |x| f64::from(*x))?,
            Numbers::Double(all) => entries(all, most, |x| *x)?,
            _ => return None,
        };
        Some(SparseNumbers::new(self.rows(), rows, values))
    }
}

/// Nonzero rows and their values; `None` if there are more than `most`.
fn entries<E: PartialEq + Default>(all: &[E], most: usize, value: impl Fn(&E) -> f64) -> Option<(Vec<u32>, Vec<f64>)> {
    const PIECE: usize = 1024;
    /// Rows compared with 0 at once.
    const FEW: usize = 32;
    let (zero, mut count) = (E::default(), 0);
    for piece in all.chunks(PIECE) {
        count += piece.iter().filter(|x| **x != zero).count();
        if count > most {
            return None;
        }
    }
    let (mut rows, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (k, few) in all.chunks(FEW).enumerate().filter(|(_, few)| few.iter().any(|x| *x != zero)) {
        for (row, x) in (k * FEW..).zip(few).filter(|(_, x)| **x != zero) {
            rows.push(row as u32);
            values.push(value(x));
        }
    }
    Some((rows, values))
}
