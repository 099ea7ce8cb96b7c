//! Gaussian kernel matrices by pivoted Cholesky decomposition.
//!
//! S. Fine and K. Scheinberg, *Efficient SVM training using low-rank kernel representations*, JMLR 2 (2001). The book,
//! criteria/nhsic.md.

use super::{ThinFactor, square_roots};
use vaglio_kernels::sums::{axpy, dot};
use vaglio_kernels::tolerance::{TRACE_LEFT, TRACE_ROUNDING};

/// Factor of the Gaussian kernel exp(−‖u_j − u_k‖²/2σ²) on the rows of `coordinates`, each standardized.
///
/// Pivoted Cholesky decomposition, which never materializes the m × m matrix: G gains the column of the largest
/// remaining diagonal entry until the remaining trace, which bounds the norm, is 1e-12 of tr(K̄)/√rank ≤ ‖K̄‖_F. So
/// every inner product is exact to about 1e-12 of the norms. A Gaussian kernel of one standardized variable with σ = 1
/// has a numerical rank of 20 to 30; a narrow kernel has as many as there are distinct values. `shares` are the p_j.
/// Returns `None` if `most` columns are not enough. Cost O(m·rank²), memory O(m·rank).
pub fn gaussian(shares: &[f64], coordinates: &[Vec<f64>], bandwidth: f64, most: usize) -> Option<ThinFactor> {
    let roots = square_roots(shares);
    let scale = -0.5 / (bandwidth * bandwidth);
    let (mut spread, mut is_within) = (0.0, true);
    let is_enough = |columns: &[Vec<f64>], left: f64| {
        let Some(column) = columns.last() else { return false };
        let mean = dot(column, &roots);
        spread += (dot(column, column) - mean * mean).max(0.0);
        let is_enough = left <= (TRACE_LEFT * spread / (columns.len() as f64).sqrt()).max(TRACE_ROUNDING);
        is_within = is_enough || columns.len() < most;
        is_enough || !is_within
    };
    let columns = factorize(shares.to_vec(), |pivot| kernel(&roots, coordinates, scale, pivot), is_enough);
    is_within.then(|| ThinFactor::from_columns(&roots, columns))
}

/// Column `pivot` of P^{½}KP^{½}.
pub(super) fn kernel(roots: &[f64], coordinates: &[Vec<f64>], scale: f64, pivot: usize) -> Vec<f64> {
    let mut distance = vec![0.0; roots.len()];
    for u in coordinates {
        let center = u[pivot];
        distance.iter_mut().zip(u).for_each(|(d, u)| *d += (u - center) * (u - center));
    }
    let own = roots[pivot];
    distance.iter_mut().zip(roots).for_each(|(d, root)| *d = root * own * (scale * *d).exp());
    distance
}

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
