//! Ridge readouts from one orthogonal decomposition, for any number of λ.

use crate::linalg::{self, Failure};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Minimises Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² from the singular values of the scaled, centred rows.
///
/// The rows with their targets are reduced to a triangle by reflections, and its singular values serve every λ. Normal
/// equations are never formed, so small λ and high condition numbers cost no digits.
#[derive(Debug, Clone)]
pub struct Ridge {
    /// Scaled, centred rows: rows × features.
    x: Array2<f64>,
    /// Scaled, centred targets: rows × outputs.
    y: Array2<f64>,
    /// Singular values of x, and right singular vectors (features × values).
    d: Array1<f64>,
    v: Array2<f64>,
    /// Uᵀy: values × outputs.
    projected: Array2<f64>,
    /// √r_j.
    root: Array1<f64>,
    means: Array1<f64>,
    target_means: Array1<f64>,
    intercept: bool,
}

impl Ridge {
    /// Decomposes `x` (rows × features) for targets `y` (outputs × rows). Cost O(rows · features²).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn new(
        mut x: Array2<f64>,
        y: ArrayView2<f64>,
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, Failure> {
        let (rows, features) = x.dim();
        let weight: Array1<f64> = weights.map_or_else(|| Array1::ones(rows), |w| w.iter().copied().collect());
        let share = &weight / weight.sum();
        let (means, target_means) = if intercept {
            (share.dot(&x), y.dot(&share))
        } else {
            (Array1::zeros(features), Array1::zeros(y.nrows()))
        };
        let root = weight.mapv(f64::sqrt);
        let scale = root.view().insert_axis(Axis(1));
        x -= &means;
        x *= &scale;
        let y = (&y.t() - &target_means) * scale;
        let mut both = Array2::zeros((rows, features + y.ncols()));
        both.slice_mut(s![.., ..features]).assign(&x);
        both.slice_mut(s![.., features..]).assign(&y);
        let triangle = linalg::triangle(both.view())?;
        drop(both);
        // The triangle of x is at the left; Qᵀy stands beside it.
        let height = features.min(rows);
        let svd = linalg::svd(triangle.slice(s![..height, ..features]))?;
        let projected = svd.u.t().dot(&triangle.slice(s![..height, features..]));
        Ok(Ridge { x, y, d: svd.d, v: svd.v, projected, root, means, target_means, intercept })
    }

    /// Weights (features × outputs) and intercepts for one λ. Cost O(features² · outputs).
    pub fn coefficients(&self, lambda: f64) -> (Array2<f64>, Vec<f64>) {
        let weights = self.weights(lambda);
        let intercept = &self.target_means - &self.means.dot(&weights);
        (weights, if self.intercept { intercept.to_vec() } else { vec![0.0; self.y.ncols()] })
    }

    fn weights(&self, lambda: f64) -> Array2<f64> {
        let shrink = self.d.mapv(|d| d / (d * d + lambda)).insert_axis(Axis(1));
        self.v.dot(&(&self.projected * &shrink))
    }

    /// Mean squared leave-one-out error over rows and outputs for one λ. Cost O(rows · features · (features + outputs)).
    pub fn leave_one_out(&self, lambda: f64) -> f64 {
        let (residuals, _) = self.left_out(lambda);
        let total = self.root.dot(&self.root);
        residuals.iter().map(|r| r * r).sum::<f64>() / (total * self.y.ncols() as f64)
    }

    /// The residuals of every row predicted from the others, scaled by √r_j (rows × outputs), and the smallest
    /// 1 − leverage; where that is nearly 0 they have lost their digits. Cost O(rows · features · (features + outputs)).
    pub fn left_out(&self, lambda: f64) -> (Array2<f64>, f64) {
        let total = self.root.dot(&self.root);
        let mut residuals = &self.y - &self.x.dot(&self.weights(lambda));
        let along = linalg::gemm(self.x.view(), self.v.view());
        let mut low = f64::INFINITY;
        for ((j, along), mut residual) in along.rows().into_iter().enumerate().zip(residuals.rows_mut()) {
            let centre = if self.intercept { self.root[j] * self.root[j] / total } else { 0.0 };
            let leverage = centre + along.iter().zip(&self.d).map(|(a, d)| a * a / (d * d + lambda)).sum::<f64>();
            residual /= 1.0 - leverage;
            low = low.min(1.0 - leverage);
        }
        (residuals, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn one_column_has_the_textbook_weight_and_leave_one_out_error() {
        let (x, y) = (array![[1.0], [2.0], [4.0]], array![[3.0, 5.0, 6.0]]);
        let ridge = Ridge::new(x, y.view(), None, false).unwrap();
        let (weights, intercept) = ridge.coefficients(1.0);
        assert!((weights[[0, 0]] - 37.0 / 22.0).abs() < 1e-13);
        assert_eq!(intercept, [0.0]);
        let without = [(34.0, 21.0, 1.0, 3.0), (27.0, 18.0, 2.0, 5.0), (13.0, 6.0, 4.0, 6.0)];
        let expected: f64 = without.iter().map(|(b, a, x, y)| (y - x * b / a) * (y - x * b / a)).sum::<f64>() / 3.0;
        assert!((ridge.leave_one_out(1.0) - expected).abs() < 1e-12 * expected);
    }
}
