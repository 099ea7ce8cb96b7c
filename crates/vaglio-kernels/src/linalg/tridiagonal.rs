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
    use super::super::FactorizationError;
    use super::super::faer_views::{rows_below, view};
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
    use faer::linalg::householder::{
        apply_block_householder_sequence_on_the_left_in_place_scratch as scratch,
        apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
        apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as transposed_scratch,
        apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transposed,
    };
    use faer::{Conj, Mat, MatRef, Par};
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
            apply(self.vectors(), self.factors.as_ref(), Conj::No, rows_below(&mut b, n), Par::Seq, stack);
        }

        /// B ← Qᵀ·B in place, for an n × r matrix. Cost O(n²·r).
        pub fn apply_transposed(&self, mut b: ArrayViewMut2<f64>) {
            let (n, columns) = (self.factors.ncols(), b.ncols());
            let mut memory = MemBuffer::new(transposed_scratch::<f64>(n, BLOCK, columns));
            let stack = MemStack::new(&mut memory);
            apply_transposed(self.vectors(), self.factors.as_ref(), Conj::No, rows_below(&mut b, n), Par::Seq, stack);
        }
    }

    pub fn tridiagonal(a: ArrayView2<f64>) -> Result<(Array1<f64>, Array1<f64>, Reflections), FactorizationError> {
        let n = a.nrows();
        let mut reduced = view(&a).to_owned();
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
