//! Cholesky factorization A = LLᵀ for any number of right-hand sides.

use super::{FactorizationError, finite, interruptible, pass_flops};
use ndarray::{Array2, ArrayView1, ArrayView2};
use vaglio_columns::max_abs;

/// The Cholesky factor of a symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub struct Cholesky(backend::Factor);

impl Cholesky {
    /// Factors A, reading its lower half. Cost O(n³).
    ///
    /// # Errors
    /// [`FactorizationError::NotPositiveDefinite`], or [`FactorizationError::NoConvergence`] if entries are not finite.
    pub fn new(a: ArrayView2<f64>) -> Result<Self, FactorizationError> {
        finite(&a)?;
        interruptible(a, pass_flops(&a, 1.0 / 3.0), backend::factor).map(Cholesky)
    }

    /// Solves A·X = B for X, n × r. Cost O(n²·r).
    pub fn solve(&self, b: ArrayView2<f64>) -> Array2<f64> {
        if b.is_empty() { Array2::zeros(b.dim()) } else { backend::solve(&self.0, b) }
    }

    /// Estimates the 1-norm of A⁻¹ from below, mostly within a third. Cost O(n²).
    ///
    /// # Reference
    /// N. J. Higham and F. Tisseur, *A block algorithm for matrix 1-norm estimation*, SIAM Journal on Matrix Analysis
    /// and Applications 21(4), 2000.
    pub fn inverse_norm(&self, n: usize) -> f64 {
        let sum = |x: ArrayView1<f64>| x.iter().map(|v| v.abs()).sum::<f64>();
        let mut x = Array2::from_shape_fn((n, TOGETHER), |(i, k)| sign(i, k) / n as f64);
        let (mut norm, mut seen) = (0.0f64, vec![false; n]);
        for _ in 0..MOST_STEPS {
            let y = self.solve(x.view());
            norm = y.columns().into_iter().map(sum).fold(norm, f64::max);
            // Lower bounds of the column sums of the inverse.
            let slopes = self.solve(y.mapv(f64::signum).view());
            let least: Vec<f64> = slopes.rows().into_iter().map(max_abs).collect();
            let mut next: Vec<usize> = (0..n).filter(|&i| !seen[i] && least[i] > 0.0).collect();
            next.sort_by(|&i, &j| least[j].total_cmp(&least[i]));
            next.truncate(TOGETHER);
            if next.first().is_none_or(|&i| least[i] <= norm) {
                break;
            }
            x = Array2::zeros((n, next.len()));
            for (k, &i) in next.iter().enumerate() {
                (x[[i, k]], seen[i]) = (1.0, true);
            }
        }
        norm
    }
}

/// Number of vectors and of iterations of the norm estimate.
const TOGETHER: usize = 4;
const MOST_STEPS: usize = 5;

/// Solves A·X = B for a symmetric positive definite A. Cost O(n³ + n²·k).
///
/// # Errors
/// Returns the errors of [`Cholesky::new`].
pub fn solve(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
    if b.is_empty() {
        return Ok(Array2::zeros(b.dim()));
    }
    Ok(Cholesky::new(a)?.solve(b))
}

/// Signs of the starting vectors: equal, alternating, alternating in pairs, and by the parity of the index's bits.
fn sign(i: usize, k: usize) -> f64 {
    let is_below = match k {
        0 => false,
        1 => i % 2 == 1,
        2 => i % 4 > 1,
        _ => i.count_ones() % 2 == 1,
    };
    if is_below { -1.0 } else { 1.0 }
}

#[cfg(not(feature = "lapack"))]
mod backend {
    use super::super::faer_views::view;
    use super::super::{FactorizationError, backend};
    use faer::Side;
    use faer::linalg::solvers::{Llt, Solve};
    use ndarray::{Array2, ArrayView2};

    pub type Factor = Llt<f64>;

    pub fn factor(a: ArrayView2<f64>) -> Result<Factor, FactorizationError> {
        view(&a).llt(Side::Lower).map_err(|_| FactorizationError::NotPositiveDefinite)
    }

    pub fn solve(factor: &Factor, b: ArrayView2<f64>) -> Array2<f64> {
        backend::to_ndarray(factor.solve(view(&b)).as_ref())
    }
}

#[cfg(feature = "lapack")]
mod backend {
    use super::super::{FactorizationError, backend};
    use ndarray::{Array2, ArrayView2, OwnedRepr};
    use ndarray_linalg::{CholeskyFactorized, FactorizeC, SolveC, UPLO};
    use std::fmt;
    use std::sync::Arc;

    /// `None` for an empty matrix.
    #[derive(Clone)]
    pub struct Factor(Option<Arc<CholeskyFactorized<OwnedRepr<f64>>>>);

    impl fmt::Debug for Factor {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Factor")
        }
    }

    pub fn factor(a: ArrayView2<f64>) -> Result<Factor, FactorizationError> {
        if a.is_empty() {
            return Ok(Factor(None));
        }
        let factor = backend::plain(a).factorizec(UPLO::Lower).map_err(|_| FactorizationError::NotPositiveDefinite)?;
        Ok(Factor(Some(Arc::new(factor))))
    }

    pub fn solve(factor: &Factor, b: ArrayView2<f64>) -> Array2<f64> {
        let mut out = backend::plain(b);
        for mut column in out.columns_mut() {
            let solution = factor.0.as_ref().and_then(|factor| factor.solvec(&column.to_owned()).ok());
            // `solvec` cannot fail for a vector of the factor's length.
            column.assign(&solution.unwrap_or_else(|| ndarray::Array1::from_elem(column.len(), f64::NAN)));
        }
        out
    }
}
