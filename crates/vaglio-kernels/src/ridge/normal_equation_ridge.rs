//! Ridge regression from normal equations with iterative refinement from the rows.
//!
//! Residuals from the rows correct the weights of a Cholesky factor, until the error is below that of reflections. One
//! or two reads of the columns suffice. An estimate of the condition number predicts how much a correction removes;
//! if that is too little, the rows are reduced by reflections instead. The products are those of the search if it used
//! moments. A run that recalls its path from the journal computes them again, since other products would change the
//! last digits.

use super::Fit;
use super::correction::Correction;
use crate::Data;
use crate::f64x8::F64x8;
use crate::kfold::NormalEquations;
use crate::linalg::{self, Cholesky};
use crate::parallel;
use crate::sums::{LANES, add_products, subtract};
use crate::tolerance::UNLIKE_COLUMNS;
use ndarray::{Array1, Array2, ArrayView1, Axis, ShapeBuilder, s};
use std::sync::Arc;
use vaglio_columns::{max_abs, minimum, sum_of_squares};

/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² like [`super::Ridge`], but from products of the columns.
///
/// Takes half the work, or next to none if the products are known. A Cholesky solution is corrected by residuals from
/// the rows until it is as accurate as one from reflections.
#[derive(Debug)]
pub struct NormalEquationRidge<'d> {
    data: Arc<Data<'d>>,
    subset: Vec<usize>,
    /// XᵀX and XᵀY.
    gram: Array2<f64>,
    along: Array2<f64>,
    /// Rounding errors of the columns' means.
    left: Array1<f64>,
}

/// Rows per tile: their columns stay in cache.
const TILE: usize = 128;
/// Rows per tile with many columns of weights.
const WIDE_TILE: usize = 4 * TILE;
/// Rows summed by one thread.
const BLOCK: usize = 16 * TILE;
/// Columns that share one read of the residuals.
const TOGETHER: usize = 4;

impl<'d> NormalEquationRidge<'d> {
    /// Prepares fits of `subset` from its products in `known`. Cost O(s²).
    ///
    /// Returns `None` if: the subset is empty or larger than the number of rows; `known` lacks a column's products;
    /// products are not finite.
    pub fn new(data: Arc<Data<'d>>, subset: &[usize], known: &NormalEquations) -> Option<Self> {
        if subset.is_empty() || subset.len() > data.rows() {
            return None;
        }
        let (gram, along) = known.restrict(subset)?;
        let left = known.means_left(subset)?.into();
        let is_finite = gram.iter().chain(&along).all(|x| x.is_finite());
        is_finite.then(|| NormalEquationRidge { data, subset: subset.to_vec(), gram, along, left })
    }

    /// Weights (columns × outputs) and intercepts for several λ, from one tridiagonal form and corrected together. The
    /// entry of a λ is `None` if its equations are too ill-conditioned.
    ///
    /// Cost O(s³ + (s² + m·s)·λ·outputs), the second term for each of one or two rounds.
    pub fn at_lambdas(&self, lambdas: &[f64]) -> Vec<Option<Fit>> {
        let (outputs, squares) = (self.along.ncols(), self.gram.diag());
        let (short, long) = (minimum(squares.iter().copied()), max_abs(squares));
        let form = linalg::tridiagonal(self.gram.view()).ok().filter(|_| long <= UNLIKE_COLUMNS * short);
        let Some(form) = form else { return vec![None; lambdas.len()] };
        let [least, greatest] = form.eigenvalue_range();
        let condition = |lambda: f64| (greatest + lambda) / (least + lambda);
        let is_served = |lambda: &f64| least + lambda > 0.0 && Correction::can_begin(condition(*lambda));
        let served: Vec<f64> = lambdas.iter().copied().filter(is_served).collect();
        let column_lambdas: Vec<f64> = served.iter().flat_map(|&lambda| vec![lambda; outputs]).collect();
        let solve = |mut right: Array2<f64>| {
            form.solve(&column_lambdas, right.view_mut());
            right
        };
        let along = Array2::from_shape_fn((self.subset.len(), column_lambdas.len()).f(), |(k, at)| {
            self.along[[k, at % outputs]]
        });
        let mut weights = solve(along);
        let lambda_columns = |l: usize| s![.., l * outputs..(l + 1) * outputs];
        // Norms are measured as if all columns had unit length.
        let lengths = squares.mapv(f64::sqrt).insert_axis(Axis(1));
        let begin = |(l, &lambda): (usize, &f64)| {
            Correction::new(condition(lambda), (&weights.slice(lambda_columns(l)) * &lengths).view())
        };
        let mut corrections: Vec<Correction> = served.iter().enumerate().map(begin).collect();
        while corrections.iter().any(|correction| correction.is_right.is_none()) {
            let shrunk = &weights * &Array1::from_iter(column_lambdas.iter().map(|lambda| -lambda));
            let change = solve(self.missing(&weights, shrunk, &|start| self.block_of_many(&weights, start)));
            for (l, correction) in corrections.iter_mut().enumerate().filter(|(_, own)| own.is_right.is_none()) {
                let (mut own, change) = (weights.slice_mut(lambda_columns(l)), change.slice(lambda_columns(l)));
                own += &change;
                correction.take((&change * &lengths).view(), (&own * &lengths).view());
            }
        }
        let mut found = corrections.iter().enumerate().map(|(l, correction)| {
            let own = weights.slice(lambda_columns(l)).to_owned();
            let intercepts = self.intercepts(&own);
            (correction.is_right == Some(true)).then_some((own, intercepts))
        });
        lambdas.iter().map(|lambda| if served.contains(lambda) { found.next().flatten() } else { None }).collect()
    }

    /// Weights (columns × outputs) and intercepts for one λ; `None` if the equations are too ill-conditioned, so that
    /// reflections must be used. Cost O(s³ + m·s · outputs), the second term for each of one or two rounds.
    pub fn coefficients(&self, lambda: f64) -> Option<Fit> {
        let mut gram = self.gram.clone();
        gram.diag_mut().iter_mut().for_each(|d| *d += lambda);
        let scale = linalg::unit_scale(gram.diag());
        linalg::scale_symmetric(&mut gram, &scale);
        let factor = Cholesky::new(gram.view()).ok()?;
        let condition = factor.inverse_norm(self.subset.len()).max(1.0);
        if !Correction::can_begin(condition) {
            return None;
        }
        let scale = scale.insert_axis(Axis(1));
        let solve = |right: &Array2<f64>| factor.solve((right * &scale).view());
        let mut scaled = solve(&self.along);
        let mut correction = Correction::new(condition, scaled.view());
        while correction.is_right.is_none() {
            let weights = &scaled * &scale;
            let change = solve(&self.missing(&weights, &weights * -lambda, &|start| self.block(&weights, start)));
            scaled += &change;
            correction.take(change.view(), scaled.view());
        }
        let weights = scaled * &scale;
        let intercepts = self.intercepts(&weights);
        (correction.is_right == Some(true)).then_some((weights, intercepts))
    }

    /// Intercept b = ȳ − wᵀx̄ of each output; 0 without an intercept.
    fn intercepts(&self, weights: &Array2<f64>) -> Vec<f64> {
        if !self.data.has_intercept() {
            return vec![0.0; weights.ncols()];
        }
        let means: Array1<f64> = self.subset.iter().map(|&feature| self.data.column(feature).1).collect();
        let output_weights = |o: usize| {
            let weights = weights.column(o);
            self.data.target_mean(o) - means.dot(&weights) - self.left.dot(&weights)
        };
        (0..weights.ncols()).map(output_weights).collect()
    }

    /// XᵀR − λW with R = Y − XW, from the rows. `shrunk` is −λW, and `block` gives XᵀR over a block of rows, column by
    /// column. Cost O(m·s · columns of W), one read of the columns.
    fn missing(
        &self,
        weights: &Array2<f64>,
        shrunk: Array2<f64>,
        block: &(dyn Fn(usize) -> Vec<f64> + Sync),
    ) -> Array2<f64> {
        let starts: Vec<usize> = (0..self.data.rows()).step_by(BLOCK).collect();
        let blocks: Vec<Vec<f64>> = parallel::map_slice(&starts, |&start| block(start));
        let mut out = shrunk;
        if self.data.has_intercept() {
            // Corrects for residuals about the rounded means of the columns.
            let total = self.data.root().map_or(self.data.rows() as f64, sum_of_squares);
            for (mut to, weights) in out.columns_mut().into_iter().zip(weights.columns()) {
                to.scaled_add(total * self.left.dot(&weights), &self.left);
            }
        }
        for block in blocks {
            let sums = block.chunks_exact(self.subset.len()).map(ArrayView1::from);
            out.columns_mut().into_iter().zip(sums).for_each(|(mut to, sums)| to += &sums);
        }
        out
    }

    /// XᵀR over a block of rows for many columns of weights, ordered by λ and then output.
    fn block_of_many(&self, weights: &Array2<f64>, start: usize) -> Vec<f64> {
        let (data, outputs) = (&self.data, self.along.ncols());
        let mut sums = Array2::zeros((self.subset.len(), weights.ncols()).f());
        let end = data.rows().min(start + BLOCK);
        for start in (start..end).step_by(WIDE_TILE) {
            let rows = start..end.min(start + WIDE_TILE);
            let mut x = Array2::zeros((rows.len(), self.subset.len()).f());
            for (mut x, &feature) in x.columns_mut().into_iter().zip(&self.subset) {
                if let Some(x) = x.as_slice_mut() {
                    data.copy_uncentered(feature, rows.clone(), x);
                }
            }
            let mut residuals = linalg::gemm(x.view(), weights.view());
            for (at, mut fitted) in residuals.columns_mut().into_iter().enumerate() {
                let targets = &data.centered[at % outputs][rows.clone()];
                fitted.iter_mut().zip(targets).for_each(|(e, y)| *e = y - *e);
            }
            sums += &linalg::gemm(x.t(), residuals.view());
        }
        sums.columns().into_iter().flatten().copied().collect()
    }

    /// XᵀR over a block of rows, output by output.
    fn block(&self, weights: &Array2<f64>, start: usize) -> Vec<f64> {
        const { assert!(TILE.is_multiple_of(LANES)) };
        let (data, count, outputs) = (&self.data, self.subset.len(), weights.ncols());
        let mut x = vec![0.0; count * TILE];
        let mut residuals = vec![0.0; TILE];
        let mut sums = vec![[[F64x8::ZERO]]; count * outputs];
        let weights: Vec<Vec<f64>> = weights.columns().into_iter().map(|w| w.to_vec()).collect();
        for start in (start..data.rows().min(start + BLOCK)).step_by(TILE) {
            let rows = start..data.rows().min(start + TILE);
            let height = rows.len();
            for (x, &feature) in x.chunks_exact_mut(height).zip(&self.subset) {
                data.copy_uncentered(feature, rows.clone(), x);
            }
            let x = &x[..count * height];
            for (o, weights) in weights.iter().enumerate() {
                let residuals = &mut residuals[..height];
                residuals.copy_from_slice(&data.centered[o][rows.clone()]);
                let own = &mut sums[o * count..][..count];
                for (x, w) in x.chunks(TOGETHER * height).zip(weights.chunks(TOGETHER)) {
                    match *w {
                        [a, b, c, d] => subtract(parts(x, height), [a, b, c, d], residuals),
                        _ => x.chunks_exact(height).zip(w).for_each(|(x, w)| subtract([x], [*w], residuals)),
                    }
                }
                for (x, sums) in x.chunks_exact(height).zip(own) {
                    add_products([x], [0.0], [&*residuals], sums);
                }
            }
        }
        sums.iter().map(|[[sums]]| sums.sum()).collect()
    }
}

fn parts(x: &[f64], height: usize) -> [&[f64]; TOGETHER] {
    std::array::from_fn(|k| &x[k * height..][..height])
}
