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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, SparseNumbers};

    const ROWS: usize = 2500;

    fn factors() -> Vec<Arc<Numbers>> {
        let double = |value: fn(f64) -> f64| (0..ROWS).map(|row| value(row as f64)).collect::<Vec<f64>>();
        let sparse = SparseNumbers::new(ROWS, vec![3, 70, 2000], vec![2.0, 1.5, 3.0]);
        [
            Numbers::from(double(|x| (0.37 * x).sin())),
            Numbers::from(double(|x| x % 5.0)),
            Numbers::from(double(|x| 1e3 + (0.11 * x).cos())),
            Numbers::from(double(|x| (1.7 * x).sin())).in_single(),
            Numbers::Sparse(sparse),
            Numbers::from(double(|x| if x == 1234.0 { f64::NAN } else { x + 0.5 })),
        ]
        .map(Arc::new)
        .to_vec()
    }

    /// Computes the entries like stored ones: powers from 1, factor by factor.
    fn stored(factors: &[(Arc<Numbers>, u32)]) -> Vec<f64> {
        let powers = |(factor, exponent): &(Arc<Numbers>, u32)| -> Vec<f64> {
            factor.view().values().iter().map(|x| (0..*exponent).fold(1.0, |power, _| power * x)).collect()
        };
        let mut all = factors.iter().map(powers);
        let first = all.next().unwrap();
        all.fold(first, |product, powers| product.iter().zip(powers).map(|(a, b)| a * b).collect())
    }

    #[test]
    fn entries_are_those_of_the_stored_product_to_the_bit() {
        let all = factors();
        for powers in [
            vec![(0, 1), (2, 1)],
            vec![(1, 2)],
            vec![(0, 3), (1, 1), (3, 2)],
            vec![(4, 1), (2, 1)],
            vec![(5, 1), (0, 1)],
        ] {
            let own: Vec<(Arc<Numbers>, u32)> = powers.iter().map(|(f, e)| (Arc::clone(&all[*f]), *e)).collect();
            let expected = stored(&own);
            let product = ProductNumbers::new(own);
            for (made, stored) in [
                (Numbers::Product(product.clone()), Numbers::from(expected.clone())),
                (product.rescale(0.3, 7.0), expected.iter().map(|x| (x - 0.3) / 7.0).collect::<Vec<f64>>().into()),
            ] {
                let (made, stored) = (made.view(), stored.view());
                let same = |a: &[f64], b: &[f64]| {
                    assert!(
                        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
                        "{powers:?}"
                    );
                };
                same(&made.values(), &stored.values());
                same(&made.rows(1000, 2200).values(), &stored.rows(1000, 2200).values());
                for rows in [vec![7, 2400, 0], (100..140).rev().collect(), vec![]] {
                    same(&made.gather(&rows), &stored.gather(&rows));
                }
                assert_eq!(made.get(2001).to_bits(), stored.get(2001).to_bits());
                assert_eq!(made.rounding(), stored.rounding());
                let Column::Product(column) = made else { panic!("it is stored") };
                assert_eq!(column.is_byte(), matches!(stored, Column::Byte(_)));
                assert_eq!(column.numbers().is_missing(), powers.contains(&(5, 1)));
                assert!(made != stored.rows(0, ROWS - 1) && !made.is_constant());
            }
        }
    }

    #[test]
    fn memory_is_that_of_the_factors_counted_once() {
        let all = factors();
        let mut columns = Columns::new(ROWS);
        let mut first = Numbers::clone(&all[0]);
        let shared = first.share();
        columns.push(first);
        let stored = columns.bytes();
        assert_eq!(stored, 8 * ROWS);
        (0..50).for_each(|_| columns.push(Numbers::Product(ProductNumbers::new(vec![(Arc::clone(&shared), 2)]))));
        assert!(columns.bytes() < stored + 50 * 20);
        assert!(columns.bytes_of_rows(ROWS / 2) == columns.bytes() as f64 / 2.0);
        let view = columns.view_rows(&[5, 1, 2]);
        assert_eq!(
            (view.count_products(), columns.count_products(), view.bytes_of_rows(ROWS)),
            (50, 50, columns.bytes() as f64)
        );
        assert_eq!(view.column(7), Column::Double(&columns.column(7).gather(&[5, 1, 2])));
        let chosen = columns.select_rows(&[9, 8]);
        assert_eq!((chosen.bytes(), chosen.column(50).get(0)), (51 * 16, columns.column(0).get(9).powi(2)));
    }

    #[test]
    fn constants_and_infinities_are_seen() {
        let doubles = |values: Vec<f64>| Arc::new(Numbers::Double(values));
        let (x, inverse) = (doubles(vec![2.0, 4.0, 0.5]), doubles(vec![0.5, 0.25, 2.0]));
        let one = ProductNumbers::new(vec![(Arc::clone(&x), 1), (inverse, 1)]);
        assert!(one.view().is_constant() && one.view().is_byte());
        let large = ProductNumbers::new(vec![(doubles(vec![1.0, 1e200, f64::NAN]), 2)]);
        assert_eq!((large.first_infinite(), large.is_missing()), (Some(1), true));
        assert_eq!(ProductNumbers::new(vec![(x, 2)]).first_infinite(), None);
    }
}
