//! The inverse of a triangle.

use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

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
