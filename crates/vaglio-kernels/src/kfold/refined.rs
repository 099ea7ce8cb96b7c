//! A subset fitted without each fold by its moments, refined from the rows: where moments alone have lost digits.

use super::{Moments, Rows};
use crate::linalg::gemm;
use crate::ridge::Equations;
use ndarray::{Array2, ArrayView1, ShapeBuilder, s};
use rayon::prelude::*;

/// A subset fitted on the training rows of each fold by normal equations, which are corrected by residuals of the rows: all
/// folds in two products a round. Memory 8·m·(s + K·outputs) bytes.
#[derive(Debug)]
pub struct Refined<'r, 'd> {
    rows: &'r Rows<'d>,
    moments: &'r Moments,
    /// Where the columns stand among the moments.
    places: Vec<usize>,
    /// Scaled and centered columns: rows × columns.
    x: Array2<f64>,
    /// Of the training rows of each fold, with an intercept.
    sums: Vec<Sums>,
}

/// Σ_j √r_j·x_j, Σ_j √r_j·y_j of each output and Σ_j r_j, of scaled columns and targets.
#[derive(Debug)]
struct Sums {
    columns: Vec<f64>,
    targets: Vec<f64>,
    weight: f64,
}

impl<'r, 'd> Refined<'r, 'd> {
    /// Copies the columns. Cost O(m·s).
    ///
    /// `None` where folds learn more than means of the columns, weigh classes or have training rows of their own, and where
    /// there are so many of them that decomposing all rows is faster.
    pub fn new(rows: &'r Rows<'d>, moments: &'r Moments, subset: &[usize]) -> Option<Self> {
        let unknowns = moments.folds() * rows.data.outputs();
        if !rows.is_uniform() || !rows.folds.is_of_others() || MANY * unknowns > subset.len() {
            return None;
        }
        let places = subset.iter().map(|&feature| moments.place(feature)).collect::<Option<Vec<usize>>>()?;
        let x = rows.data.matrix(subset);
        let mut out = Refined { rows, moments, places, x, sums: Vec::new() };
        if rows.intercept {
            let all = out.sums((0..rows.data.rows()).collect::<Vec<_>>().as_slice());
            let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
            let training = |fold: usize| {
                let own = out.sums(rows.folds.held_out(fold));
                Sums {
                    columns: less(&all.columns, &own.columns),
                    targets: less(&all.targets, &own.targets),
                    weight: all.weight - own.weight,
                }
            };
            out.sums = (0..moments.folds()).into_par_iter().map(training).collect();
        }
        Some(out)
    }

    fn sums(&self, rows: &[usize]) -> Sums {
        let targets = self.rows.targets();
        let sum = |of: &dyn Fn(usize) -> f64| rows.iter().map(|&row| targets.root(row) * of(row)).sum::<f64>();
        Sums {
            columns: self.x.columns().into_iter().map(|x| sum(&|row| x[row])).collect(),
            targets: (0..targets.outputs()).map(|o| sum(&|row| self.rows.data.centered(o)[row])).collect(),
            weight: sum(&|row| targets.root(row)),
        }
    }

    /// The residuals of the rows held out, scaled by √r_j: outputs × rows as given; those of folds that are never held out keep
    /// their targets. `None` where a fold is too ill-conditioned. Cost O(K·s³ + m·s·K·outputs), the second for each round.
    pub fn residuals(&self, lambda: f64) -> Option<Vec<Vec<f64>>> {
        let (count, folds, outputs) = (self.places.len(), self.moments.folds(), self.rows.data.outputs());
        let start = |fold: usize| {
            let of_fold = &self.moments.folds[fold];
            let stride = self.moments.stride;
            let mut gram = Array2::zeros((count, count));
            for (mut to, &place) in gram.rows_mut().into_iter().zip(&self.places) {
                let row = &of_fold.training[place * stride..][..stride];
                to.iter_mut().zip(&self.places).for_each(|(to, &place)| *to = row[place]);
            }
            let along = |(k, o): (usize, usize)| of_fold.training_targets[o * stride + self.places[k]];
            Equations::new(gram, lambda, &Array2::from_shape_fn((count, outputs), along))
        };
        let mut equations = (0..folds).into_par_iter().map(start).collect::<Option<Vec<Equations>>>()?;
        let mut weights = Array2::zeros((count, folds * outputs).f());
        loop {
            for (fold, equations) in equations.iter().enumerate() {
                weights.slice_mut(s![.., fold * outputs..(fold + 1) * outputs]).assign(&equations.weights());
            }
            let missing = gemm(self.x.t(), self.training_residuals(&weights).view()) - &weights * lambda;
            let mut are_right = true;
            for (fold, equations) in equations.iter_mut().enumerate() {
                are_right &=
                    equations.correct(missing.slice(s![.., fold * outputs..(fold + 1) * outputs]).to_owned())?;
            }
            if are_right {
                break;
            }
        }
        let mut out = self.rows.targets().scaled.clone();
        for (fold, equations) in equations.iter().enumerate() {
            let held_out = self.rows.folds.held_out(fold);
            for (o, weights) in equations.weights().columns().into_iter().enumerate() {
                let (offset, out) = (self.offset(fold, o, weights), &mut out[o]);
                held_out.iter().for_each(|&row| out[row] = self.rows.data.centered(o)[row]);
                for (x, w) in self.x.columns().into_iter().zip(weights) {
                    held_out.iter().for_each(|&row| out[row] -= w * x[row]);
                }
                held_out.iter().for_each(|&row| out[row] -= self.rows.targets().root(row) * offset);
            }
        }
        Some(out)
    }

    /// The mean of what the columns leave of a target over the training rows of a fold.
    fn offset(&self, fold: usize, output: usize, weights: ArrayView1<f64>) -> f64 {
        let Some(sums) = self.sums.get(fold) else { return 0.0 };
        let fitted: f64 = sums.columns.iter().zip(weights).map(|(x, w)| x * w).sum();
        (sums.targets[output] - fitted) / sums.weight
    }

    /// Y − XW of the training rows of each fold, 0 for those held out: rows × (folds × outputs).
    fn training_residuals(&self, weights: &Array2<f64>) -> Array2<f64> {
        let mut out = gemm(self.x.view(), weights.view());
        let outputs = self.rows.data.outputs();
        for (at, (mut fitted, weights)) in out.columns_mut().into_iter().zip(weights.columns()).enumerate() {
            let (fold, o) = (at / outputs, at % outputs);
            let offset = self.offset(fold, o, weights);
            let targets = self.rows.data.centered(o);
            match self.rows.data.root() {
                None => fitted.iter_mut().zip(targets).for_each(|(e, y)| *e = y - *e - offset),
                Some(root) => {
                    fitted.iter_mut().zip(targets).zip(root).for_each(|((e, y), root)| *e = y - *e - root * offset);
                }
            }
            self.rows.folds.held_out(fold).iter().for_each(|&row| fitted[row] = 0.0);
        }
        out
    }
}

/// Columns for each fold and output from which on refining a few λ is faster than decomposing all rows.
const MANY: usize = 2;
