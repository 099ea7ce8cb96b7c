//! Gaussian kernel matrices of full rank.

use super::ThinFactor;
use super::cholesky::kernel;
use ndarray::{Array1, Array2, ArrayView1, s};
use std::borrow::Cow;
use vaglio_core::{Result, StopSign, sum_of_products, sum_of_squares};
use vaglio_kernels::linalg::gemm;
use vaglio_kernels::parallel;

/// Rows of the matrix computed at a time.
const PANEL: usize = 128;

/// Centered Gaussian kernel matrix L̄ of several coordinates, computed a few rows at a time.
///
/// In many dimensions no rows are close to each other, and a thin factor would have as many columns as rows and cost
/// O(m³). Memory O(m).
pub struct FullKernel<'k> {
    roots: Vec<f64>,
    coordinates: &'k [Vec<f64>],
    scale: f64,
}

impl<'k> FullKernel<'k> {
    /// Kernel exp(−‖u_j − u_k‖²/2σ²) on the rows of `coordinates`; `shares` are the p_j.
    pub fn new(shares: &[f64], coordinates: &'k [Vec<f64>], bandwidth: f64) -> Self {
        let roots = shares.iter().map(|p| p.sqrt()).collect();
        FullKernel { roots, coordinates, scale: -0.5 / (bandwidth * bandwidth) }
    }

    /// Returns <K̄, L̄> for the kernel matrix K̄ of each factor, and ‖L̄‖²_F.
    ///
    /// With M = P^{½}LP^{½} and v = P^{½}1, ‖v‖ = 1: factors are centered, so <K̄, L̄> is tr(FᵀMF); and ‖L̄‖² = ‖M‖² −
    /// 2‖Mv‖² + (vᵀMv)². Cost O(m²·(coordinates + Σ rank)), memory O(m) beside the factors.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Stopped`].
    pub fn products(&self, factors: &[Cow<'_, ThinFactor>], sign: &StopSign) -> Result<(Vec<f64>, f64)> {
        let rows = self.roots.len();
        let (mut products, roots) = (vec![0.0; factors.len()], ArrayView1::from(&self.roots));
        let (mut squares, mut along_squares, mut both) = (0.0, 0.0, 0.0);
        for start in (0..rows).step_by(PANEL) {
            sign.check()?;
            let panel = self.panel(start..rows.min(start + PANEL));
            squares += sum_of_squares(&panel);
            let along: Array1<f64> = panel.rows().into_iter().map(|row| row.dot(&roots)).collect();
            along_squares += sum_of_squares(&along);
            both += sum_of_products(&along, &self.roots[start..]);
            parallel::each_mut(&mut products, |at, sum| {
                let Some(factor) = factors[at].matrix(rows) else { return };
                let product = gemm(panel.view(), factor);
                let own = factor.slice(s![start..start + panel.nrows(), ..]);
                *sum += sum_of_products(&product, own);
            });
        }
        Ok((products, squares - 2.0 * along_squares + both * both))
    }

    /// Some rows of P^{½}LP^{½}.
    fn panel(&self, rows: std::ops::Range<usize>) -> Array2<f64> {
        let width = self.roots.len();
        let mut panel = vec![0.0; rows.len() * width];
        parallel::chunks_mut(&mut panel, width, |at, to| {
            to.copy_from_slice(&kernel(&self.roots, self.coordinates, self.scale, rows.start + at));
        });
        Array2::from_shape_vec((rows.len(), width), panel).unwrap_or_default()
    }
}
