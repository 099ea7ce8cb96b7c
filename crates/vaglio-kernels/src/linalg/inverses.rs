//! The inverse of a triangle, and of a positive definite matrix H whose rows and columns come and go.
//!
//! G. Golub and C. Van Loan, *Matrix Computations*, 2.1.

use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, s};

/// The inverse of an upper triangle, column by column. Cost O(s³/6).
pub(crate) fn inverse_of_triangle(triangle: ArrayView2<'_, f64>) -> Array2<f64> {
    let size = triangle.nrows();
    let mut inverse = Array2::zeros((size, size).f());
    for (j, mut column) in inverse.columns_mut().into_iter().enumerate() {
        column[j] = 1.0;
        for i in (0..=j).rev() {
            let value = column[i] / triangle[[i, i]];
            column.slice_mut(s![..i]).scaled_add(-value, &triangle.slice(s![..i, i]));
            column[i] = value;
        }
    }
    inverse
}

/// H with one more row and column, H + uuᵀ/σ beside −u/σ and 1/σ: σ is the Schur complement of the new diagonal entry, and
/// u = H·b for the new off-diagonal entries b. Cost O(s²).
pub(crate) fn with_border(h: &Array2<f64>, u: &[f64], sigma: f64) -> Array2<f64> {
    let size = u.len();
    let entry = |(i, j): (usize, usize)| match (i < size, j < size) {
        (true, true) => h[[i, j]] + u[i] * u[j] / sigma,
        (true, false) => -u[i] / sigma,
        (false, true) => -u[j] / sigma,
        (false, false) => 1.0 / sigma,
    };
    Array2::from_shape_fn((size + 1, size + 1), entry)
}

/// H without a row and column of the matrix: H_ij − H_ib·H_jb/H_bb. Cost O(s²).
pub(crate) fn without_border(h: &Array2<f64>, place: usize) -> Array2<f64> {
    let column = h.column(place);
    let others: Vec<usize> = (0..h.nrows()).filter(|&i| i != place).collect();
    let mut out = h.select(Axis(0), &others).select(Axis(1), &others);
    for ((i, j), entry) in out.indexed_iter_mut() {
        *entry -= column[others[i]] * column[others[j]] / column[place];
    }
    out
}
