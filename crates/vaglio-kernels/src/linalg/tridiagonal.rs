//! Tridiagonal form of symmetric matrices.

use super::{FactorizationError, finite, interruptible, pass_flops};
use crate::f64x8::F64x8;
use crate::tolerance::LEAST_EIGENVALUE;
use crate::vectorize;
use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut2, Axis};

/// A symmetric matrix as A = Q·T·Qᵀ with T symmetric and tridiagonal and Q orthonormal.
///
/// A system (A + λ)·x = b costs O(n) in this basis, for any λ. T depends on the backend.
#[derive(Debug, Clone)]
pub(crate) struct Tridiagonal {
    /// The diagonal of T.
    pub diagonal: Array1<f64>,
    /// The subdiagonal of T, one entry shorter.
    pub subdiagonal: Array1<f64>,
    /// The orthogonal matrix Q.
    pub basis: backend::Reflections,
}

impl Tridiagonal {
    /// B ← (A + λ)⁻¹·B in place, for an n × r matrix with one λ per column; A + λ must be positive definite. Cost
    /// O(n²·r).
    pub fn solve(&self, lambdas: &[f64], mut b: ArrayViewMut2<f64>) {
        self.basis.apply_transposed(b.view_mut());
        let eights = b.axis_chunks_iter_mut(Axis(1), F64x8::WIDTH);
        for (lambdas, mut b) in lambdas.chunks(F64x8::WIDTH).zip(eights) {
            let lanes = |row: ArrayView1<f64>| std::array::from_fn(|l| row.get(l).copied().unwrap_or(0.0));
            let mut x: Vec<[f64; F64x8::WIDTH]> = b.rows().into_iter().map(lanes).collect();
            self.solve_lanes(F64x8::part(lambdas, 1.0), &mut x);
            for (mut b, x) in b.rows_mut().into_iter().zip(&x) {
                b.iter_mut().zip(x).for_each(|(b, x)| *b = *x);
            }
        }
        self.basis.apply(b);
    }

    /// x ← (T + λ)⁻¹·x for eight λ, each with a vector of its own. Cost O(n).
    ///
    /// Factors L·D·Lᵀ with q_i = t_ii + λ − t²_{i,i−1}/q_{i−1}.
    pub fn solve_lanes(&self, lambdas: F64x8, x: &mut [[f64; F64x8::WIDTH]]) {
        vectorize!(|| {
            let mut factors = Vec::with_capacity(x.len());
            let (mut lowering, mut factor, mut last) = (F64x8::ZERO, F64x8::ZERO, F64x8::ZERO);
            let subdiagonal = self.subdiagonal.iter().copied().chain([0.0]);
            for ((d, e), x) in self.diagonal.iter().zip(subdiagonal).zip(x.iter_mut()) {
                let inverse = F64x8::splat(1.0) / (F64x8::splat(*d) + lambdas - lowering);
                last = F64x8::load(x) - factor * last;
                (last * inverse).store(x);
                factor = F64x8::splat(e) * inverse;
                lowering = F64x8::splat(e) * factor;
                factors.push(factor);
            }
            last = F64x8::ZERO;
            for (factor, x) in factors.into_iter().zip(x.iter_mut()).rev() {
                last = F64x8::load(x) - factor * last;
                last.store(x);
            }
        });
    }

    /// Bounds of the eigenvalues: [`Tridiagonal::least_eigenvalue`], and an upper bound by Gershgorin's circles.
    pub fn eigenvalue_range(&self) -> [f64; 2] {
        let greatest = self.diagonal.iter().enumerate().map(|(i, d)| d + self.radius(i)).fold(0.0, f64::max);
        [self.least_eigenvalue(), greatest]
    }

    /// Radius of the Gershgorin circle of a row.
    fn radius(&self, i: usize) -> f64 {
        let size = |i: usize| self.subdiagonal.get(i).map_or(0.0, |e| e.abs());
        size(i) + i.checked_sub(1).map_or(0.0, size)
    }

    /// Lower estimate of the least eigenvalue, to 10⁻¹² of the greatest in magnitude; infinite without rows.
    ///
    /// Bisection: T − x is positive definite if all pivots q_i = t_ii − x − t²_{i,i−1}/q_{i−1} are positive. Rounding
    /// keeps pivots monotone in x, so positive computed pivots remain positive for every smaller x. Cost O(n).
    pub fn least_eigenvalue(&self) -> f64 {
        let (mut low, mut high, mut size) = (f64::INFINITY, f64::INFINITY, 0.0f64);
        for (i, d) in self.diagonal.iter().enumerate() {
            let radius = self.radius(i);
            (low, high, size) = (low.min(d - radius), high.min(*d), size.max(d.abs() + radius));
        }
        while high - low > LEAST_EIGENVALUE * size {
            let middle = low + 0.5 * (high - low);
            if self.is_positive(middle) { low = middle } else { high = middle }
        }
        low
    }

    /// Whether T − x is positive definite.
    fn is_positive(&self, x: f64) -> bool {
        let mut lowering = 0.0;
        let subdiagonal = self.subdiagonal.iter().copied().chain([0.0]);
        self.diagonal.iter().zip(subdiagonal).all(|(d, e)| {
            let pivot = d - x - lowering;
            lowering = e * (e * (1.0 / pivot));
            pivot > 0.0
        })
    }
}

/// Reduces a symmetric matrix to tridiagonal form. Cost O(n³); with faer a quarter of the time of [`super::eigh`].
///
/// # Errors
/// [`FactorizationError::NoConvergence`] if entries are not finite or overflow.
pub(crate) fn tridiagonal(a: ArrayView2<f64>) -> Result<Tridiagonal, FactorizationError> {
    finite(&a)?;
    let (diagonal, subdiagonal, basis) = interruptible(a, pass_flops(&a, 4.0 / 3.0), backend::tridiagonal)?;
    if !diagonal.iter().chain(&subdiagonal).all(|v| v.is_finite()) {
        return Err(FactorizationError::NoConvergence);
    }
    Ok(Tridiagonal { diagonal, subdiagonal, basis })
}

#[cfg(not(feature = "lapack"))]
mod backend {
    use super::super::{FactorizationError, backend};
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
    use faer::linalg::householder::{
        apply_block_householder_sequence_on_the_left_in_place_scratch as scratch,
        apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
        apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as transposed_scratch,
        apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transposed,
    };
    use faer::{Conj, Mat, MatMut, MatRef, Par};
    use ndarray::{Array1, ArrayView2, ArrayViewMut2};

    /// Reflections per block.
    const BLOCK: usize = 32;

    /// Householder reflections: reflection k leaves the first k + 1 rows.
    #[derive(Debug, Clone)]
    pub(crate) struct Reflections {
        /// Householder vectors, below the diagonal of the reduced matrix.
        reduced: Mat<f64>,
        /// Triangular factors of the blocks.
        factors: Mat<f64>,
    }

    impl Reflections {
        fn vectors(&self) -> MatRef<'_, f64> {
            let n = self.factors.ncols();
            self.reduced.submatrix(self.reduced.nrows() - n, 0, n, n)
        }

        /// B ← Q·B in place, for an n × r matrix. Cost O(n²·r).
        pub fn apply(&self, mut b: ArrayViewMut2<f64>) {
            let (n, columns) = (self.factors.ncols(), b.ncols());
            let mut memory = MemBuffer::new(scratch::<f64>(n, BLOCK, columns));
            let stack = MemStack::new(&mut memory);
            apply(self.vectors(), self.factors.as_ref(), Conj::No, below(&mut b, n), Par::Seq, stack);
        }

        /// B ← Qᵀ·B in place, for an n × r matrix. Cost O(n²·r).
        pub fn apply_transposed(&self, mut b: ArrayViewMut2<f64>) {
            let (n, columns) = (self.factors.ncols(), b.ncols());
            let mut memory = MemBuffer::new(transposed_scratch::<f64>(n, BLOCK, columns));
            let stack = MemStack::new(&mut memory);
            apply_transposed(self.vectors(), self.factors.as_ref(), Conj::No, below(&mut b, n), Par::Seq, stack);
        }
    }

    /// View of the last `n` rows.
    pub(super) fn below<'a>(b: &'a mut ArrayViewMut2<'_, f64>, n: usize) -> MatMut<'a, f64> {
        let (rows, columns) = b.dim();
        let strides = [b.strides()[0], b.strides()[1]];
        // SAFETY: the pointer and strides come from a live mutable view of exactly `rows` × `columns` doubles.
        let all = unsafe { MatMut::from_raw_parts_mut(b.as_mut_ptr(), rows, columns, strides[0], strides[1]) };
        all.subrows_mut(rows - n, n)
    }

    pub fn tridiagonal(a: ArrayView2<f64>) -> Result<(Array1<f64>, Array1<f64>, Reflections), FactorizationError> {
        let n = a.nrows();
        let mut reduced = backend::view(&a).to_owned();
        let mut factors = Mat::zeros(BLOCK, n.saturating_sub(1));
        let mut memory = MemBuffer::new(tridiag_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut memory);
        tridiag_in_place(reduced.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
        let diagonal = (0..n).map(|i| reduced[(i, i)]).collect();
        let subdiagonal = (1..n).map(|i| reduced[(i, i - 1)]).collect();
        Ok((diagonal, subdiagonal, Reflections { reduced, factors }))
    }
}

#[cfg(feature = "lapack")]
mod backend {
    use super::super::{FactorizationError, eigh, gemm};
    use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};

    /// Eigenvectors: with LAPACK, T is diagonal.
    #[derive(Debug, Clone)]
    pub(crate) struct Reflections(Array2<f64>);

    impl Reflections {
        /// B ← Q·B in place, for an n × r matrix. Cost O(n²·r).
        pub fn apply(&self, mut b: ArrayViewMut2<f64>) {
            let out = gemm(self.0.view(), b.view());
            b.assign(&out);
        }

        /// B ← Qᵀ·B in place, for an n × r matrix. Cost O(n²·r).
        pub fn apply_transposed(&self, mut b: ArrayViewMut2<f64>) {
            let out = gemm(self.0.t(), b.view());
            b.assign(&out);
        }
    }

    pub fn tridiagonal(a: ArrayView2<f64>) -> Result<(Array1<f64>, Array1<f64>, Reflections), FactorizationError> {
        let n = a.nrows();
        let (diagonal, vectors) = match n {
            0 => (Array1::zeros(0), Array2::zeros((0, 0))),
            _ => eigh(a)?,
        };
        Ok((diagonal, Array1::zeros(n.saturating_sub(1)), Reflections(vectors)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{eigh, gram};
    use super::*;
    use ndarray::Array2;

    fn matrix(m: usize, n: usize) -> Array2<f64> {
        Array2::from_shape_fn((m, n), |(i, j)| ((i * 31 + j * 17 + i * j * 7) % 23) as f64 / 23.0 - 0.4)
    }

    /// Full rank, a rank of five and equal columns, a diagonal, nothing.
    fn matrices(n: usize) -> [Array2<f64>; 5] {
        let tall = matrix(n + 30, n);
        let full = gram(tall.view());
        let low = gram(matrix(5, n).view());
        let equal = gram(Array2::from_shape_fn((n + 30, n), |(i, j)| tall[[i, j / 2]]).view());
        [full.clone(), low, equal, Array2::from_diag(&full.diag()), Array2::zeros((n, n))]
    }

    fn greatest(a: &Array2<f64>) -> f64 {
        a.iter().fold(0.0, |m, v| v.abs().max(m))
    }

    #[test]
    fn a_tridiagonal_matrix_and_its_basis_rebuild_the_matrix() {
        for n in [0, 1, 2, 3, 31, 33, 34, 80] {
            for a in matrices(n) {
                let form = tridiagonal(a.view()).unwrap();
                assert_eq!((form.diagonal.len(), form.subdiagonal.len()), (n, n.saturating_sub(1)));
                let mut t = Array2::from_diag(&form.diagonal);
                for (i, e) in form.subdiagonal.iter().enumerate() {
                    (t[[i, i + 1]], t[[i + 1, i]]) = (*e, *e);
                }
                // Q·(Q·T)ᵀ.
                form.basis.apply(t.view_mut());
                let mut rebuilt = t.reversed_axes();
                form.basis.apply(rebuilt.view_mut());
                assert!(greatest(&(rebuilt - &a)) <= 1e-13 * greatest(&a).max(1.0), "{n}");
                let mut there = matrix(n, 3);
                form.basis.apply(there.view_mut());
                form.basis.apply_transposed(there.view_mut());
                assert!(greatest(&(there - matrix(n, 3))) <= 1e-13, "{n}");
            }
        }
    }

    #[test]
    fn the_least_eigenvalue_is_that_of_the_matrix() {
        for n in [1, 2, 33, 80] {
            for a in matrices(n).into_iter().flat_map(|a| [-&a, a]) {
                let (least, (values, _)) = (tridiagonal(a.view()).unwrap().least_eigenvalue(), eigh(a.view()).unwrap());
                let size = values.fold(0.0f64, |m, v| m.max(v.abs()));
                assert!((least - values[0]).abs() <= 3e-12 * size, "{n}: {least} is not {}", values[0]);
            }
        }
    }

    /// Small enough for Miri, which detects out-of-bounds accesses.
    #[cfg(not(feature = "lapack"))]
    #[test]
    fn rows_below_are_written_in_every_layout() {
        use ndarray::{ShapeBuilder, s};
        for (rows, columns) in [(0, 0), (0, 2), (3, 0), (1, 1), (4, 3), (2, 5)] {
            for n in 0..=rows {
                for layout in 0..5 {
                    let mut whole = match layout {
                        0 => Array2::zeros((rows, columns)),
                        1 => Array2::zeros((rows, columns).f()),
                        _ => Array2::zeros((2 * rows, 3 * columns)),
                    };
                    let mut b = match layout {
                        0 | 1 => whole.view_mut(),
                        2 => whole.slice_mut(s![..;2, ..;3]),
                        3 => whole.slice_mut(s![..;-2, ..;-3]),
                        _ => whole.slice_mut(s![rows.., ..;3]),
                    };
                    let mut rows_below = backend::below(&mut b, n);
                    assert_eq!((rows_below.nrows(), rows_below.ncols()), (n, columns));
                    for (i, j) in (0..n).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                        rows_below[(i, j)] += (1 + i + 10 * j) as f64;
                    }
                    let expected = |(i, j): (usize, usize)| match (i + n).checked_sub(rows) {
                        Some(below) => (1 + below + 10 * j) as f64,
                        None => 0.0,
                    };
                    assert_eq!(b, Array2::from_shape_fn((rows, columns), expected), "{layout}");
                }
            }
        }
    }

    #[test]
    fn an_empty_matrix_has_no_least_eigenvalue() {
        assert_eq!(tridiagonal(Array2::zeros((0, 0)).view()).unwrap().least_eigenvalue(), f64::INFINITY);
    }

    #[test]
    fn entries_that_are_not_finite_fail() {
        for entry in [f64::NAN, f64::INFINITY] {
            assert!(matches!(
                tridiagonal(Array2::from_elem((3, 3), entry).view()),
                Err(FactorizationError::NoConvergence)
            ));
        }
    }
}
