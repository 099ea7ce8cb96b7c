//! K-fold searches on seeded data.
#![allow(clippy::unwrap_used)]

use std::time::Instant;
use vaglio_kernels::kfold::{Folds, Moments, Rows};
use vaglio_kernels::loo::Data;
use vaglio_kernels::{Column, Level};

fn main() {
    for (seed, rows, columns, folds) in [(2, 16_281, 400, 10), (3, 345_000, 200, 23)] {
        let (x, y) = sparse_linear(seed, rows, columns, 50);
        let rows = rows_of(&x, &y, folds);
        for _ in 0..3 {
            let (seconds, _) = timed(|| Moments::new(&rows).unwrap());
            println!("moments {seconds:.3}");
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let out = work();
    (start.elapsed().as_secs_f64(), out)
}

fn rows_of<'d>(x: &'d [Vec<f64>], y: &[f64], folds: usize) -> Rows<'d> {
    let columns = x.iter().map(|x| Column::Double(x)).collect();
    let data = Data::new(Level::best(), columns, vec![true; x.len()], &[y], None, false).unwrap();
    let fold = |j: usize| (j * folds / y.len()) as u32;
    Rows::new(data, Folds::new(&(0..y.len()).map(fold).collect::<Vec<u32>>()), false, false)
}

fn uniform(seed: u64, counter: u64) -> f64 {
    let mut z = seed.wrapping_add((counter + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0) * 3f64.sqrt()
}

/// Uniform noise of unit variance, neighbours correlated by 0.5, and `effects` columns of falling effect.
fn sparse_linear(seed: u64, rows: usize, columns: usize, effects: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let column = |j: usize| (0..rows).map(|i| uniform(seed, (i * columns + j) as u64)).collect();
    let mut x: Vec<Vec<f64>> = (0..columns).map(column).collect();
    for j in 1..columns {
        let (before, after) = x.split_at_mut(j);
        for (now, last) in after[0].iter_mut().zip(&before[j - 1]) {
            *now = 0.5 * last + 0.75f64.sqrt() * *now;
        }
    }
    let mut y: Vec<f64> = (0..rows).map(|i| uniform(seed + 1000, i as u64)).collect();
    for t in 0..effects.min(columns) {
        let effect = if t % 2 == 0 { 1.0 } else { -1.0 } / (1.0 + 0.1 * t as f64);
        y.iter_mut().zip(&x[(t * 37 + 5) % columns]).for_each(|(y, x)| *y += effect * x);
    }
    (x, y)
}
