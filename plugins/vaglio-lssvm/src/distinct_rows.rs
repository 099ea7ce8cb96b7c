//! Distinct rows of columns.

use std::cmp::Ordering;
use vaglio_core::Column;

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
