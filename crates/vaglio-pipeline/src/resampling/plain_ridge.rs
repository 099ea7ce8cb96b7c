//! Ridge regression by normal equations in plain loops, as a reference for tests.

use super::split_rule::TrainTestSplit;
use ndarray::Array2;
use vaglio_kernels::linalg;

/// Mean squared error on held-out rows, with all columns and an intercept.
#[allow(clippy::unwrap_used)]
pub fn held_out(columns: &[Vec<f64>], y: &[f64], parts: &[TrainTestSplit], lambda: f64) -> f64 {
    let (mut squares, mut rows) = (0.0, 0);
    for TrainTestSplit { training, held } in parts {
        let mean = |v: &[f64]| training.iter().map(|&row| v[row]).sum::<f64>() / training.len() as f64;
        let of_row = |v: &[f64], row: usize| v[row] - mean(v);
        let x = Array2::from_shape_fn((training.len(), columns.len()), |(j, k)| of_row(&columns[k], training[j]));
        let centred = Array2::from_shape_fn((training.len(), 1), |(j, _)| of_row(y, training[j]));
        let gram = x.t().dot(&x) + lambda * Array2::<f64>::eye(columns.len());
        let weights = linalg::solve(gram.view(), x.t().dot(&centred).view()).unwrap();
        for &row in held {
            let predicted =
                mean(y) + (0..columns.len()).map(|k| weights[[k, 0]] * of_row(&columns[k], row)).sum::<f64>();
            squares += (predicted - y[row]).powi(2);
        }
        rows += held.len();
    }
    squares / rows as f64
}
