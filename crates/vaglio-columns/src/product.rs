//! Virtual columns: products of others, computed on reading.

use crate::{Column, Numbers};
use std::sync::Arc;

/// A column that is a product of powers of shared columns and computed in tiles on reading: a few words of memory
/// instead of an entry per row.
///
/// The entries equal those of the stored product to the bit. Powers of each factor are multiplied up from 1, then the
/// factors one after the other. A [rescaled](ProductNumbers::rescale) column then subtracts its shift and divides.
#[derive(Debug, Clone)]
pub struct ProductNumbers {
    factors: Box<[(Arc<Numbers>, u32)]>,
    /// Shift and divisor.
    scale: Option<[f64; 2]>,
    /// Largest magnitude of a non-missing entry.
    largest: f64,
    is_missing: bool,
    /// Whether all entries are whole numbers from 0 to 255, so that the column would be stored as bytes.
    is_byte: bool,
}

/// View of some rows of a product column.
#[derive(Debug, Clone, Copy)]
pub struct ProductColumn<'a> {
    numbers: &'a ProductNumbers,
    start: usize,
    len: usize,
}

/// Rows computed at a time when all are read once.
const TILE: usize = 1024;

impl ProductNumbers {
    /// Creates the product of columns, each to a power of at least 1; a cell missing in one of them is missing. Cost
    /// O(rows·factors).
    ///
    /// # Panics
    /// Without factors, or if their numbers of rows differ; a caller with user data checks that first.
    pub fn new(factors: Vec<(Arc<Numbers>, u32)>) -> Self {
        let rows = factors.first().map(|(first, _)| first.view().len());
        assert!(
            rows.is_some_and(|rows| factors.iter().all(|(f, _)| f.view().len() == rows)),
            "factors have rows alike"
        );
        ProductNumbers { factors: factors.into(), scale: None, largest: 0.0, is_missing: false, is_byte: false }
            .measure()
    }

    /// (x − shift)/divisor of every entry. Cost O(rows·factors). Rescaling a second time stores the column.
    #[must_use]
    pub fn rescale(&self, shift: f64, divisor: f64) -> Numbers {
        if self.scale.is_some() {
            return self.view().to_vec().into_iter().map(|x| (x - shift) / divisor).collect::<Vec<f64>>().into();
        }
        Numbers::Product(ProductNumbers { scale: Some([shift, divisor]), ..self.clone() }.measure())
    }

    fn measure(self) -> Self {
        let (mut largest, mut is_missing, mut is_byte): (f64, _, _) = (0.0, false, true);
        self.view().for_each_tile(|tile| {
            for &x in tile {
                // `max` ignores NaN.
                largest = largest.max(x.abs());
                is_missing |= x.is_nan();
                is_byte &= crate::is_byte(x);
            }
            true
        });
        ProductNumbers { largest, is_missing, is_byte, ..self }
    }

    /// Factors, each with its power.
    pub fn factors(&self) -> &[(Arc<Numbers>, u32)] {
        &self.factors
    }

    /// Whether some cell is missing.
    pub fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// First row with an infinite entry.
    pub fn first_infinite(&self) -> Option<usize> {
        (self.largest == f64::INFINITY).then(|| self.view().to_vec().iter().position(|x| x.is_infinite())).flatten()
    }

    /// A view of the entries.
    pub fn view(&self) -> ProductColumn<'_> {
        let len = self.factors.first().map_or(0, |(factor, _)| factor.view().len());
        ProductColumn { numbers: self, start: 0, len }
    }

    /// Computes and stores the entries of `rows`.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Numbers {
        let values = Column::Product(self.view()).gather(rows);
        if self.is_byte { Numbers::from(values) } else { Numbers::Double(values) }
    }
}

impl<'a> ProductColumn<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The product column behind the view.
    pub fn numbers(&self) -> &'a ProductNumbers {
        self.numbers
    }

    /// Row of the whole column that is the first row of the view.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Largest magnitude of an entry of the whole column: 255 for bytes, NaN if a cell is missing.
    pub fn largest(&self) -> f64 {
        match self.numbers {
            ProductNumbers { is_byte: true, .. } => f64::from(u8::MAX),
            ProductNumbers { is_missing: true, .. } => f64::NAN,
            numbers => numbers.largest,
        }
    }

    /// Whether the whole column would be stored as bytes.
    pub fn is_byte(&self) -> bool {
        self.numbers.is_byte
    }

    /// The entry of `row`. Cost O(factors).
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> f64 {
        assert!(row < self.len, "row {row} of {}", self.len);
        let power = |(factor, exponent): &(Arc<Numbers>, u32)| power(factor.view().get(self.start + row), *exponent);
        let mut powers = self.numbers.factors.iter().map(power);
        let first = powers.next().unwrap_or(1.0);
        self.scale_value(powers.fold(first, |product, power| product * power))
    }

    fn scale_value(&self, x: f64) -> f64 {
        self.numbers.scale.map_or(x, |[shift, divisor]| (x - shift) / divisor)
    }

    /// The rows `start..end`.
    ///
    /// # Panics
    /// If there are no such rows.
    #[must_use]
    pub fn rows(&self, start: usize, end: usize) -> Self {
        assert!(start <= end && end <= self.len, "rows {start} to {end} of {}", self.len);
        ProductColumn { numbers: self.numbers, start: self.start + start, len: end - start }
    }

    /// Writes the entries from row `start` on until `out` is full. Cost O(rows·factors).
    ///
    /// # Panics
    /// If there are fewer rows.
    pub fn write(&self, start: usize, out: &mut [f64]) {
        let part = self.rows(start, start + out.len());
        let rows = part.start..part.start + part.len;
        if let [(a, 1), (b, 1)] = &part.numbers.factors[..]
            && let (Column::Double(a), Column::Double(b)) = (a.view(), b.view())
        {
            out.iter_mut().zip(a[rows.clone()].iter().zip(&b[rows])).for_each(|(out, (a, b))| *out = a * b);
        } else {
            for (place, (factor, exponent)) in part.numbers.factors.iter().enumerate() {
                let factor = factor.view().rows(rows.start, rows.end);
                match place {
                    0 => each(factor, out, |out, x| *out = power(x, *exponent)),
                    _ => each(factor, out, |out, x| *out *= power(x, *exponent)),
                }
            }
        }
        if let Some([shift, divisor]) = part.numbers.scale {
            out.iter_mut().for_each(|x| *x = (*x - shift) / divisor);
        }
    }

    /// All entries. Cost O(rows·factors).
    pub fn to_vec(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.len];
        self.write(0, &mut out);
        out
    }

    /// Calls a function with tiles of entries in order, for as long as it returns true.
    pub fn for_each_tile(&self, mut each: impl FnMut(&[f64]) -> bool) {
        let mut tile = [0.0; TILE];
        for start in (0..self.len).step_by(TILE) {
            let tile = &mut tile[..TILE.min(self.len - start)];
            self.write(start, tile);
            if !each(tile) {
                return;
            }
        }
    }

    /// Whether all entries are equal.
    pub fn is_constant(&self) -> bool {
        if self.len == 0 {
            return true;
        }
        let (first, mut is_constant) = (self.get(0), true);
        // One comparison decides for nearly all columns.
        if self.len > 1 && self.get(1) != first {
            return false;
        }
        self.for_each_tile(|tile| {
            is_constant = tile.iter().all(|x| *x == first);
            is_constant
        });
        is_constant
    }
}

/// x^exponent by multiplication, from 1.
#[inline]
fn power(x: f64, exponent: u32) -> f64 {
    if exponent == 1 { x } else { (0..exponent).fold(1.0, |power, _| power * x) }
}

/// Calls a function with each output entry and the matching factor entry.
fn each(factor: Column<'_>, out: &mut [f64], apply: impl Fn(&mut f64, f64)) {
    match factor {
        Column::Double(x) => out.iter_mut().zip(x).for_each(|(out, &x)| apply(out, x)),
        Column::Single(x) => out.iter_mut().zip(x).for_each(|(out, &x)| apply(out, f64::from(x))),
        Column::Byte(x) => out.iter_mut().zip(x).for_each(|(out, &x)| apply(out, f64::from(x))),
        Column::Sparse(x) => out.iter_mut().zip(x.to_vec()).for_each(|(out, x)| apply(out, x)),
        Column::Product(x) => out.iter_mut().zip(x.to_vec()).for_each(|(out, x)| apply(out, x)),
    }
}

impl PartialEq for ProductColumn<'_> {
    fn eq(&self, other: &Self) -> bool {
        (std::ptr::eq(self.numbers, other.numbers)
            && (self.start, self.len) == (other.start, other.len)
            && !self.numbers.is_missing)
            || (self.len == other.len && self.to_vec() == other.to_vec())
    }
}
