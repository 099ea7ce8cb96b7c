//! Matrix products by the BLAS that comes with LAPACK.

use cblas_sys::{CBLAS_LAYOUT, CBLAS_TRANSPOSE, CBLAS_UPLO, cblas_dgemm, cblas_dsyrk};
use ndarray::{Array2, ArrayView2, CowArray, Ix2};
use std::ffi::c_int;

/// A matrix in a layout that BLAS reads: its rows, or those of its transpose, one after the other.
struct BlasMatrix<'a> {
    entries: CowArray<'a, f64, Ix2>,
    is_transposed: bool,
    /// Distance in entries from one row to the next.
    leading: c_int,
}

impl<'a> BlasMatrix<'a> {
    /// Borrows the entries, or copies them if they have other strides. Returns `None` if the matrix is empty or too
    /// large for BLAS's integers.
    fn new(a: ArrayView2<'a, f64>) -> Option<Self> {
        let counted = |n: usize| c_int::try_from(n).ok().filter(|n| *n > 0);
        let (rows, columns) = (counted(a.nrows())?, counted(a.ncols())?);
        Some(match (a.is_standard_layout(), a.t().is_standard_layout()) {
            (true, _) => BlasMatrix { entries: a.into(), is_transposed: false, leading: columns },
            (_, true) => BlasMatrix { entries: a.into(), is_transposed: true, leading: rows },
            _ => {
                let copy = Array2::from_shape_fn(a.dim(), |at| a[at]);
                BlasMatrix { entries: copy.into(), is_transposed: false, leading: columns }
            }
        })
    }

    fn transpose(&self) -> CBLAS_TRANSPOSE {
        if self.is_transposed { CBLAS_TRANSPOSE::CblasTrans } else { CBLAS_TRANSPOSE::CblasNoTrans }
    }
}

/// A·B. Cost O(m·k·n).
pub fn gemm(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let (m, k, n) = (a.nrows(), a.ncols(), b.ncols());
    let (Some(left), Some(right), true) = (BlasMatrix::new(a), BlasMatrix::new(b), b.nrows() == k) else {
        return a.dot(&b);
    };
    let mut out = Array2::zeros((m, n));
    let layout = CBLAS_LAYOUT::CblasRowMajor;
    let (ours, theirs) = (left.transpose(), right.transpose());
    let (from, with, to) = (left.entries.as_ptr(), right.entries.as_ptr(), out.as_mut_ptr());
    let sizes = [m as c_int, n as c_int, k as c_int];
    // SAFETY: `from` and `with` are live dense matrices of m × k and k × n doubles, in the layouts given by `ours` and
    // `theirs` with their leading dimensions; `to` is an own m × n matrix in row order. All sizes fit `c_int`.
    unsafe {
        let [m, n, k] = sizes;
        cblas_dgemm(layout, ours, theirs, m, n, k, 1.0, from, left.leading, with, right.leading, 0.0, to, n);
    }
    out
}

/// AᵀA of an m × n matrix; computes one triangle. Cost O(m·n²/2).
pub fn gram(a: ArrayView2<f64>) -> Array2<f64> {
    let (m, n) = a.dim();
    let Some(laid) = BlasMatrix::new(a) else { return a.t().dot(&a) };
    let mut out = Array2::zeros((n, n));
    // If the stored rows are those of Aᵀ, AᵀA is their product with the transpose.
    let transpose = if laid.is_transposed { CBLAS_TRANSPOSE::CblasNoTrans } else { CBLAS_TRANSPOSE::CblasTrans };
    let (layout, upper) = (CBLAS_LAYOUT::CblasRowMajor, CBLAS_UPLO::CblasUpper);
    let (from, to) = (laid.entries.as_ptr(), out.as_mut_ptr());
    let sizes = [n as c_int, m as c_int];
    // SAFETY: `from` is a live dense matrix of m × n doubles in the layout given by `transpose` and its leading
    // dimension; `to` is an own n × n matrix. All sizes fit `c_int`.
    unsafe {
        let [n, m] = sizes;
        cblas_dsyrk(layout, upper, transpose, n, m, 1.0, from, laid.leading, 0.0, to, n);
    }
    for j in 1..n {
        for i in 0..j {
            out[[j, i]] = out[[i, j]];
        }
    }
    out
}
