//! Dense linear algebra over two backends: faer, or with the feature `lapack` LAPACK through ndarray-linalg and BLAS.
//! Matrices are `ndarray` arrays. Both backends agree to rounding and pass the same tests.

#[cfg(feature = "lapack")]
mod blas;
mod cancellation;
mod cholesky;
mod definite_system;
#[cfg(not(feature = "lapack"))]
mod faer_views;
mod inverse_factor;
mod inverses;
mod lower_factor;
mod separable_bound;
mod tridiagonal;

use crate::tolerance::CONDITIONING_SPARE;
use crate::trial::worse;
use cancellation::{interruptible, is_interruptible, pass_flops};
pub use cholesky::{Cholesky, solve};
pub(crate) use definite_system::solve_by_rows;
pub(crate) use inverse_factor::InverseFactor;
pub(crate) use inverses::{inverse_of_triangle, with_border, without_border};
pub use lower_factor::LowerFactor;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
pub use separable_bound::{POWERS, inverse_of_unit, largest_factor, separable, separable_part};
pub(crate) use tridiagonal::{Tridiagonal, tridiagonal};
use vaglio_columns::max_abs;

/// A factorization that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactorizationError {
    /// The matrix is not positive definite.
    NotPositiveDefinite,
    /// The iteration did not converge, for instance because entries are not finite.
    NoConvergence,
}

impl std::fmt::Display for FactorizationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FactorizationError::NotPositiveDefinite => "a matrix is not positive definite",
            FactorizationError::NoConvergence => "a matrix factorization did not converge",
        })
    }
}

impl std::error::Error for FactorizationError {}

/// Factors U, d and V of A = U·diag(d)·Vᵀ.
type Svd = (Array2<f64>, Array1<f64>, Array2<f64>);

#[cfg(not(feature = "lapack"))]
mod backend {
    use super::faer_views::view;
    use super::{FactorizationError, Svd};
    use faer::{Mat, MatRef, Side};
    use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder};

    pub(super) fn to_ndarray(a: MatRef<'_, f64>) -> Array2<f64> {
        let mut out = Array2::zeros((a.nrows(), a.ncols()).f());
        for (mut to, from) in out.columns_mut().into_iter().zip(a.col_iter()) {
            to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from);
        }
        out
    }

    pub fn gemm(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
        to_ndarray((view(&a) * view(&b)).as_ref())
    }

    pub fn gram(a: ArrayView2<f64>) -> Array2<f64> {
        use faer::linalg::matmul::triangular::{BlockStructure, matmul};
        let n = a.ncols();
        let mut out = Mat::zeros(n, n);
        let a = view(&a);
        let (full, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
        matmul(out.as_mut(), lower, faer::Accum::Replace, a.transpose(), full, a, full, 1.0, faer::Par::Seq);
        let mut out = to_ndarray(out.as_ref());
        for j in 1..n {
            let (before, mut rest) = out.view_mut().split_at(ndarray::Axis(1), j);
            rest.column_mut(0).iter_mut().zip(before.row(j)).for_each(|(above, below)| *above = *below);
        }
        out
    }

    pub fn eigh(a: ArrayView2<f64>) -> Result<(Array1<f64>, Array2<f64>), FactorizationError> {
        let decomposition = view(&a).self_adjoint_eigen(Side::Lower).map_err(|_| FactorizationError::NoConvergence)?;
        let values = decomposition.S().column_vector().iter().copied().collect();
        Ok((values, to_ndarray(decomposition.U())))
    }

    pub fn inverse(a: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
        use faer::linalg::solvers::DenseSolveCore;
        let factor = view(&a).llt(Side::Lower).map_err(|_| FactorizationError::NotPositiveDefinite)?;
        Ok(to_ndarray(factor.inverse().as_ref()))
    }

    pub fn triangle(a: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
        Ok(to_ndarray(view(&a).qr().thin_R()))
    }

    pub fn svd(a: ArrayView2<f64>) -> Result<Svd, FactorizationError> {
        let s = view(&a).thin_svd().map_err(|_| FactorizationError::NoConvergence)?;
        Ok((to_ndarray(s.U()), s.S().column_vector().iter().copied().collect(), to_ndarray(s.V())))
    }

    pub fn spectral_radius(a: ArrayView2<f64>) -> Result<f64, FactorizationError> {
        let values = view(&a).eigenvalues().map_err(|_| FactorizationError::NoConvergence)?;
        Ok(values.iter().fold(0.0, |most: f64, value| most.max(value.re.hypot(value.im))))
    }
}

#[cfg(feature = "lapack")]
mod backend {
    pub use super::blas::{gemm, gram};
    use super::{FactorizationError, Svd};
    use ndarray::{Array1, Array2, ArrayView2};
    use ndarray_linalg::{EigVals, Eigh, InverseC, JobSvd, QR, SVDDC, UPLO};
    use openblas_src as _;

    /// A copy in standard layout: LAPACK's wrapper rejects the strides that a slice of one row or column may have.
    pub(super) fn plain(a: ArrayView2<f64>) -> Array2<f64> {
        Array2::from_shape_fn(a.dim(), |at| a[at])
    }

    pub fn eigh(a: ArrayView2<f64>) -> Result<(Array1<f64>, Array2<f64>), FactorizationError> {
        plain(a).eigh(UPLO::Lower).map_err(|_| FactorizationError::NoConvergence)
    }

    pub fn inverse(a: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
        plain(a).invc().map_err(|_| FactorizationError::NotPositiveDefinite)
    }

    pub fn triangle(a: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
        plain(a).qr().map(|(_, r)| r).map_err(|_| FactorizationError::NoConvergence)
    }

    pub fn svd(a: ArrayView2<f64>) -> Result<Svd, FactorizationError> {
        let (u, d, vt) = plain(a).svddc(JobSvd::Some).map_err(|_| FactorizationError::NoConvergence)?;
        match (u, vt) {
            (Some(u), Some(vt)) => Ok((u, d, vt.reversed_axes())),
            _ => Err(FactorizationError::NoConvergence),
        }
    }

    pub fn spectral_radius(a: ArrayView2<f64>) -> Result<f64, FactorizationError> {
        let values = plain(a).eigvals().map_err(|_| FactorizationError::NoConvergence)?;
        Ok(values.iter().fold(0.0, |most: f64, value| most.max(value.re.hypot(value.im))))
    }
}

/// A·B. Cost O(m·k·n).
pub fn gemm(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let flops = 2.0 * a.len() as f64 * b.ncols() as f64;
    if !is_interruptible(flops) {
        return backend::gemm(a, b);
    }
    let b = b.to_owned();
    interruptible(a, flops, move |a| backend::gemm(a, b.view()))
}

/// AᵀA of an m × n matrix. Cost O(m·n²).
pub fn gram(a: ArrayView2<f64>) -> Array2<f64> {
    interruptible(a, (a.len() * a.ncols()) as f64, backend::gram)
}

/// Eigenvalues in increasing order and eigenvectors (columns) of a symmetric matrix. Cost O(n³).
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if the iteration does not converge or entries are not finite.
pub fn eigh(a: ArrayView2<f64>) -> Result<(Array1<f64>, Array2<f64>), FactorizationError> {
    factors(a, 9.0, (Array1::zeros(0), Array2::zeros((0, 0))), backend::eigh)
}

/// The inverse of a symmetric positive definite matrix. Cost O(n³).
///
/// # Errors
/// [`FactorizationError::NotPositiveDefinite`] if the matrix has no Cholesky factor.
pub fn inverse(a: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
    if a.is_empty() {
        return Ok(Array2::zeros((0, 0)));
    }
    interruptible(a, pass_flops(&a, 2.0), backend::inverse)
}

/// The triangle R, min(m, n) × n, of A = Q·R with orthonormal columns in Q; row signs are the backend's. Cost O(m·n²).
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if entries are not finite.
pub fn triangle(a: ArrayView2<f64>) -> Result<Array2<f64>, FactorizationError> {
    let none = Array2::zeros((0, a.ncols()));
    factors(a, 2.0, none, backend::triangle)
}

/// Thin singular value decomposition A = U·diag(d)·Vᵀ of an m × n matrix, with p = min(m, n): U is m × p, d has the
/// singular values in decreasing order, and V is n × p. Cost O(m·n·p).
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if the iteration does not converge or entries are not finite.
pub fn svd(a: ArrayView2<f64>) -> Result<Svd, FactorizationError> {
    let (m, n) = a.dim();
    let none = (Array2::zeros((m, 0)), Array1::zeros(0), Array2::zeros((n, 0)));
    factors(a, 10.0, none, backend::svd)
}

/// Powers of two that scale a positive diagonal to about 1; 1 for other entries.
pub(crate) fn unit_scale(diagonal: ArrayView1<f64>) -> Array1<f64> {
    let scale = diagonal.mapv(|d| (-0.5 * d.log2()).round().exp2());
    scale.mapv(|scale| if scale.is_finite() { scale } else { 1.0 })
}

/// A ← diag(s)·A·diag(s).
pub(crate) fn scale_symmetric(a: &mut Array2<f64>, scale: &Array1<f64>) {
    a.indexed_iter_mut().for_each(|((i, j), entry)| *entry = *entry * scale[i] * scale[j]);
}

/// Conditioning of a ridge fit from singular values: min_i (s_i² + λ)/(s_i·s_max), times a safety factor and at most 1.
/// An error ε·s_max in X moves the fit by ε·s_max·s_i/(s_i² + λ).
pub(crate) fn conditioning(values: &[f64], lambda: f64) -> f64 {
    let most = max_abs(values);
    let share = |d: &f64| CONDITIONING_SPARE * ((d / most) + lambda / (d * most));
    values.iter().filter(|d| **d > 0.0).map(share).fold(1.0, worse)
}

/// Largest |eigenvalue| of a square matrix; 0 for an empty one. Cost O(n³).
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if the iteration does not converge or entries are not finite.
pub fn spectral_radius(a: ArrayView2<f64>) -> Result<f64, FactorizationError> {
    let radius = factors(a, 25.0, 0.0, backend::spectral_radius)?;
    if radius.is_finite() { Ok(radius) } else { Err(FactorizationError::NoConvergence) }
}

/// Factors of a matrix with finite entries, at the cost of `passes`; `none` for an empty matrix.
fn factors<T: Send + 'static>(
    a: ArrayView2<f64>,
    passes: f64,
    none: T,
    factor: fn(ArrayView2<f64>) -> Result<T, FactorizationError>,
) -> Result<T, FactorizationError> {
    finite(&a)?;
    if a.is_empty() { Ok(none) } else { interruptible(a, pass_flops(&a, passes), factor) }
}

fn finite(a: &ArrayView2<f64>) -> Result<(), FactorizationError> {
    if a.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(FactorizationError::NoConvergence) }
}
