//! Small positive definite systems that say how far they are to be trusted: by the least pivot, or by a bound of the
//! condition number. [`Cholesky`](super::Cholesky) says neither, and is for systems of any size.

use crate::Level;
use crate::tolerance::ILL_CONDITIONED;
use crate::trial::worse;
use ndarray::Array2;
use pulp::NullaryFnOnce;

/// X ← A⁻¹X for a symmetric A in its upper half, which is lost; the least pivot, 0 where A is not positive definite.
pub(crate) fn solve_by_rows(level: Level, a: &mut Array2<f64>, x: &mut Array2<f64>) -> f64 {
    let (size, width) = x.dim();
    match (a.as_slice_mut(), x.as_slice_mut()) {
        (Some(a), Some(x)) => level.run(SolveByRows { size, width, a, x }),
        _ => 0.0,
    }
}

/// A = RᵀR, then RᵀZ = X and RX = Z, all by rows.
struct SolveByRows<'k> {
    size: usize,
    width: usize,
    a: &'k mut [f64],
    x: &'k mut [f64],
}

impl NullaryFnOnce for SolveByRows<'_> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let SolveByRows { size, width, a, x } = self;
        let mut least_pivot = 1.0;
        for k in 0..size {
            let (done, rest) = a.split_at_mut((k + 1) * size);
            let row = &mut done[k * size + k..];
            let pivot = row[0];
            least_pivot = worse(least_pivot, pivot);
            if least_pivot <= 0.0 {
                return 0.0;
            }
            let root = pivot.sqrt();
            row.iter_mut().for_each(|r| *r /= root);
            for (i, below) in rest.chunks_exact_mut(size).enumerate() {
                let (factor, from) = (row[i + 1], k + 1 + i);
                below[from..].iter_mut().zip(&row[i + 1..]).for_each(|(b, r)| *b -= factor * r);
            }
        }
        for k in 0..size {
            let row = &a[k * size..(k + 1) * size];
            let (done, rest) = x.split_at_mut((k + 1) * width);
            let own = &mut done[k * width..];
            own.iter_mut().for_each(|x| *x /= row[k]);
            for (below, factor) in rest.chunks_exact_mut(width).zip(&row[k + 1..]) {
                below.iter_mut().zip(&*own).for_each(|(b, x)| *b -= factor * x);
            }
        }
        for k in (0..size).rev() {
            let row = &a[k * size..(k + 1) * size];
            let (before, rest) = x.split_at_mut((k + 1) * width);
            let own = &mut before[k * width..];
            for (below, factor) in rest.chunks_exact(width).zip(&row[k + 1..]) {
                own.iter_mut().zip(below).for_each(|(x, b)| *x -= factor * b);
            }
            own.iter_mut().for_each(|x| *x /= row[k]);
        }
        least_pivot
    }
}

/// The inverse of a Gram matrix of columns of length 1, row by row, with what its condition number is at most; `None` when
/// that is too much.
///
/// One pivot after the other takes the place of its row and column. The condition number is at most the trace of the
/// matrix times that of its inverse. Cost O(size³).
pub(crate) fn inverse_of_unit(mut gram: Vec<f64>, size: usize) -> Option<(Vec<f64>, f64)> {
    for at in 0..size {
        let pivot = gram[at * size + at];
        if pivot.is_nan() || pivot * ILL_CONDITIONED <= 1.0 {
            return None;
        }
        // x_b = (y_b − Σ a_bj x_j)/a_bb, put into the other equations.
        let mut row: Vec<f64> = gram[at * size..(at + 1) * size].to_vec();
        row[at] = -1.0;
        for (k, own) in gram.chunks_mut(size.max(1)).enumerate() {
            let step = own[at] / pivot;
            if k == at {
                own.iter_mut().zip(&row).for_each(|(own, row)| *own = -row / pivot);
            } else {
                own[at] = 0.0;
                own.iter_mut().zip(&row).for_each(|(own, row)| *own -= step * row);
            }
        }
    }
    let trace: f64 = (0..size).map(|at| gram[at * size + at]).sum();
    let condition = trace * size as f64;
    (condition <= ILL_CONDITIONED).then_some((gram, condition))
}
