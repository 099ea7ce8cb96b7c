//! Ridge readouts from one orthogonal reduction of the rows, for any number of λ.

use crate::linalg::{self, Failure};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² by reflections of the scaled, centered rows.
///
/// The rows with their targets are reduced to a triangle once; for each λ the triangle stacked on √λ·I is reduced again.
/// Neither forms normal equations, and rounding in a column stays relative to that column, so small λ, high condition
/// numbers and columns of unlike scale cost no digits.
#[derive(Debug, Clone)]
pub struct Ridge {
    /// Scaled, centered rows: rows × features.
    x: Array2<f64>,
    /// Scaled, centered targets: rows × outputs.
    y: Array2<f64>,
    /// The triangle of x with Qᵀy beside it: min(rows, features) × (features + outputs).
    triangle: Array2<f64>,
    /// √r_j.
    root: Array1<f64>,
    means: Array1<f64>,
    target_means: Array1<f64>,
    intercept: bool,
}

impl Ridge {
    /// Reduces `x` (rows × features) for targets `y` (outputs × rows). Cost O(rows · features²).
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
        let triangle = reduce(x.view(), y.view())?.slice(s![..features.min(rows), ..]).to_owned();
        Ok(Ridge { x, y, triangle, root, means, target_means, intercept })
    }

    /// Weights (features × outputs) and intercepts for one λ. Cost O(features³).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn coefficients(&self, lambda: f64) -> Result<(Array2<f64>, Vec<f64>), Failure> {
        let (_, weights) = self.solve(lambda)?;
        let intercept = &self.target_means - &self.means.dot(&weights);
        Ok((weights, if self.intercept { intercept.to_vec() } else { vec![0.0; self.y.ncols()] }))
    }

    /// The triangle R of the rows stacked on √λ·I, features × features, and the weights.
    fn solve(&self, lambda: f64) -> Result<(Array2<f64>, Array2<f64>), Failure> {
        let (height, features) = (self.triangle.nrows(), self.x.ncols());
        let mut stacked = Array2::zeros((height + features, self.triangle.ncols()));
        stacked.slice_mut(s![..height, ..]).assign(&self.triangle);
        stacked.slice_mut(s![height.., ..]).diag_mut().slice_mut(s![..features]).fill(lambda.sqrt());
        let reduced = linalg::triangle(stacked.view())?;
        let triangle = reduced.slice(s![..features, ..features]).to_owned();
        Ok((triangle, back_substituted(reduced.view(), features)))
    }

    /// Mean squared leave-one-out error over rows and outputs for one λ. Cost O(rows · features · (features + outputs)).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn leave_one_out(&self, lambda: f64) -> Result<f64, Failure> {
        let (triangle, weights) = self.solve(lambda)?;
        let total = self.root.dot(&self.root);
        let mut residuals = &self.y - &self.x.dot(&weights);
        // Row j of X·R⁻¹ has the leverage as its sum of squares.
        let mut along = vec![0.0; self.x.ncols()];
        for ((j, row), mut residual) in self.x.rows().into_iter().enumerate().zip(residuals.rows_mut()) {
            for k in 0..along.len() {
                let known: f64 = along[..k].iter().zip(triangle.slice(s![..k, k])).map(|(a, r)| a * r).sum();
                along[k] = (row[k] - known) / triangle[[k, k]];
            }
            let center = if self.intercept { self.root[j] * self.root[j] / total } else { 0.0 };
            residual /= 1.0 - center - along.iter().map(|a| a * a).sum::<f64>();
        }
        Ok(residuals.iter().map(|r| r * r).sum::<f64>() / (total * self.y.ncols() as f64))
    }
}

/// R⁻¹Z of [R Z] with R in its upper left, features × features.
pub(crate) fn back_substituted(reduced: ArrayView2<f64>, features: usize) -> Array2<f64> {
    let mut weights = reduced.slice(s![..features, features..]).to_owned();
    for mut column in weights.columns_mut() {
        for k in (0..features).rev() {
            let known = reduced.slice(s![k, k + 1..features]).dot(&column.slice(s![k + 1..]));
            column[k] = (column[k] - known) / reduced[[k, k]];
        }
    }
    weights
}

/// Rows that are reduced at once, at least; they stay in cache with the triangle of those before.
const TILE: usize = 1024;

/// The triangle of [x | y], tile of rows after tile of rows on the triangle of those before.
pub(crate) fn reduce(x: ArrayView2<f64>, y: ArrayView2<f64>) -> Result<Array2<f64>, Failure> {
    let (features, width) = (x.ncols(), x.ncols() + y.ncols());
    let tile = TILE.max(4 * width);
    let mut triangle = Array2::zeros((0, width));
    for (x, y) in x.axis_chunks_iter(Axis(0), tile).zip(y.axis_chunks_iter(Axis(0), tile)) {
        let mut stacked = Array2::zeros((triangle.nrows() + x.nrows(), width));
        let (mut above, mut below) = stacked.view_mut().split_at(Axis(0), triangle.nrows());
        above.assign(&triangle);
        below.slice_mut(s![.., ..features]).assign(&x);
        below.slice_mut(s![.., features..]).assign(&y);
        triangle = linalg::triangle(stacked.view())?;
    }
    Ok(triangle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn one_column_has_the_textbook_weight_and_leave_one_out_error() {
        let (x, y) = (array![[1.0], [2.0], [4.0]], array![[3.0, 5.0, 6.0]]);
        let ridge = Ridge::new(x, y.view(), None, false).unwrap();
        let (weights, intercept) = ridge.coefficients(1.0).unwrap();
        assert!((weights[[0, 0]] - 37.0 / 22.0).abs() < 1e-13);
        assert_eq!(intercept, [0.0]);
        let without = [(34.0, 21.0, 1.0, 3.0), (27.0, 18.0, 2.0, 5.0), (13.0, 6.0, 4.0, 6.0)];
        let expected: f64 = without.iter().map(|(b, a, x, y)| (y - x * b / a) * (y - x * b / a)).sum::<f64>() / 3.0;
        assert!((ridge.leave_one_out(1.0).unwrap() - expected).abs() < 1e-12 * expected);
    }
}
