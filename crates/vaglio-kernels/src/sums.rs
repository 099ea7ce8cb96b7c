//! Sums over one column, in lanes of fixed order.

use crate::f64x8::{F64x8, double, fold_eights};
use crate::{Column, SparseColumn, vectorize};
pub use vaglio_columns::center;

/// Number of interleaved partial sums, added up in order at the end.
pub(crate) const LANES: usize = F64x8::WIDTH;

/// Rows per tile: vectors of this length stay in the second-level cache.
pub(crate) const TILE: usize = 4096;

/// Adds Σ_j (x_j − shift)·v_k[j] to lane j mod 8 of sum k. The `C` columns share one read of the vectors.
///
/// Every tile but the last has a multiple of 8 rows. The bits do not depend on which columns go together.
pub(crate) fn add_products<E: Copy + Into<f64>, const C: usize, const N: usize>(
    columns: [&[E]; C],
    shifts: [f64; C],
    vectors: [&[f64]; N],
    sums: &mut [[F64x8; N]; C],
) {
    vectorize!(move || {
        let rows = columns[0].len();
        let whole = rows / LANES;
        let rests = columns.map(|x| &x[whole * LANES..rows]);
        let tails = vectors.map(|v| &v[whole * LANES..rows]);
        let columns = columns.map(|x| &x.as_chunks().0[..whole]);
        let vectors = vectors.map(|v| &v.as_chunks().0[..whole]);
        let by = shifts.map(F64x8::splat);
        let mut lanes = *sums;
        for j in 0..whole {
            let v: [F64x8; N] = std::array::from_fn(|k| F64x8::load(&vectors[k][j]));
            for c in 0..C {
                let x = F64x8::load(&columns[c][j]) - by[c];
                for k in 0..N {
                    lanes[c][k] = lanes[c][k] + x * v[k];
                }
            }
        }
        if !rests[0].is_empty() {
            // The last eight is padded so that it adds 0: adding its lanes one by one would make the compiler
            // narrow the vectors of the loop above.
            let v: [F64x8; N] = std::array::from_fn(|k| F64x8::part(tails[k], 0.0));
            for c in 0..C {
                let x = F64x8::part(rests[c], shifts[c]) - by[c];
                for k in 0..N {
                    lanes[c][k] = lanes[c][k] + x * v[k];
                }
            }
        }
        *sums = lanes;
    });
}

/// Σ_j (x_j − shift)·v_j. Cost O(m), or O(entries) for a sparse column whose fill is the shift.
pub fn product(x: Column<'_>, shift: f64, v: &[f64]) -> f64 {
    let mut sums = [[F64x8::ZERO]];
    match x {
        Column::Double(x) => add_products([x], [shift], [v], &mut sums),
        Column::Single(x) => add_products([x], [shift], [v], &mut sums),
        Column::Byte(x) => add_products([x], [shift], [v], &mut sums),
        Column::Sparse(x) => {
            let rest = x.fill() - shift;
            return sparse_product(x, v) + if rest == 0.0 { 0.0 } else { rest * sum(v) };
        }
        Column::Product(x) => {
            let mut v = v;
            x.for_each_tile(|tile| {
                let (own, rest) = v.split_at(tile.len());
                add_products([tile], [shift], [own], &mut sums);
                v = rest;
                true
            });
        }
    }
    sums[0][0].sum()
}

/// Σ_j v_j. Cost O(m).
pub(crate) fn sum(v: &[f64]) -> f64 {
    vectorize!(|| fold_eights!([v], [0.0], F64x8::ZERO, |sum, [v]| sum + v)).sum()
}

/// Σ_j (x_j − fill)·v_j. Cost O(entries).
pub(crate) fn sparse_product(x: SparseColumn<'_>, v: &[f64]) -> f64 {
    let (fill, mut sum) = (x.fill(), 0.0);
    x.for_each(|row, value| sum += (value - fill) * v[row]);
    sum
}

/// xᵀy. Cost O(m).
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    product(Column::Double(x), 0.0, y)
}

/// Products x_j·y_j, entry by entry.
pub(crate) fn times(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}

/// y ← y + α x. Cost O(m).
pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    vectorize!(move || {
        for (y, x) in y.iter_mut().zip(x) {
            *y += alpha * x;
        }
    });
}

/// y ← y − Σ_k α_k x_k, one term after the other. Cost O(m·C).
pub(crate) fn subtract<const C: usize>(x: [&[f64]; C], alphas: [f64; C], y: &mut [f64]) {
    vectorize!(move || {
        let x = x.map(|x| &x[..y.len()]);
        for (j, y) in y.iter_mut().enumerate() {
            for k in 0..C {
                *y -= alphas[k] * x[k][j];
            }
        }
    });
}

/// out_j ← scale_j·(x_j − shift); scales are 1 if absent. Cost O(m).
pub(crate) fn shift_and_scale(x: Column<'_>, shift: f64, scale: Option<&[f64]>, out: &mut [f64]) {
    #[inline(always)]
    fn scale_entries<E: Copy + Into<f64>>(x: &[E], shift: f64, scale: Option<&[f64]>, out: &mut [f64]) {
        match scale {
            None => out.iter_mut().zip(x).for_each(|(o, x)| *o = double(*x) - shift),
            Some(scale) => {
                out.iter_mut().zip(x).zip(scale).for_each(|((o, x), s)| *o = (double(*x) - shift) * s);
            }
        }
    }
    match x {
        Column::Double(x) => vectorize!(|| scale_entries(x, shift, scale, out)),
        Column::Single(x) => vectorize!(|| scale_entries(x, shift, scale, out)),
        Column::Byte(x) => vectorize!(|| scale_entries(x, shift, scale, out)),
        Column::Sparse(x) => {
            let rest = x.fill() - shift;
            match scale {
                None => out.fill(rest),
                Some(scale) => out.iter_mut().zip(scale).for_each(|(out, scale)| *out = rest * scale),
            }
            x.for_each(|row, value| out[row] = (value - shift) * scale.map_or(1.0, |scale| scale[row]));
        }
        Column::Product(x) => {
            let mut start = 0;
            x.for_each_tile(|tile| {
                let rows = start..start + tile.len();
                let scale = scale.map(|scale| &scale[rows.clone()]);
                vectorize!(|| scale_entries(tile, shift, scale, &mut out[rows.clone()]));
                start = rows.end;
                true
            });
        }
    }
}
