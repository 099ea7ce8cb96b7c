//! Backward elimination by moments: the trial of removing each column, for every λ at once.
//!
//! The book, *Cross-validation without refitting*, "Moments: backward"; after P. Buteneers, K. Caluwaerts, J. Dambre,
//! D. Verstraeten and B. Schrauwen, Neural Processing Letters 2013, whose method solves again for every removal.

use super::Moments;
use super::downdates::{DowndatedTriangles, lane};
use super::fold_moments::FoldMoments;
use crate::f64x8::F64x8;
use crate::linalg;
use crate::parallel;
use crate::tolerance::FALLEN_MOMENTS;
use crate::trial::worse;
use crate::{Trial, is_unreliable};
use ndarray::{Array1, Array2};
use std::sync::Arc;
use vaglio_columns::gather;

/// Loss of removing each column of a subset S, for each λ.
///
/// For each fold and λ: H = (A_t + λ)⁻¹, w = H·B_t, V = H·A_v·H and f = H(A_v w − B_v) over S. Removing i by δ =
/// w_i/H_ii increases the loss by δ²V_ii − 2δf_i. Diagonals, w and f are always up to date; H and V apply several
/// removals at once. Memory 8·K·R·s² bytes.
#[derive(Debug)]
pub struct BackwardMoments {
    moments: Arc<Moments>,
    lambdas: Vec<f64>,
    /// Places of the selected columns, in increasing order.
    selected: Vec<usize>,
    /// Position of each selected column in the vectors of a fold state.
    positions: Vec<usize>,
    /// States by fold, then λ.
    pairs: Vec<BackwardPair>,
    /// Removals since positions were last renewed.
    removals: usize,
}

/// State of one fold and λ.
#[derive(Debug, Default)]
struct BackwardPair {
    matrices: DowndatedTriangles,
    /// Diagonal of H when it was computed from the moments.
    initial: Vec<f64>,
    /// Diagonals of H and V.
    h: Vec<f64>,
    v: Vec<f64>,
    /// w and f of each output.
    w: Vec<Vec<f64>>,
    f: Vec<Vec<f64>>,
    loss: f64,
    /// Smallest 1/(H_ii((A_t)_ii + λ)) since the matrices were computed from the moments.
    conditioning: f64,
}

/// Number of removals applied to H and V at once.
const FLUSH: usize = 16;

impl BackwardMoments {
    /// Creates the state of a subset of active columns. Cost O(K·R·s³).
    pub fn new(moments: &Arc<Moments>, lambdas: &[f64], subset: &[usize]) -> Self {
        let mut selected = moments.places(subset);
        selected.sort_unstable();
        selected.dedup();
        let pair = |k: usize| BackwardPair::new(moments, k / lambdas.len(), lambdas[k % lambdas.len()], &selected);
        let pairs = parallel::map(moments.folds.len() * lambdas.len(), pair);
        let positions = (0..selected.len()).collect();
        BackwardMoments {
            moments: Arc::clone(moments),
            lambdas: lambdas.to_vec(),
            selected,
            positions,
            pairs,
            removals: 0,
        }
    }

    /// Bytes for a subset of `columns` columns, without the moments.
    pub fn bytes(folds: usize, lambdas: usize, columns: usize) -> usize {
        folds * lambdas * (DowndatedTriangles::bytes(columns) + (4 + 2 * FLUSH) * columns * size_of::<f64>())
    }

    /// Sum of squared errors of the subset in each fold, and its conditioning, for each λ.
    pub fn losses(&self) -> Vec<(Vec<f64>, f64)> {
        let lambda_losses = |l: usize| (self.pairs(l).map(|pair| pair.loss).collect(), self.conditioning(l));
        (0..self.lambdas.len()).map(lambda_losses).collect()
    }

    /// States of one λ, fold after fold.
    fn pairs(&self, lambda: usize) -> impl Iterator<Item = &BackwardPair> {
        self.pairs.iter().skip(lambda).step_by(self.lambdas.len())
    }

    /// Smallest share of any pivot so far.
    fn conditioning(&self, lambda: usize) -> f64 {
        self.pairs(lambda).map(|pair| pair.conditioning).fold(1.0, worse)
    }

    /// Trials of removing each candidate for each λ. Equal columns share the trial of the first; columns that are not
    /// selected get an infinite loss. Cost O(K·R·s).
    pub fn trials(&self, candidates: &[usize]) -> Vec<Vec<Trial>> {
        // For each column, the first selected one that equals it.
        let mut first = vec![None; self.moments.features.len()];
        for (k, &place) in self.selected.iter().enumerate() {
            first[self.moments.duplicates[place]].get_or_insert(k);
        }
        let is_selected = |place: &usize| self.selected.binary_search(place).is_ok();
        let place = |&feature: &usize| self.moments.place(feature).filter(is_selected);
        let like: Vec<Option<usize>> =
            candidates.iter().map(|feature| first[self.moments.duplicates[place(feature)?]]).collect();
        let lambda_trials = |l: usize| {
            let mut losses = vec![0.0; self.selected.len()];
            for pair in self.pairs(l) {
                losses.iter_mut().zip(&self.positions).for_each(|(sum, &at)| *sum += pair.trial(at));
            }
            let conditioning = self.conditioning(l);
            let trial = |k: usize| self.moments.trial(losses[k], conditioning);
            like.iter().map(|k| k.map_or(Trial::IMPOSSIBLE, trial)).collect()
        };
        parallel::map(self.lambdas.len(), lambda_trials)
    }

    /// Removes a selected column. Cost O(K·R·s·FLUSH), and O(K·R·s²·FLUSH) once in FLUSH removals.
    ///
    /// If cancellation makes the state unreliable, it is recomputed from the moments, at O(s³); returns whether it was.
    pub fn remove(&mut self, feature: usize) -> bool {
        let place = self.moments.place(feature);
        let Some(k) = place.and_then(|place| self.selected.iter().position(|&p| p == place)) else {
            return false;
        };
        self.selected.remove(k);
        let at = self.positions.remove(k);
        self.removals += 1;
        let (moments, lambdas) = (&*self.moments, &self.lambdas);
        let (selected, positions) = (&self.selected, &self.positions);
        let fold_and_lambda = |k: usize| (k / lambdas.len(), lambdas[k % lambdas.len()]);
        let remove = |k: usize, pair: &mut BackwardPair| {
            let (fold, lambda) = fold_and_lambda(k);
            pair.remove(at, positions);
            pair.conditioning = pair.lowest_share(&moments.folds[fold], lambda, selected, positions);
            is_unreliable(pair.conditioning) || pair.has_shrunk(positions)
        };
        let spent: Vec<bool> = parallel::map_mut(&mut self.pairs, remove);
        if self.removals < FLUSH && !spent.contains(&true) {
            return false;
        }
        parallel::each_mut(&mut self.pairs, |k, pair| {
            let (fold, lambda) = fold_and_lambda(k);
            if spent[k] {
                *pair = BackwardPair::new(moments, fold, lambda, selected);
            } else {
                pair.compact(positions);
            }
        });
        self.removals = 0;
        self.positions = (0..self.selected.len()).collect();
        spent.contains(&true)
    }
}

impl BackwardPair {
    /// Computes H and V from the Cholesky factor of A_t + λ. Powers of 2 scale its diagonal to about 1.
    fn new(moments: &Moments, fold: usize, lambda: f64, selected: &[usize]) -> Self {
        let (s, stride) = (selected.len(), moments.stride);
        let [mut training, mut held_out] = moments.among(fold, selected);
        let fold = &moments.folds[fold];
        let scale = linalg::unit_scale((&training.diag() + lambda).view());
        for matrix in [&mut training, &mut held_out] {
            linalg::scale_symmetric(matrix, &scale);
        }
        training.diag_mut().iter_mut().zip(&scale).for_each(|(d, scale)| *d += lambda * scale * scale);
        // All values are NaN if the matrix is not positive definite.
        let inverse = linalg::inverse(training.view()).unwrap_or_else(|_| Array2::from_elem((s, s), f64::NAN));
        let along = linalg::gemm(held_out.view(), inverse.view());
        let square = linalg::gemm(inverse.view(), along.view());
        let h = |i: usize, j: usize| inverse[[i, j]] * scale[i] * scale[j];
        let v = |i: usize, j: usize| square[[i, j]] * scale[i] * scale[j];
        let mut pair = BackwardPair {
            matrices: DowndatedTriangles::new(s, h, v),
            initial: (0..s).map(|i| h(i, i)).collect(),
            h: (0..s).map(|i| h(i, i)).collect(),
            v: (0..s).map(|i| v(i, i)).collect(),
            loss: fold.squares,
            conditioning: 1.0,
            ..BackwardPair::default()
        };
        for o in 0..moments.outputs {
            let row = |b: &[f64]| selected.iter().map(|&place| b[o * stride + place]).collect::<Array1<f64>>();
            let targets = row(&fold.held_out_targets);
            let w = inverse.dot(&(&row(&fold.training_targets) * &scale));
            let residual = held_out.dot(&w) / &scale - &targets;
            let f = inverse.dot(&(&residual * &scale)) * &scale;
            let w = w * &scale;
            pair.loss += w.dot(&(&residual - &targets));
            pair.w.push(w.to_vec());
            pair.f.push(f.to_vec());
        }
        let positions: Vec<usize> = (0..s).collect();
        pair.conditioning = pair.lowest_share(fold, lambda, selected, &positions);
        pair
    }

    fn trial(&self, at: usize) -> f64 {
        let (h, v) = (self.h[at], self.v[at]);
        let output_loss = |(w, f): (&Vec<f64>, &Vec<f64>)| {
            let delta = w[at] / h;
            delta * (delta * v - 2.0 * f[at])
        };
        self.loss + self.w.iter().zip(&self.f).map(output_loss).sum::<f64>()
    }

    /// Removes one column.
    fn remove(&mut self, at: usize, kept: &[usize]) {
        let (h, v) = self.matrices.columns(at);
        let (h_at, v_at) = (self.h[at], self.v[at]);
        for (w, f) in self.w.iter_mut().zip(&mut self.f) {
            let delta = w[at] / h_at;
            self.loss += delta * (delta * v_at - 2.0 * f[at]);
            let f_at = f[at] - delta * v_at;
            for (k, (w, f)) in w.iter_mut().zip(f.iter_mut()).enumerate() {
                let (h, v) = (lane(&h, k), lane(&v, k));
                *w -= h * delta;
                *f = *f - delta * v - h / h_at * f_at;
            }
        }
        let (by, half) = (F64x8::splat(h_at), F64x8::splat(0.5 * v_at));
        let r: Vec<F64x8> = h.iter().map(|h| *h / by).collect();
        let v: Vec<F64x8> = v.iter().zip(&r).map(|(v, r)| *v - *r * half).collect();
        for &k in kept {
            let (r, v) = (lane(&r, k), lane(&v, k));
            self.h[k] -= h_at * r * r;
            self.v[k] -= 2.0 * (r * v);
        }
        self.matrices.push(r, v, h_at);
    }

    /// Whether H has shrunk so much since it was computed, and V with its square, that cancellation makes them
    /// unreliable.
    fn has_shrunk(&self, positions: &[usize]) -> bool {
        let share = |&at: &usize| self.conditioning * (self.h[at] / self.initial[at]).powi(2);
        positions.iter().map(share).fold(1.0, worse) < FALLEN_MOMENTS
    }

    /// Smallest 1/(H_ii((A_t)_ii + λ)) so far.
    fn lowest_share(&self, fold: &FoldMoments, lambda: f64, selected: &[usize], positions: &[usize]) -> f64 {
        let share = |(&place, &at): (&usize, &usize)| 1.0 / (self.h[at] * (fold.scale[place] + lambda));
        selected.iter().zip(positions).map(share).fold(self.conditioning, worse)
    }

    fn compact(&mut self, kept: &[usize]) {
        self.matrices.flush(kept);
        let keep = |x: &mut Vec<f64>| *x = gather(x, kept);
        keep(&mut self.initial);
        keep(&mut self.h);
        keep(&mut self.v);
        self.w.iter_mut().chain(&mut self.f).for_each(keep);
    }
}
