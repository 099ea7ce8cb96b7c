//! Fit of a subset at one λ from eigenvalues; for nearly dependent columns from the rows.
//!
//! With A = X_SᵀX_S = V·diag(v)·Vᵀ and z = VᵀX_Sᵀy: ‖e‖² = ‖y‖² − Σ z²(v + 2λ)/(v + λ)² and d = Σ v/(v + λ). Products
//! of rows know an eigenvalue up to rounding of the largest one, so small ones may have no digits. Their directions B =
//! X_S V₂ are computed from the rows, where dependent columns cancel before they are squared.

use crate::data::{CenteredData, dot};
use crate::state::SubsetFit;
use ndarray::{Array1, Array2};
use vaglio_core::Feature;
use vaglio_kernels::linalg;
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::{EIGENVALUE_OF_ROWS, ERROR_LEFT, UNLIKE_COLUMNS};

/// Fits a subset; `None` if too few digits remain. Cost O(s³ + m·s·k) with k small eigenvalues.
pub(crate) fn fit(data: &CenteredData, subset: &[Feature], lambda: f64) -> Option<SubsetFit> {
    let size = subset.len();
    let squares = subset.iter().map(|&feature| data.squares[feature]);
    let (least, most) = squares.fold((f64::INFINITY, 0.0f64), |(least, most), s| (least.min(s), most.max(s)));
    if size == 0 || most > UNLIKE_COLUMNS * least || !most.is_finite() {
        return None;
    }
    let (values, vectors) = linalg::eigh(data.gram(subset).view()).ok()?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let (small, large): (Vec<usize>, Vec<usize>) = (0..size).partition(|&k| values[k] <= EIGENVALUE_OF_ROWS * largest);
    let total: f64 = data.target_squares.iter().sum();
    let mut found = SubsetFit { squares: total, freedom: 0.0, is_reliable: true };
    for &k in &large {
        let along = |products: &Vec<f64>| subset.iter().zip(vectors.column(k)).map(|(&f, v)| products[f] * v).sum();
        found.take(values[k], data.along.iter().map(along), lambda);
    }
    if !small.is_empty() {
        let direction = |&k: &usize| {
            let mut out = vec![0.0; data.targets.first().map_or(0, Vec::len)];
            for (&feature, v) in subset.iter().zip(vectors.column(k)) {
                axpy(*v, &data.column(feature), &mut out);
            }
            out
        };
        let directions: Vec<Vec<f64>> = small.iter().map(direction).collect();
        let block = Array2::from_shape_fn((small.len(), small.len()), |(i, k)| {
            dot(&directions[i.min(k)], &directions[i.max(k)])
        });
        let (values, vectors) = linalg::eigh(block.view()).ok()?;
        let output_products: Vec<Array1<f64>> =
            data.targets.iter().map(|y| directions.iter().map(|direction| dot(direction, y)).collect()).collect();
        for (value, vector) in values.iter().zip(vectors.columns()) {
            found.take(value.max(0.0), output_products.iter().map(|along| along.dot(&vector)), lambda);
        }
    }
    (found.squares > ERROR_LEFT * total && found.freedom.is_finite()).then_some(found)
}

impl SubsetFit {
    /// Adds the contribution of a direction, given each output's component along it.
    fn take(&mut self, value: f64, along: impl Iterator<Item = f64>, lambda: f64) {
        let over = value + lambda;
        self.freedom += value / over;
        self.squares -= along.map(|z| (z / over) * (z * ((value + 2.0 * lambda) / over))).sum::<f64>();
    }
}
