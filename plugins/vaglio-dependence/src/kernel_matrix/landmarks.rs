//! Nyström approximation of Gaussian kernel matrices.
//!
//! C. Williams and M. Seeger, *Using the Nyström method to speed up kernel machines*, NIPS 2000. The book,
//! criteria/nhsic.md.

use ndarray::Array2;
use vaglio_kernels::linalg::{FactorizationError, eigh};
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::SMALL_EIGENVALUE;

/// Points at which kernels are sampled: K ≈ F·Fᵀ with F = K_mb·K_bb^{−½} for the b points.
///
/// The points are equidistant from −5 to 5 over the standardized entries. Eigenvalues of K_bb below 1e-10 of the
/// largest are omitted, so F has rank ≤ b.
pub struct Landmarks {
    points: Vec<f64>,
    /// Eigenvectors of the kept eigenvalues, each divided by the eigenvalue's root.
    directions: Vec<Vec<f64>>,
    scale: f64,
}

/// Range of the points, in standard deviations on either side.
const REACH: f64 = 5.0;

impl Landmarks {
    /// Creates `count` points for a kernel of width `bandwidth`. Cost O(count³).
    ///
    /// # Errors
    /// Returns the errors of [`eigh`].
    pub fn new(count: usize, bandwidth: f64) -> Result<Self, FactorizationError> {
        let scale = -0.5 / (bandwidth * bandwidth);
        let step = 2.0 * REACH / (count.max(2) - 1) as f64;
        let points: Vec<f64> = (0..count).map(|k| -REACH + step * k as f64).collect();
        let kernel = |u: f64, v: f64| (scale * (u - v) * (u - v)).exp();
        let (values, vectors) =
            eigh(Array2::from_shape_fn((count, count), |(k, l)| kernel(points[k], points[l])).view())?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept = (0..count).rev().filter(|&k| values[k] > SMALL_EIGENVALUE * largest);
        let directions = kept.map(|k| vectors.column(k).iter().map(|v| v / values[k].sqrt()).collect()).collect();
        Ok(Landmarks { points, directions, scale })
    }

    /// K_mb·K_bb^{−½} for standardized entries: `rank` columns before centering. Cost O(m·b·rank).
    pub fn features(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let near = |point: f64| values.iter().map(|u| (self.scale * (u - point) * (u - point)).exp()).collect();
        let near: Vec<Vec<f64>> = self.points.iter().map(|&point| near(point)).collect();
        let along = |direction: &Vec<f64>| {
            let mut column = vec![0.0; values.len()];
            direction.iter().zip(&near).for_each(|(w, near)| axpy(*w, near, &mut column));
            column
        };
        self.directions.iter().map(along).collect()
    }
}
