//! Every λ for one subset.

use super::Moments;
use super::trials::least;
use crate::linalg::{self, Failure};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

/// One eigendecomposition A_t = U·diag(d)·Uᵀ per fold for a subset: w(λ) = U(d + λ)⁻¹UᵀB_t for any λ.
#[derive(Debug)]
pub struct Spectrum {
    folds: Vec<Fold>,
    outputs: usize,
}

#[derive(Debug)]
struct Fold {
    values: Array1<f64>,
    vectors: Array2<f64>,
    /// UᵀB_t: values × outputs.
    projected: Array2<f64>,
    /// A_v: columns × columns.
    held_out: Array2<f64>,
    /// B_v: columns × outputs.
    targets: Array2<f64>,
    squares: f64,
    /// The greatest diagonal entry that the products were differences from.
    scale: f64,
}

impl Spectrum {
    /// Decomposes the moments of the active columns of `subset`. Cost O(K·s³).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`].
    pub fn new(moments: &Moments, subset: &[usize]) -> Result<Self, Failure> {
        let places = moments.places(subset);
        let fold = |fold: &super::moments::Fold| -> Result<Fold, Failure> {
            let (n, stride) = (places.len(), moments.stride);
            let square = |m: &[f64]| Array2::from_shape_fn((n, n), |(i, j)| m[places[i] * stride + places[j]]);
            let column = |b: &[f64]| Array2::from_shape_fn((n, moments.outputs), |(i, o)| b[o * stride + places[i]]);
            let (values, vectors) = match n {
                0 => (Array1::zeros(0), Array2::zeros((0, 0))),
                _ => linalg::eigh(square(&fold.training).view())?,
            };
            Ok(Fold {
                projected: vectors.t().dot(&column(&fold.training_targets)),
                values,
                vectors,
                held_out: square(&fold.held_out),
                targets: column(&fold.held_out_targets),
                squares: fold.squares,
                scale: places.iter().map(|&p| fold.scale[p]).fold(0.0, f64::max),
            })
        };
        let folds = moments.folds.par_iter().map(fold).collect::<Result<_, _>>()?;
        Ok(Spectrum { folds, outputs: moments.outputs })
    }

    /// Sums of squared errors over folds and outputs, for each λ. Cost O(K·s²) per λ and output.
    pub fn losses(&self, lambdas: &[f64]) -> Vec<f64> {
        let of_folds: Vec<Vec<f64>> = self.folds.par_iter().map(|f| f.losses(lambdas, self.outputs)).collect();
        (0..lambdas.len()).map(|l| of_folds.iter().map(|losses| losses[l]).sum()).collect()
    }

    /// The sums of each fold, for one λ.
    pub fn of_folds(&self, lambda: f64) -> Vec<f64> {
        self.folds.iter().flat_map(|f| f.losses(&[lambda], self.outputs)).collect()
    }

    /// The least eigenvalue of A_t + λ as a share of the greatest diagonal entry, over folds, for [`super::is_weak`].
    pub fn low(&self, lambda: f64) -> f64 {
        let of_fold = |f: &Fold| f.values.first().map_or(1.0, |d| (d + lambda) / (f.scale + lambda));
        self.folds.iter().map(of_fold).fold(1.0, least)
    }
}

impl Fold {
    /// c_v − 2 B_vᵀw + wᵀA_v w.
    fn losses(&self, lambdas: &[f64], outputs: usize) -> Vec<f64> {
        let n = self.values.len();
        let mut shrunk = Array2::zeros((n, lambdas.len() * outputs));
        for (k, mut column) in shrunk.columns_mut().into_iter().enumerate() {
            let (lambda, projected) = (lambdas[k / outputs], self.projected.column(k % outputs));
            column.assign(&(&projected / &self.values.mapv(|d| d + lambda)));
        }
        let weights = product(self.vectors.view(), shrunk.view());
        let along = product(self.held_out.view(), weights.view());
        let of_weights = |k: usize| {
            let (w, a) = (weights.column(k), along.column(k));
            w.dot(&a) - 2.0 * w.dot(&self.targets.column(k % outputs))
        };
        let of_lambda = |l: usize| (l * outputs..(l + 1) * outputs).map(of_weights).sum::<f64>();
        (0..lambdas.len()).map(|l| self.squares + of_lambda(l)).collect()
    }
}

/// A·B, with the columns of B taken in blocks of one width, so that no λ depends on which others come along.
fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    const WIDTH: usize = 16;
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    for (k, part) in b.axis_chunks_iter(Axis(1), WIDTH).enumerate() {
        let mut block = Array2::zeros((b.nrows(), WIDTH));
        block.slice_mut(s![.., ..part.ncols()]).assign(&part);
        let columns = k * WIDTH..k * WIDTH + part.ncols();
        out.slice_mut(s![.., columns]).assign(&linalg::gemm(a, block.view()).slice(s![.., ..part.ncols()]));
    }
    out
}
