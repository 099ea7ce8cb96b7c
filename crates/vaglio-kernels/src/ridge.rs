//! Ridge readouts from one singular value decomposition, for any number of λ.

use crate::linalg::{self, Failure, Svd};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Minimises Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² from the singular values of the scaled, centred rows.
///
/// Normal equations are never formed, so small λ and high condition numbers cost no digits.
#[derive(Debug, Clone)]
pub struct Ridge {
    svd: Svd,
    /// Uᵀy of each output: p × outputs.
    projected: Array2<f64>,
    /// Scaled, centred targets: outputs × rows.
    targets: Array2<f64>,
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
        let rows = x.nrows();
        let weight: Array1<f64> = weights.map_or_else(|| Array1::ones(rows), |w| w.iter().copied().collect());
        let share = &weight / weight.sum();
        let (means, target_means) = if intercept {
            (share.dot(&x), y.dot(&share))
        } else {
            (Array1::zeros(x.ncols()), Array1::zeros(y.nrows()))
        };
        let root = weight.mapv(f64::sqrt);
        x -= &means;
        x *= &root.view().insert_axis(Axis(1));
        let targets = (&y - &target_means.view().insert_axis(Axis(1))) * &root;
        let svd = linalg::svd(x.view())?;
        drop(x);
        let projected = linalg::gemm(svd.u.t(), targets.t());
        Ok(Ridge { svd, projected, targets, root, means, target_means, intercept })
    }

    /// Weights (features × outputs) and intercepts for one λ. Cost O(features² · outputs).
    pub fn coefficients(&self, lambda: f64) -> (Array2<f64>, Vec<f64>) {
        let shrink = self.svd.d.mapv(|d| d / (d * d + lambda)).insert_axis(Axis(1));
        let weights = self.svd.v.dot(&(&self.projected * &shrink));
        let intercept = &self.target_means - &self.means.dot(&weights);
        (weights, if self.intercept { intercept.to_vec() } else { vec![0.0; self.targets.nrows()] })
    }

    /// Mean squared leave-one-out error over rows and outputs for one λ. Cost O(rows · features · outputs).
    pub fn leave_one_out(&self, lambda: f64) -> f64 {
        let kept = self.svd.d.mapv(|d| d * d / (d * d + lambda));
        let total = self.root.dot(&self.root);
        let fitted = (&self.svd.u * &kept).dot(&self.projected);
        let mut sum = 0.0;
        for (j, u) in self.svd.u.rows().into_iter().enumerate() {
            let centre = if self.intercept { self.root[j] * self.root[j] / total } else { 0.0 };
            let leverage = centre + u.iter().zip(&kept).map(|(u, k)| u * u * k).sum::<f64>();
            for o in 0..self.targets.nrows() {
                let residual = (self.targets[[o, j]] - fitted[[j, o]]) / (1.0 - leverage);
                sum += residual * residual;
            }
        }
        sum / (total * self.targets.nrows() as f64)
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
