//! Columns, distinct rows and kernel of a kernel matrix.

use crate::kernel::KernelSettings;
use crate::similarity::KernelFunction;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::cmp::Ordering;
use vaglio_core::{Column, Columns, Feature, Result, argsort_by};

/// Number of pairs of rows whose median distance is the bandwidth.
const PAIRS: usize = 2048;

/// Columns, rows and kernel of a kernel matrix.
pub(crate) struct KernelInputs {
    /// Columns that the kernel uses.
    pub inputs: Vec<Feature>,
    /// One row of each set of equal rows.
    pub distinct: Vec<usize>,
    /// Place of every row in `distinct`.
    pub places: Vec<usize>,
    pub kernel: KernelFunction,
}

impl KernelInputs {
    /// Resolves the kernel on the columns `among`, in their order. Constant columns change no distance, so an `rbf`
    /// kernel ignores them.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] if the square of the median distance over- or underflows.
    pub fn select(settings: &KernelSettings, seed: u64, columns: &Columns, among: &[Feature]) -> Result<Self> {
        let is_rbf = settings.kind == crate::KernelKind::Rbf;
        let is_seen = |f: &Feature| !(is_rbf && columns.column(*f).is_constant());
        let inputs: Vec<Feature> = among.iter().copied().filter(is_seen).collect();
        let seen: Vec<Column<'_>> = inputs.iter().map(|&f| columns.column(f)).collect();
        let (distinct, places) = distinct_rows(&seen, columns.rows());
        let kernel = settings.fixed(|| median_distance(&seen, &distinct, seed))?;
        Ok(KernelInputs { inputs, distinct, places, kernel })
    }

    /// Entries of some rows.
    pub fn entries(&self, columns: &Columns, rows: &[usize]) -> Vec<Vec<f64>> {
        rows.iter().map(|&row| self.inputs.iter().map(|&f| columns.column(f).get(row)).collect()).collect()
    }
}

/// Median of ‖u − v‖ over pairs of rows: all, or a sample; 1 if there is no pair.
fn median_distance(columns: &[Column<'_>], rows: &[usize], seed: u64) -> f64 {
    let distance = |(a, b): (usize, usize)| {
        let (a, b) = (rows[a], rows[b]);
        columns.iter().fold(0.0, |sum, column| sum + (column.get(a) - column.get(b)).powi(2)).sqrt()
    };
    let count = rows.len();
    let mut distances: Vec<f64> = if count * count.saturating_sub(1) / 2 <= PAIRS {
        (0..count).flat_map(|a| (0..a).map(move |b| (a, b))).map(distance).collect()
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let mut pair = || {
            let (a, b) = (below(&mut random, count), below(&mut random, count - 1));
            (a, if b < a { b } else { b + 1 })
        };
        (0..PAIRS).map(|_| distance(pair())).collect()
    };
    distances.sort_unstable_by(f64::total_cmp);
    let last = distances.len().checked_sub(1);
    last.map_or(1.0, |last| 0.5 * (distances[last / 2] + distances[last.div_ceil(2)]))
}

/// Shuffles the rows by the seed.
pub(crate) fn shuffle(mut rows: Vec<usize>, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for last in (1..rows.len()).rev() {
        rows.swap(last, below(&mut random, last + 1));
    }
    rows
}

/// A uniform number among 0, …, `count` − 1.
fn below(random: &mut ChaCha8Rng, count: usize) -> usize {
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}

/// Seed and multiplier of the hashes.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

/// Returns the first of each set of equal rows, and the place of every row among these. Their order depends on their
/// entries alone, not on their positions.
///
/// −0 equals 0. Rows are sorted by a hash of their entries, computed column by column; entries are compared only where
/// hashes agree. Cost O(m·n + m log m), memory 24·m bytes.
fn distinct_rows(columns: &[Column<'_>], rows: usize) -> (Vec<usize>, Vec<usize>) {
    let mut hashes = vec![SEED; rows];
    for column in columns {
        mix(&mut hashes, &column.values());
    }
    let compared = |a: usize, b: usize| {
        let by_entries = || columns.iter().map(|c| (c.get(a) + 0.0).total_cmp(&(c.get(b) + 0.0))).find(|o| o.is_ne());
        hashes[a].cmp(&hashes[b]).then_with(|| by_entries().unwrap_or(Ordering::Equal))
    };
    let order = argsort_by(rows, compared);
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
