//! Entries of a column in the type that stores them.

use crate::sparse_numbers::to_bytes;
use crate::{Column, ProductNumbers, SingleNumbers, SparseNumbers, gather};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Entries of one column, in the smallest type that holds them exactly.
#[derive(Clone)]
pub enum Numbers {
    /// Eight bytes per entry.
    Double(Vec<f64>),
    /// Eight bytes per entry, read in place from the memory of another library; see [`Numbers::from_owner`].
    Foreign(Arc<dyn AsRef<[f64]> + Send + Sync>),
    /// Four bytes per entry; only on request.
    Single(SingleNumbers),
    /// One byte per entry: whole numbers from 0 to 255.
    Byte(Vec<u8>),
    /// Most entries equal one number and are not stored.
    Sparse(SparseNumbers),
    /// A product of other columns, computed on reading.
    Product(ProductNumbers),
    /// Entries shared with others.
    Shared(Arc<Numbers>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Byte(Vec::new())
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(values: Vec<f64>) -> Self {
        to_bytes(&values).map_or(Numbers::Double(values), Numbers::Byte)
    }
}

impl From<Vec<u8>> for Numbers {
    fn from(values: Vec<u8>) -> Self {
        Numbers::Byte(values)
    }
}

impl From<Column<'_>> for Numbers {
    fn from(column: Column<'_>) -> Self {
        match column {
            Column::Double(v) => Numbers::Double(v.to_vec()),
            Column::Single(v) => Numbers::Single(v.iter().map(|&x| f64::from(x)).collect()),
            Column::Byte(v) => Numbers::Byte(v.to_vec()),
            Column::Sparse(v) => Numbers::Sparse(v.into()),
            Column::Product(v) => v.to_vec().into(),
        }
    }
}

impl Numbers {
    /// Entries in memory owned by another library, such as a NumPy array or a mapped file. They must not change, and the
    /// owner lives while columns use it. Whole numbers from 0 to 255 are copied as bytes. Cost O(leading rows that fit a
    /// byte).
    pub fn from_owner(owner: impl AsRef<[f64]> + Send + Sync + 'static) -> Self {
        to_bytes(owner.as_ref()).map_or_else(|| Numbers::Foreign(Arc::new(owner)), Numbers::Byte)
    }

    /// A view of the entries.
    pub fn view(&self) -> Column<'_> {
        match self {
            Numbers::Double(v) => Column::Double(v),
            Numbers::Foreign(v) => Column::Double((**v).as_ref()),
            Numbers::Single(v) => Column::Single(v.view()),
            Numbers::Byte(v) => Column::Byte(v),
            Numbers::Sparse(v) => Column::Sparse(v.view()),
            Numbers::Product(v) => Column::Product(v.view()),
            Numbers::Shared(v) => v.view(),
        }
    }

    /// The underlying numbers of shared ones.
    pub fn plain(&self) -> &Numbers {
        if let Numbers::Shared(shared) = self { shared.plain() } else { self }
    }

    /// Makes the numbers shared and returns a handle to them. Cost O(1).
    pub fn share(&mut self) -> Arc<Numbers> {
        let shared = match std::mem::replace(self, Numbers::Byte(Vec::new())) {
            Numbers::Shared(shared) => shared,
            own => Arc::new(own),
        };
        *self = Numbers::Shared(Arc::clone(&shared));
        shared
    }

    /// Applies a function to every entry; sparse columns stay sparse. Cost O(rows), or O(entries) if sparse.
    #[must_use]
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        match self {
            Numbers::Sparse(sparse) => Numbers::Sparse(sparse.map(function)),
            Numbers::Shared(shared) => shared.map(function),
            dense => dense.view().values().iter().map(|&x| function(x)).collect::<Vec<f64>>().into(),
        }
    }

    /// Copies the entries of `rows`, in that order.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Numbers::Double(v) => Numbers::Double(gather(v, rows)),
            Numbers::Foreign(v) => Numbers::Double(gather((**v).as_ref(), rows)),
            Numbers::Single(v) => Numbers::Single(v.select_rows(rows)),
            Numbers::Byte(v) => Numbers::Byte(gather(v, rows)),
            Numbers::Sparse(v) => Numbers::Sparse(v.select_rows(rows)),
            Numbers::Product(v) => v.select_rows(rows),
            Numbers::Shared(v) => v.select_rows(rows),
        }
    }

    /// Converts doubles to single precision, four bytes per entry instead of eight; other types stay. Cost O(rows).
    #[must_use]
    pub fn in_single(self) -> Self {
        match self {
            Numbers::Double(values) => Numbers::Single(values.into_iter().collect()),
            Numbers::Foreign(values) => Numbers::Single((*values).as_ref().iter().copied().collect()),
            Numbers::Shared(shared) if matches!(*shared, Numbers::Double(_) | Numbers::Foreign(_)) => {
                Arc::unwrap_or_clone(shared).in_single()
            }
            other => other,
        }
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Numbers").field(&self.view()).finish()
    }
}

/// Stays sparse if that takes at most half the bytes, else becomes dense like other numbers.
impl From<SparseNumbers> for Numbers {
    fn from(sparse: SparseNumbers) -> Self {
        if sparse.is_worth_it() { Numbers::Sparse(sparse) } else { sparse.view().to_vec().into() }
    }
}

/// Bytes of entries not yet in `seen`.
pub(crate) fn bytes_of(numbers: &Numbers, seen: &mut HashSet<*const Numbers>) -> usize {
    match numbers {
        Numbers::Shared(v) => bytes_of(v, seen),
        Numbers::Product(v) => {
            let factors = size_of_val(v.factors());
            factors + v.factors().iter().map(|(factor, _)| bytes_of(factor, seen)).sum::<usize>()
        }
        own if !seen.insert(std::ptr::from_ref(own)) => 0,
        Numbers::Double(v) => 8 * v.len(),
        Numbers::Foreign(v) => 8 * (**v).as_ref().len(),
        Numbers::Single(v) => 4 * v.view().len(),
        Numbers::Byte(v) => v.len(),
        Numbers::Sparse(v) => v.bytes(),
    }
}
