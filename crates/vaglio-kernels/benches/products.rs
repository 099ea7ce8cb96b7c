//! Products of 20000 × 780: XᵀX and XᵀX·B, minimum time of several in seconds, on one thread.
//!
//! `cargo bench -p vaglio-kernels --bench products` uses faer in `linalg`, or OpenBLAS with `--features lapack`; set
//! `OPENBLAS_NUM_THREADS=1` to keep it on one thread. `block products` are the kernels' own, which k-fold searches use,
//! over all columns in two folds.
#![allow(clippy::unwrap_used)]

use ndarray::Array2;
use std::time::Instant;
use vaglio_columns::Column;
use vaglio_kernels::kfold::{FoldedRows, Moments};
use vaglio_kernels::{Data, Folds, Level, linalg};
use vaglio_testkit::data::sparse_linear;

const TIMES: usize = 5;

fn main() {
    let (rows, columns) = (20_000, 780);
    let (x, y) = sparse_linear(1, rows, columns, 50, 1.0);
    let matrix = Array2::from_shape_fn((rows, columns), |(row, k)| x[k][row]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let behind = if cfg!(feature = "lapack") { "OpenBLAS" } else { "faer" };
        println!("{rows} x {columns}, {}; linalg is {behind}", Level::current().name());
        let products = linalg::gram(matrix.view());
        say("linalg::gram", || linalg::gram(matrix.view())[[0, 1]]);
        say("linalg::gemm", || linalg::gemm(matrix.view(), products.view())[[0, 1]]);
        say("ndarray dot, XᵀX", || matrix.t().dot(&matrix)[[0, 1]]);
        let plain = matrix.t().dot(&matrix);
        let scale = plain.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let off = products.iter().zip(&plain).map(|(a, b)| (a - b).abs() / scale).fold(0.0, f64::max);
        println!("entries of XᵀX differ by {off:.1e} of the largest, at most");
        let read = x.iter().map(|x| Column::Double(x)).collect();
        let data = Data::new(read, &[&y], None, false, None).unwrap();
        let halves: Vec<u32> = (0..rows).map(|row| u32::from(row >= rows / 2)).collect();
        let folded = FoldedRows::new(data, Folds::new(&halves), false);
        say("block products", || {
            Moments::new(&folded).unwrap();
            0.0
        });
    });
}

/// Prints a name with the minimum wall time and the result.
fn say(name: &str, work: impl Fn() -> f64) {
    let timed = |_| {
        let start = Instant::now();
        let result = work();
        (start.elapsed().as_secs_f64(), result)
    };
    let (seconds, result) = (0..TIMES).map(timed).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    println!("{name}: {seconds:.3} s ({result:?})");
}
