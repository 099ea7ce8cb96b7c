//! Pivoted Cholesky decomposition of a matrix that is never materialized.

use vaglio_kernels::sums::axpy;

/// Columns of G with A ≈ GGᵀ, given A's diagonal and a function that computes a column of A.
///
/// Each step takes the column of the largest remaining diagonal entry, until `is_enough` accepts columns and remaining
/// trace. Cost O(n·rank²).
pub(super) fn factorize(
    mut rest: Vec<f64>,
    column: impl Fn(usize) -> Vec<f64>,
    mut is_enough: impl FnMut(&[Vec<f64>], f64) -> bool,
) -> Vec<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < rest.len() {
        let Some(pivot) = largest(&rest) else { break };
        let mut column = column(pivot);
        for earlier in &columns {
            axpy(-earlier[pivot], earlier, &mut column);
        }
        let root = rest[pivot].sqrt();
        column.iter_mut().for_each(|v| *v /= root);
        for (rest, v) in rest.iter_mut().zip(&column) {
            *rest = (*rest - v * v).max(0.0);
        }
        rest[pivot] = 0.0;
        columns.push(column);
        if is_enough(&columns, rest.iter().sum()) {
            break;
        }
    }
    columns
}

/// Index of the largest positive entry, the first among equals.
fn largest(rest: &[f64]) -> Option<usize> {
    let mut best = (None, 0.0);
    for (place, &value) in rest.iter().enumerate() {
        if value > best.1 {
            best = (Some(place), value);
        }
    }
    best.0
}
