//! Fit of a subset at one λ, with updates for adding or removing a column.
//!
//! - Subset S: P = (A_SS + λ)⁻¹, weights w = P b_S and residuals e = y − X_S w, so X_Sᵀe = λw.
//! - Column j outside: c = X_Sᵀx_j; D = P c are the ridge coefficients of x_j on S; s = x_jᵀx_j + λ − cᵀD is its Schur
//!   complement; g = x_jᵀe = b_j − cᵀw; δ = g/s is its weight after addition.
//! - Addition of j: w′ = (w − δD, δ); ‖e′‖² = ‖e‖² − 2δ(g − λ wᵀD) + δ²(s − λ(1 + ‖D‖²)); tr P′ = tr P + (1 + ‖D‖²)/s.
//! - Removal of column i, with p = P_·i and γ = w_i/P_ii: ‖e′‖² = ‖e‖² + 2γλ wᵀp + γ²(P_ii − λ‖p‖²); tr P′ = tr P −
//!   ‖p‖²/P_ii.

use crate::data::{CenteredData, dot};
use ndarray::Array2;
use std::borrow::Cow;
use vaglio_core::{Feature, gather};
use vaglio_kernels::linalg;
use vaglio_kernels::parallel;
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::LOST_DIGITS;

/// Number of changes, beyond two per column, after which a state is rebuilt.
const LONG: usize = 32;

/// Fit of a subset at one λ.
#[derive(Clone)]
pub(crate) struct LambdaFit {
    lambda: f64,
    selected: Vec<Feature>,
    /// P, row-major; symmetric.
    inverse: Vec<Vec<f64>>,
    /// w and ‖e‖² of each output.
    weights: Vec<Vec<f64>>,
    errors: Vec<f64>,
    /// Σ ‖y‖² over outputs.
    total: f64,
    trace: f64,
    /// Largest (A_ii + λ) P_ii, the variance inflation.
    inflation: f64,
    /// Trial data of every column, computed on first use.
    candidates: Option<Vec<Candidate>>,
    changes: usize,
}

/// A column that may be added.
#[derive(Clone)]
struct Candidate {
    /// D.
    on_selected: Vec<f64>,
    /// s.
    diagonal: f64,
    /// g of each output.
    along: Vec<f64>,
}

/// Fit of a subset, or of a trial.
#[derive(Clone, Copy)]
pub(crate) struct SubsetFit {
    /// Σ ‖e‖² over outputs.
    pub squares: f64,
    /// tr(A (A + λ)⁻¹).
    pub freedom: f64,
    pub is_reliable: bool,
}

impl LambdaFit {
    /// Fits a subset. Cost O(s³), and O(m·n) for every column selected for the first time.
    pub fn new(data: &CenteredData, lambda: f64, subset: &[Feature]) -> Self {
        let (gram, size) = (data.gram(subset), subset.len());
        // Equilibrates columns of unlike scale, which would look rank-deficient otherwise.
        let scale: Vec<f64> = subset.iter().map(|&f| 1.0 / (data.squares[f] + lambda).sqrt()).collect();
        let a = Array2::from_shape_fn((size, size), |(i, k)| match i == k {
            true => 1.0,
            false => gram[[i, k]] * scale[i] * scale[k],
        });
        // A singular matrix gives NaN, which is unreliable and refitted from the rows.
        let inverse = linalg::inverse(a.view()).unwrap_or_else(|_| Array2::from_elem((size, size), f64::NAN));
        let entry = |i: usize, k: usize| 0.5 * (inverse[[i, k]] + inverse[[k, i]]) * scale[i] * scale[k];
        let inverse = (0..size).map(|i| (0..size).map(|k| entry(i, k)).collect());
        let mut state = LambdaFit {
            lambda,
            selected: subset.to_vec(),
            inverse: inverse.collect(),
            weights: Vec::new(),
            errors: Vec::new(),
            total: data.target_squares.iter().sum(),
            trace: 0.0,
            inflation: 1.0,
            candidates: None,
            changes: 0,
        };
        state.fit(data);
        state
    }

    /// Computes weights and errors by P, and refines them from the rows if the errors have few digits. Cost O(s²), else
    /// O(m·s), per output.
    fn fit(&mut self, data: &CenteredData) {
        let size = self.selected.len();
        self.trace = (0..size).map(|i| self.inverse[i][i]).sum();
        let inflation = |i: usize| (data.squares[self.selected[i]] + self.lambda) * self.inverse[i][i];
        self.inflation = (0..size).map(inflation).fold(1.0, worse);
        let fitted = |output: usize| {
            let b: Vec<f64> = self.selected.iter().map(|&f| data.along[output][f]).collect();
            let w = self.solve(&b);
            let square = data.target_squares[output];
            let error = square - dot(&w, &b) - self.lambda * dot(&w, &w);
            match self.inflation * square <= LOST_DIGITS * error {
                true => (w, error),
                false => self.refine(data, output, w),
            }
        };
        (self.weights, self.errors) = (0..data.targets.len()).map(fitted).unzip();
    }

    fn solve(&self, b: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|p| dot(p, b)).collect()
    }

    /// Weights after one step of refinement, with the error from the rows.
    fn refine(&self, data: &CenteredData, output: usize, mut w: Vec<f64>) -> (Vec<f64>, f64) {
        let selected: Vec<Cow<'_, [f64]>> = self.selected.iter().map(|&f| data.column(f)).collect();
        let residuals = |w: &[f64]| {
            let mut e = data.targets[output].clone();
            for (x, w) in selected.iter().zip(w) {
                axpy(-w, x, &mut e);
            }
            e
        };
        let e = residuals(&w);
        let missing: Vec<f64> = selected.iter().zip(&w).map(|(x, w)| dot(x, &e) - self.lambda * w).collect();
        w.iter_mut().zip(self.solve(&missing)).for_each(|(w, step)| *w += step);
        let e = residuals(&w);
        (w, dot(&e, &e))
    }

    /// Squares and degrees of freedom of the current subset.
    pub fn current(&self) -> SubsetFit {
        let squares = self.errors.iter().sum();
        let freedom = self.selected.len() as f64 - self.lambda * self.trace;
        SubsetFit { squares, freedom, is_reliable: self.inflation <= LOST_DIGITS }
    }

    /// Fits with each of some unselected columns added. Cost O(s · outputs) each, and O(s²) the first time.
    pub fn additions(&mut self, data: &CenteredData, features: &[Feature]) -> Vec<SubsetFit> {
        let all = self.candidates.take();
        let candidates = all.unwrap_or_else(|| parallel::map(data.len(), |j| self.candidate(data, j)));
        let found = features.iter().map(|&j| self.addition(data, &candidates[j], j)).collect();
        self.candidates = Some(candidates);
        found
    }

    fn candidate(&self, data: &CenteredData, j: Feature) -> Candidate {
        let c: Vec<f64> = self.selected.iter().map(|&feature| data.products(feature)[j]).collect();
        let on_selected = self.solve(&c);
        let diagonal = data.squares[j] + self.lambda - dot(&c, &on_selected);
        let along = data.along.iter().zip(&self.weights).map(|(b, w)| b[j] - dot(&c, w)).collect();
        Candidate { on_selected, diagonal, along }
    }

    fn addition(&self, data: &CenteredData, candidate: &Candidate, j: Feature) -> SubsetFit {
        let Candidate { on_selected, diagonal, along } = candidate;
        let norm = 1.0 + dot(on_selected, on_selected);
        let mut squares = 0.0;
        for ((w, g), error) in self.weights.iter().zip(along).zip(&self.errors) {
            let delta = g / diagonal;
            squares += error - 2.0 * delta * (g - self.lambda * dot(w, on_selected))
                + delta * delta * (diagonal - self.lambda * norm);
        }
        let trace = self.trace + norm / diagonal;
        let own = (data.squares[j] + self.lambda) / diagonal;
        let grown = self
            .selected
            .iter()
            .zip(&self.inverse)
            .zip(on_selected)
            .enumerate()
            .map(|(i, ((&f, p), d))| (data.squares[f] + self.lambda) * (p[i] + d * d / diagonal));
        let inflation = grown.fold(worse(self.inflation, own), worse);
        self.trial(squares, self.selected.len() + 1, trace, inflation)
    }

    /// Judges a trial. It loses digits if it removes most of the squares, or if g is a small difference of large terms.
    fn trial(&self, squares: f64, size: usize, trace: f64, inflation: f64) -> SubsetFit {
        let before: f64 = self.errors.iter().sum();
        let is_reliable = inflation * before.max(squares) <= LOST_DIGITS * squares
            && inflation * inflation * self.total <= LOST_DIGITS * LOST_DIGITS * squares;
        SubsetFit { squares, freedom: size as f64 - self.lambda * trace, is_reliable }
    }

    /// Fit with a selected column removed. Cost O(s · outputs).
    pub fn removal(&self, feature: Feature) -> SubsetFit {
        let Some(place) = self.place(feature) else {
            return SubsetFit { squares: f64::NAN, freedom: f64::NAN, is_reliable: false };
        };
        let p = &self.inverse[place];
        let (own, norm) = (p[place], dot(p, p));
        let mut squares = 0.0;
        for (w, error) in self.weights.iter().zip(&self.errors) {
            let gamma = w[place] / own;
            squares += error + 2.0 * gamma * self.lambda * dot(w, p) + gamma * gamma * (own - self.lambda * norm);
        }
        self.trial(squares, self.selected.len() - 1, self.trace - norm / own, self.inflation * self.shrinkage(place))
    }

    /// Largest factor by which some P_kk shrinks on a removal; as many digits are lost.
    fn shrinkage(&self, place: usize) -> f64 {
        let p = &self.inverse[place];
        let others = (0..p.len()).filter(|&k| k != place);
        let shrunk = |k: usize| self.inverse[k][k] / (self.inverse[k][k] - p[k] * p[k] / p[place]);
        others.map(|k| if shrunk(k) < 0.0 { f64::INFINITY } else { shrunk(k) }).fold(1.0, worse)
    }

    fn place(&self, feature: Feature) -> Option<usize> {
        self.selected.iter().position(|&selected| selected == feature)
    }

    /// Adds a column. Cost O(n·s), and O(m·n) if it is selected for the first time.
    pub fn add(&mut self, data: &CenteredData, feature: Feature) {
        let entering = match &self.candidates {
            Some(candidates) => candidates[feature].clone(),
            None => self.candidate(data, feature),
        };
        let Candidate { on_selected: d, diagonal, along } = entering;
        if let Some(candidates) = &mut self.candidates {
            let products = data.products(feature);
            let c = gather(&products, &self.selected);
            parallel::each_mut(candidates, |j, candidate| {
                let shared = products[j] - dot(&c, &candidate.on_selected);
                let kappa = shared / diagonal;
                axpy(-kappa, &d, &mut candidate.on_selected);
                candidate.on_selected.push(kappa);
                candidate.diagonal -= kappa * shared;
                axpy(-kappa, &along, &mut candidate.along);
            });
        }
        for (p, di) in self.inverse.iter_mut().zip(&d) {
            p.iter_mut().zip(&d).for_each(|(p, dk)| *p += di * dk / diagonal);
            p.push(-di / diagonal);
        }
        self.inverse.push(d.iter().map(|d| -d / diagonal).chain([1.0 / diagonal]).collect());
        self.selected.push(feature);
        self.update_fit(data);
    }

    /// Removes a column. Cost O(n·s).
    pub fn remove(&mut self, data: &CenteredData, feature: Feature) {
        let Some(place) = self.place(feature) else { return };
        let is_lost = self.inflation * self.shrinkage(place) > LOST_DIGITS;
        let p = self.inverse.remove(place);
        let own = p[place];
        self.selected.remove(place);
        if is_lost {
            *self = LambdaFit::new(data, self.lambda, &self.selected);
            return;
        }
        let p: Vec<f64> = p.iter().enumerate().filter(|(k, _)| *k != place).map(|(_, p)| *p).collect();
        for (row, pi) in self.inverse.iter_mut().zip(&p) {
            row.remove(place);
            row.iter_mut().zip(&p).for_each(|(r, pk)| *r -= pi * pk / own);
        }
        if let Some(candidates) = &mut self.candidates {
            parallel::each_mut(candidates, |_, candidate| {
                let gone = candidate.on_selected.remove(place);
                candidate.on_selected.iter_mut().zip(&p).for_each(|(value, p)| *value -= p * gone / own);
                candidate.diagonal += gone * gone / own;
                candidate.along.iter_mut().zip(&self.weights).for_each(|(value, w)| *value += gone * w[place] / own);
            });
        }
        self.update_fit(data);
        // The removed column and its copies are recomputed, free of rounding.
        if let Some(mut candidates) = self.candidates.take() {
            data.copies(feature).for_each(|copy| candidates[copy] = self.candidate(data, copy));
            self.candidates = Some(candidates);
        }
    }

    fn update_fit(&mut self, data: &CenteredData) {
        self.changes += 1;
        self.fit(data);
        let is_long = self.changes > 2 * self.selected.len() + LONG;
        if is_long || self.inflation.is_nan() || self.inflation > LOST_DIGITS {
            *self = LambdaFit::new(data, self.lambda, &self.selected);
        }
    }
}

/// The larger of two numbers, or NaN if either is NaN.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
