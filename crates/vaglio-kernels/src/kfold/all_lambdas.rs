//! Any loss of one subset for every λ, from one decomposition of the rows.

use super::Rows;
use crate::Level;
use crate::linalg::{self, Failure, Svd, least};
use ndarray::{Array2, ArrayView1, Axis, concatenate, s};
use pulp::NullaryFnOnce;
use rayon::prelude::*;

/// X_S = U·diag(s)·Vᵀ of all rows, scaled and centered: residuals held out for any λ and any fold.
///
/// With v̂ the direction of the intercept and G(λ) = I − v̂v̂ᵀ − U·diag(s²/(s² + λ))·Uᵀ, the rows of fold v held out have
/// the residuals (G_vv)⁻¹(G y)_v. Where a fold has more rows than there are columns, G_vv = I − BBᵀ is inverted as
/// I + B(I − BᵀB)⁻¹Bᵀ. Memory 8·m·min(m, s) bytes, and as much again for folds of many rows.
#[derive(Debug)]
pub struct AllLambdas<'r, 'd> {
    rows: &'r Rows<'d>,
    /// U with v̂ beside it: rows × directions.
    directions: Array2<f64>,
    /// Singular values.
    values: Vec<f64>,
    /// V: columns × directions without v̂.
    loadings: Array2<f64>,
    columns: Vec<usize>,
    /// Uᵀy: directions without v̂ × outputs.
    along: Array2<f64>,
    /// [U v̂]ᵀ[U v̂] of the rows of each fold that has more of them than there are directions.
    grams: Vec<Option<Array2<f64>>>,
}

impl<'r, 'd> AllLambdas<'r, 'd> {
    /// Decomposes the active columns of `subset`. Cost O(m·s·min(m, s)).
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] when entries overflow.
    pub fn new(rows: &'r Rows<'d>, subset: &[usize]) -> Result<Self, Failure> {
        let data = &rows.data;
        let mut columns: Vec<usize> = Vec::new();
        for &feature in subset.iter().filter(|&&feature| data.is_active(feature)) {
            if !columns.contains(&feature) {
                columns.push(feature);
            }
        }
        let Svd { u, d, v } = linalg::svd(data.matrix(&columns).view())?;
        let mut y = Array2::zeros((data.rows(), data.outputs()));
        for (o, mut to) in y.columns_mut().into_iter().enumerate() {
            to.assign(&ArrayView1::from(data.centered(o)));
        }
        let along = linalg::gemm(u.t(), y.view());
        let count = d.len();
        let mut directions = Array2::zeros((data.rows(), count + usize::from(data.unit().is_some())));
        directions.slice_mut(s![.., ..count]).assign(&u);
        if let Some(unit) = data.unit() {
            directions.column_mut(count).assign(&ArrayView1::from(unit));
        }
        let mut out =
            AllLambdas { rows, directions, values: d.to_vec(), loadings: v, columns, along, grams: Vec::new() };
        let gram = |fold: usize| {
            let own = rows.folds.held_out(fold);
            (own.len() > out.directions.ncols()).then(|| linalg::gram(out.part(fold).view()))
        };
        out.grams = (0..rows.folds.count()).into_par_iter().map(gram).collect();
        Ok(out)
    }

    /// The residuals of the rows of `folds` held out, scaled like the rows: outputs × rows as given, 0 elsewhere; and what
    /// is left of their digits, for [`crate::is_unreliable`].
    ///
    /// That is the least pivot of any G_vv, times what singular values have left. Cost O(Σ_v m_v·s·(min(m_v, s) + outputs)).
    pub fn residuals(&self, lambda: f64, folds: &[usize]) -> (Vec<Vec<f64>>, f64) {
        let shrunk = self.shrunk(lambda);
        let of_fold = |&fold: &usize| {
            let part = self.part(fold);
            let mut residuals = self.in_sample(fold, &part, &shrunk);
            let low = self.hold_out(fold, part, &shrunk, &mut residuals);
            (residuals, low)
        };
        let of_folds: Vec<(Array2<f64>, f64)> = folds.par_iter().map(of_fold).collect();
        let mut out = vec![vec![0.0; self.rows.folds.rows()]; self.rows.data.outputs()];
        let mut low = 1.0;
        for (&fold, (residuals, of_fold)) in folds.iter().zip(of_folds) {
            low = least(low, of_fold);
            for (&row, residual) in self.rows.folds.held_out(fold).iter().zip(residuals.rows()) {
                out.iter_mut().zip(residual).for_each(|(out, e)| out[row] = *e);
            }
        }
        (out, low * shrunk.digits)
    }

    /// The columns, in the order of [`AllLambdas::removals`].
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The loss that `score` finds in the residuals of all rows held out, for each column removed alone; and what is left
    /// of the digits, as of [`AllLambdas::residuals`]: a removal moves no pivot of G_vv down.
    ///
    /// A removed column adds qqᵀ to G, with q = U·diag(s/(s² + λ))·Vᵀe_j/√h, h being the diagonal of (XᵀX + λ)⁻¹. With
    /// z = (G_vv)⁻¹q_v the residuals e_v become e_v + z(qᵀy − q_vᵀe_v)/(1 + q_vᵀz). Cost O(m·s·(s + outputs)).
    pub fn removals(&self, lambda: f64, score: impl Fn(&[Vec<f64>]) -> f64 + Sync) -> (Vec<f64>, f64) {
        let shrunk = self.shrunk(lambda);
        let outputs = self.rows.data.outputs();
        let mut q = self.loadings.t().to_owned();
        for (k, mut q) in q.columns_mut().into_iter().enumerate() {
            let loading = self.loadings.row(k);
            // Without all directions, the others have the eigenvalue λ.
            let others = if self.values.len() < self.columns.len() { 1.0 - loading.dot(&loading) } else { 0.0 };
            let terms = loading.iter().zip(&self.values).map(|(v, d)| v * v / (d * d + lambda));
            let h = terms.sum::<f64>() + others.max(0.0) / lambda;
            q.iter_mut().zip(&self.values).for_each(|(q, d)| *q *= d / (d * d + lambda) / h.sqrt());
        }
        let along = linalg::gemm(q.t(), self.along.view());
        let of_fold = |fold: usize| {
            let part = self.part(fold);
            let q = linalg::gemm(part.slice(s![.., ..self.values.len()]), q.view());
            let mut both = concatenate![Axis(1), self.in_sample(fold, &part, &shrunk), q];
            let low = self.hold_out(fold, part, &shrunk, &mut both);
            let (residuals, z) = both.view().split_at(Axis(1), outputs);
            let mut factors = &along - &linalg::gemm(q.t(), residuals);
            for ((mut factor, q), z) in factors.rows_mut().into_iter().zip(q.columns()).zip(z.columns()) {
                factor /= 1.0 + q.dot(&z);
            }
            (both, factors, low)
        };
        let of_folds: Vec<_> = (0..self.rows.folds.count()).into_par_iter().map(of_fold).collect();
        let low = of_folds.iter().map(|(.., low)| *low).fold(1.0, least);
        let loss = |k: usize| {
            let mut removed = vec![vec![0.0; self.rows.folds.rows()]; outputs];
            for (fold, (both, factors, _)) in of_folds.iter().enumerate() {
                for (row, &at) in both.rows().into_iter().zip(self.rows.folds.held_out(fold)) {
                    for (o, removed) in removed.iter_mut().enumerate() {
                        removed[at] = row[o] + row[outputs + k] * factors[[k, o]];
                    }
                }
            }
            score(&removed)
        };
        ((0..self.columns.len()).into_par_iter().map(loss).collect(), low * shrunk.digits)
    }

    fn shrunk(&self, lambda: f64) -> Shrunk {
        let keep: Vec<f64> = self.values.iter().map(|d| d * (d / (d * d + lambda))).collect();
        let mut weights = self.along.clone();
        weights.rows_mut().into_iter().zip(&keep).for_each(|(mut row, keep)| row *= *keep);
        let mut roots: Vec<f64> = keep.iter().map(|keep| keep.sqrt()).collect();
        roots.resize(self.directions.ncols(), 1.0);
        let digits = linalg::kept_digits(&self.values, lambda);
        Shrunk { weights, roots, digits }
    }

    /// The directions at the rows of a fold.
    fn part(&self, fold: usize) -> Array2<f64> {
        self.directions.select(Axis(0), self.rows.folds.held_out(fold))
    }

    /// The residuals (G y)_v of a fold: rows × outputs.
    fn in_sample(&self, fold: usize, part: &Array2<f64>, shrunk: &Shrunk) -> Array2<f64> {
        let (own, data) = (self.rows.folds.held_out(fold), &self.rows.data);
        let fitted = linalg::gemm(part.slice(s![.., ..self.values.len()]), shrunk.weights.view());
        Array2::from_shape_fn((own.len(), data.outputs()), |(j, o)| data.centered(o)[own[j]] - fitted[[j, o]])
    }

    /// Makes (G_vv)⁻¹·`right` of a fold's rows; the least pivot.
    fn hold_out(&self, fold: usize, part: Array2<f64>, shrunk: &Shrunk, right: &mut Array2<f64>) -> f64 {
        let (level, mut along) = (self.rows.data.level, part);
        let roots = &shrunk.roots;
        along *= &ArrayView1::from(roots);
        match &self.grams[fold] {
            None => solve(level, &mut complement(linalg::gemm(along.view(), along.t())), right),
            Some(gram) => {
                let scaled = Array2::from_shape_fn(gram.dim(), |(i, j)| gram[[i, j]] * (roots[i] * roots[j]));
                let mut inner = standard(linalg::gemm(along.t(), right.view()));
                let low = solve(level, &mut complement(scaled), &mut inner);
                *right += &linalg::gemm(along.view(), inner.view());
                low
            }
        }
    }
}

/// What a λ leaves of the directions.
struct Shrunk {
    /// s²/(s² + λ)·Uᵀy: directions without v̂ × outputs.
    weights: Array2<f64>,
    /// √(s²/(s² + λ)), and 1 for v̂.
    roots: Vec<f64>,
    /// The share of the digits.
    digits: f64,
}

/// I − A, row after row.
fn complement(a: Array2<f64>) -> Array2<f64> {
    let mut out = standard(-a);
    out.diag_mut().mapv_inplace(|d| 1.0 + d);
    out
}

fn standard(a: Array2<f64>) -> Array2<f64> {
    if a.is_standard_layout() { a } else { a.as_standard_layout().into_owned() }
}

/// X ← A⁻¹X for a symmetric A in its upper half, which is lost; the least pivot, 0 where A is not positive definite.
fn solve(level: Level, a: &mut Array2<f64>, x: &mut Array2<f64>) -> f64 {
    let (size, width) = x.dim();
    match (a.as_slice_mut(), x.as_slice_mut()) {
        (Some(a), Some(x)) => level.run(Solve { size, width, a, x }),
        _ => 0.0,
    }
}

/// A = RᵀR, then RᵀZ = X and RX = Z, all by rows.
struct Solve<'k> {
    size: usize,
    width: usize,
    a: &'k mut [f64],
    x: &'k mut [f64],
}

impl NullaryFnOnce for Solve<'_> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let Solve { size, width, a, x } = self;
        let mut low = 1.0;
        for k in 0..size {
            let (done, rest) = a.split_at_mut((k + 1) * size);
            let row = &mut done[k * size + k..];
            let pivot = row[0];
            low = least(low, pivot);
            if low <= 0.0 {
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
        low
    }
}
