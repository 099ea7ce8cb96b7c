//! Gaussian kernel matrices of full rank.

use super::cholesky::kernel;
use super::{ThinFactor, square_roots};
use ndarray::{Array2, ArrayView1, s};
use std::borrow::Cow;
use vaglio_core::{Result, StopSign, sum_of_products, sum_of_squares};
use vaglio_kernels::linalg::gemm;
use vaglio_kernels::parallel;

/// Rows of the matrix computed at a time.
const PANEL: usize = 128;

/// Returns <K̄, L̄> for the kernel matrix K̄ of each factor, and ‖L̄‖²_F, with L̄ the centered kernel matrix of the rows of
/// `coordinates`; `shares` are the p_j.
///
/// With M = P^{½}LP^{½} and v = P^{½}1, ‖v‖ = 1: factors are centered, so <K̄, L̄> is tr(FᵀMF); and ‖L̄‖² = ‖M‖² −
/// 2‖Mv‖² + (vᵀMv)². A few rows of M are computed at a time. Cost O(m²·(coordinates + Σ rank)), memory O(m) beside the
/// factors.
///
/// # Errors
/// [`vaglio_core::Error::Stopped`].
pub fn full_products(
    shares: &[f64],
    coordinates: &[Vec<f64>],
    bandwidth: f64,
    factors: &[Cow<'_, ThinFactor>],
    sign: &StopSign,
) -> Result<(Vec<f64>, f64)> {
    let (rows, scale) = (shares.len(), -0.5 / (bandwidth * bandwidth));
    let roots = square_roots(shares);
    let mut products = vec![0.0; factors.len()];
    let (mut squares, mut along_squares, mut both) = (0.0, 0.0, 0.0);
    for start in (0..rows).step_by(PANEL) {
        sign.check()?;
        let height = PANEL.min(rows - start);
        let mut panel = vec![0.0; height * rows];
        parallel::chunks_mut(&mut panel, rows, |at, to| {
            to.copy_from_slice(&kernel(&roots, coordinates, scale, start + at));
        });
        let panel = Array2::from_shape_vec((height, rows), panel).unwrap_or_default();
        squares += sum_of_squares(&panel);
        let along: Vec<f64> = panel.rows().into_iter().map(|row| row.dot(&ArrayView1::from(&roots))).collect();
        along_squares += sum_of_squares(&along);
        both += sum_of_products(&along, &roots[start..]);
        parallel::each_mut(&mut products, |at, sum| {
            let Some(factor) = factors[at].matrix(rows) else { return };
            let product = gemm(panel.view(), factor);
            let own = factor.slice(s![start..start + height, ..]);
            *sum += sum_of_products(&product, own);
        });
    }
    Ok((products, squares - 2.0 * along_squares + both * both))
}
