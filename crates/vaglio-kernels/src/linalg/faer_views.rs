//! Matrices of `ndarray` as views of faer, without a copy.

use faer::{MatMut, MatRef};
use ndarray::{ArrayView2, ArrayViewMut2};

pub(crate) fn view<'a>(a: &'a ArrayView2<'_, f64>) -> MatRef<'a, f64> {
    let (rows, columns) = a.dim();
    let strides = a.strides();
    // SAFETY: the pointer and strides come from a live view of exactly `rows` × `columns` doubles.
    unsafe { MatRef::from_raw_parts(a.as_ptr(), rows, columns, strides[0], strides[1]) }
}

/// View of the last `n` rows.
pub(crate) fn rows_below<'a>(b: &'a mut ArrayViewMut2<'_, f64>, n: usize) -> MatMut<'a, f64> {
    let (rows, columns) = b.dim();
    let strides = [b.strides()[0], b.strides()[1]];
    // SAFETY: the pointer and strides come from a live mutable view of exactly `rows` × `columns` doubles.
    let all = unsafe { MatMut::from_raw_parts_mut(b.as_mut_ptr(), rows, columns, strides[0], strides[1]) };
    all.subrows_mut(rows - n, n)
}
