//! Views of columns.

use crate::{ProductColumn, SparseColumn, gather, max_abs};
use std::borrow::Cow;

/// Maximum rows of a span per selected row for which the whole span of a product is computed.
const NEAR: usize = 4;

/// View of one column's entries, in the type they are stored in.
///
/// Two columns are equal if their entries are, whatever their types.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// Eight bytes per entry.
    Double(&'a [f64]),
    /// Four bytes per entry.
    Single(&'a [f32]),
    /// One byte per entry: whole numbers from 0 to 255.
    Byte(&'a [u8]),
    /// Most entries equal one number and are not stored.
    Sparse(SparseColumn<'a>),
    /// A product of other columns, computed on reading.
    Product(ProductColumn<'a>),
}

impl<'a> Column<'a> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Column::Double(v) => v.len(),
            Column::Single(v) => v.len(),
            Column::Byte(v) => v.len(),
            Column::Sparse(v) => v.len(),
            Column::Product(v) => v.len(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Share of the entries that is stored; 1 unless sparse.
    pub fn share_stored(&self) -> f64 {
        match self {
            Column::Sparse(x) => x.count() as f64 / x.len().max(1) as f64,
            _ => 1.0,
        }
    }

    /// The entry of `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Column::Double(v) => v[row],
            Column::Single(v) => f64::from(v[row]),
            Column::Byte(v) => f64::from(v[row]),
            Column::Sparse(v) => v.get(row),
            Column::Product(v) => v.get(row),
        }
    }

    /// The entries of rows `start..end`.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn rows(&self, start: usize, end: usize) -> Column<'a> {
        match self {
            Column::Double(v) => Column::Double(&v[start..end]),
            Column::Single(v) => Column::Single(&v[start..end]),
            Column::Byte(v) => Column::Byte(&v[start..end]),
            Column::Sparse(v) => Column::Sparse(v.rows(start, end)),
            Column::Product(v) => Column::Product(v.rows(start, end)),
        }
    }

    /// Copies the entries of `rows` as doubles, in that order. Cost O(rows), or for a sparse column the span of the
    /// rows.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn gather(&self, rows: &[usize]) -> Vec<f64> {
        match self {
            Column::Double(v) => gather(v, rows),
            Column::Single(v) => rows.iter().map(|&row| f64::from(v[row])).collect(),
            Column::Byte(v) => rows.iter().map(|&row| f64::from(v[row])).collect(),
            Column::Sparse(_) | Column::Product(_) => {
                let (least, most) = rows.iter().fold((self.len(), 0), |(a, b), &row| (a.min(row), b.max(row + 1)));
                if matches!(self, Column::Product(_)) && most.saturating_sub(least) > NEAR * rows.len() {
                    return rows.iter().map(|&row| self.get(row)).collect();
                }
                let span = self.rows(least.min(most), most).values();
                rows.iter().map(|&row| span[row - least]).collect()
            }
        }
    }

    /// The entries as doubles, borrowed if stored so.
    pub fn values(&self) -> Cow<'a, [f64]> {
        match self {
            Column::Double(v) => Cow::Borrowed(v),
            Column::Single(v) => Cow::Owned(v.iter().map(|&x| f64::from(x)).collect()),
            Column::Byte(v) => Cow::Owned(v.iter().map(|&b| f64::from(b)).collect()),
            Column::Sparse(v) => Cow::Owned(v.to_vec()),
            Column::Product(v) => Cow::Owned(v.to_vec()),
        }
    }

    /// Difference up to which entries count as equal: 16 units in the last place of the largest.
    ///
    /// A column divided by its deviation counts as constant if its entries differ by no more. Such a deviation is
    /// noise, and the quotients would have no digits.
    pub fn rounding(&self) -> f64 {
        match self {
            Column::Double(v) => 16.0 * f64::EPSILON * max_abs(*v),
            Column::Byte(_) => 0.0,
            Column::Product(v) if v.is_byte() => 0.0,
            Column::Single(_) | Column::Product(_) => Column::Double(&self.values()).rounding(),
            Column::Sparse(v) => v.rounding(),
        }
    }

    /// Whether all entries are equal.
    pub fn is_constant(&self) -> bool {
        match self {
            Column::Double(v) => v.windows(2).all(|w| w[0] == w[1]),
            Column::Single(v) => v.windows(2).all(|w| w[0] == w[1]),
            Column::Byte(v) => v.windows(2).all(|w| w[0] == w[1]),
            Column::Sparse(v) => v.is_empty() || v.range().windows(2).all(|w| w[0] == w[1]),
            Column::Product(v) => v.is_constant(),
        }
    }
}

impl PartialEq for Column<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Column::Double(a), Column::Double(b)) => a == b,
            (Column::Byte(a), Column::Byte(b)) => a == b,
            (Column::Double(doubles), Column::Byte(bytes)) | (Column::Byte(bytes), Column::Double(doubles)) => {
                doubles.len() == bytes.len() && doubles.iter().zip(*bytes).all(|(d, b)| *d == f64::from(*b))
            }
            (Column::Sparse(a), Column::Sparse(b)) => a == b,
            (Column::Single(a), Column::Single(b)) => a == b,
            (Column::Product(a), Column::Product(b)) => a == b,
            (one, other) => one.len() == other.len() && one.values() == other.values(),
        }
    }
}
