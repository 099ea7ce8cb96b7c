//! Distinct rows of columns.

use std::cmp::Ordering;
use vaglio_kernels::Column;

/// Seed and multiplier of the hashes.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

/// Returns the first of each set of equal rows, and the place of every row among these. Their order depends on their
/// entries alone, not on their positions.
///
/// −0 equals 0. Rows are sorted by a hash of their entries, computed column by column; entries are compared only where
/// hashes agree. Cost O(m·n + m log m), memory 24·m bytes.
pub(crate) fn distinct_rows(columns: &[Column<'_>], rows: usize) -> (Vec<usize>, Vec<usize>) {
    let mut hashes = vec![SEED; rows];
    for column in columns {
        mix(&mut hashes, &column.values());
    }
    let compared = |a: usize, b: usize| {
        let by_entries = || columns.iter().map(|c| (c.get(a) + 0.0).total_cmp(&(c.get(b) + 0.0))).find(|o| o.is_ne());
        hashes[a].cmp(&hashes[b]).then_with(|| by_entries().unwrap_or(Ordering::Equal))
    };
    let order = vaglio_core::argsort_by(rows, compared);
    let (mut distinct, mut places): (Vec<usize>, _) = (Vec::new(), vec![0; rows]);
    for row in order {
        if distinct.last().is_none_or(|&last| compared(last, row).is_ne()) {
            distinct.push(row);
        }
        places[row] = distinct.len() - 1;
    }
    (distinct, places)
}

/// Mixes an entry into each hash: the multiplication spreads a bit upwards, and the shift brings it down again.
fn mix(hashes: &mut [u64], values: &[f64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        let mixed = (*hash ^ (value + 0.0).to_bits()).wrapping_mul(SPREAD);
        *hash = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_rows_is_given_in_an_order_of_their_own() {
        let x = [1.5, 0.0, 1.5, -0.0, 2.5, 1.5];
        let y = [3u8, 1, 3, 1, 3, 4];
        let (rows, places) = distinct_rows(&[Column::Double(&x), Column::Byte(&y)], 6);
        assert_eq!(places.iter().map(|&place| rows[place]).collect::<Vec<_>>(), [0, 1, 0, 1, 4, 5]);
        let mut sorted = rows.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 4, 5]);
        let values = |rows: &[usize], x: &[f64], y: &[u8]| rows.iter().map(|&r| (x[r] + 0.0, y[r])).collect::<Vec<_>>();
        let expected = values(&rows, &x, &y);
        let (mut x, mut y) = (x.to_vec(), y.to_vec());
        x.reverse();
        y.reverse();
        let (again, _) = distinct_rows(&[Column::Double(&x), Column::Byte(&y)], 6);
        assert_eq!(values(&again, &x, &y), expected);
    }

    #[test]
    fn without_columns_all_rows_are_one() {
        assert_eq!(distinct_rows(&[], 5), (vec![0], vec![0; 5]));
        assert_eq!(distinct_rows(&[], 0), (Vec::new(), Vec::new()));
    }
}
