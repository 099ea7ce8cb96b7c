//! Detection of duplicate columns.

use crate::Column;
use crate::parallel;
use std::collections::HashMap;

/// Seed and multiplier of the hashes.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

/// Index of the first column equal to each column; −0 equals 0. Found by a hash, confirmed by entries. Cost O(m·n), or
/// O(entries) for sparse columns.
pub fn first_equal(columns: &[Column<'_>]) -> Vec<usize> {
    // The hash is Σ_j c_j·h(x_j) with a number c_j per row, so that a sparse column's fill is hashed once.
    let row_hash = |row: usize| {
        let mixed = (row as u64 ^ SEED).wrapping_mul(SPREAD);
        (mixed ^ (mixed >> 32)).wrapping_mul(SPREAD) | 1
    };
    let row_hashes: Vec<u64> = (0..columns.first().map_or(0, Column::len)).map(row_hash).collect();
    let all = row_hashes.iter().fold(0u64, |sum, own| sum.wrapping_add(*own));
    let hash = |column: &Column<'_>| match column {
        Column::Sparse(x) => {
            let fill = bits(x.fill());
            let mut sum = all.wrapping_mul(fill);
            x.for_each(|row, value| {
                sum = sum.wrapping_add(row_hashes[row].wrapping_mul(bits(value).wrapping_sub(fill)));
            });
            sum
        }
        _ => {
            let values = column.values();
            row_hashes
                .iter()
                .zip(&*values)
                .fold(0u64, |sum, (own, value)| sum.wrapping_add(own.wrapping_mul(bits(*value))))
        }
    };
    let hashes: Vec<u64> = parallel::map_slice(columns, hash);
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    let find = |(place, hash): (usize, u64)| {
        let like = seen.entry(hash).or_default();
        let first = like.iter().copied().find(|&other| columns[other] == columns[place]);
        if first.is_none() {
            like.push(place);
        }
        first.unwrap_or(place)
    };
    hashes.into_iter().enumerate().map(find).collect()
}

/// Mixes the bits of an entry so that each changes the higher ones.
fn bits(value: f64) -> u64 {
    let mixed = (value + 0.0).to_bits().wrapping_mul(SPREAD);
    mixed ^ (mixed >> 32)
}
