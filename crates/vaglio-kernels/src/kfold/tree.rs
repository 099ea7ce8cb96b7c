//! Moments: all subsets, depth first, by Schur complements of the columns that may follow.
//!
//! The trials are those of the book, *Cross-validation without refitting*, "Moments: forward"; the order is that of
//! G. Furnival and R. Wilson, *Regressions by leaps and bounds*, Technometrics 16 (1974), without its bounds.

use super::Moments;
use crate::Trial;
use crate::trial::worse;
use crate::vectorize;
use std::sync::Arc;
use vaglio_columns::gather;

/// A subset S and the later columns that could be added to it, for every λ.
///
/// Over the L later columns, with z_i = x_i less its ridge regression on S: T, the Schur complement of A_t + λ, its
/// gradients g, Q_ij = z_iᵀA_v z_j, h_i = z_iᵀ(A_v w − B_v), and the loss. Memory 8·K·R·(L² + 4L) bytes.
///
/// Every subset of sixteen columns takes 0.04 s for one λ, by copies of [`super::ForwardMoments`] 2.2 s (bench
/// `engines`).
#[derive(Debug, Clone)]
pub struct MomentTree {
    moments: Arc<Moments>,
    outputs: usize,
    /// The later columns, in the order of addition.
    columns: Vec<usize>,
    /// The values of each λ and fold, λ after λ: the loss and its conditioning; T, then Q, each row from its diagonal on;
    /// g, then h, output after output; the scales of the diagonal.
    pairs: Vec<f64>,
    /// Where Q, g, h and the scales start among the values of one λ and fold, and the number of these values.
    q: usize,
    g: usize,
    h: usize,
    scale: usize,
    end: usize,
}

/// Where T starts, after the loss and its conditioning.
const T: usize = 2;

impl MomentTree {
    /// The empty subset, with active `columns` to be added in this order. Cost O(K·R·n²).
    pub fn new(moments: &Arc<Moments>, lambdas: &[f64], columns: &[usize]) -> Self {
        let places = moments.places(columns);
        let folds = moments.folds.len();
        let mut tree = MomentTree::empty(moments, gather(&moments.features, &places));
        let mut pairs = Vec::with_capacity(lambdas.len() * folds * tree.end);
        for (&lambda, fold) in lambdas.iter().flat_map(|lambda| (0..folds).map(move |fold| (lambda, fold))) {
            let (fold_moments, start) = (&moments.folds[fold], pairs.len() + T);
            pairs.extend([fold_moments.squares, 1.0]);
            for which in [0, 1] {
                for (i, &place) in places.iter().enumerate() {
                    let row = moments.rows(fold, place)[which];
                    pairs.extend(places[i..].iter().map(|&other| row[other]));
                }
            }
            (0..places.len()).for_each(|i| pairs[start + tree.row(i)] += lambda);
            for (targets, sign) in [(&fold_moments.training_targets, 1.0), (&fold_moments.held_out_targets, -1.0)] {
                let outputs = targets.chunks(moments.stride.max(1)).take(moments.outputs);
                pairs.extend(outputs.flat_map(|b| places.iter().map(move |&place| sign * b[place])));
            }
            pairs.extend(places.iter().map(|&place| fold_moments.scale[place] + lambda));
        }
        tree.pairs = pairs;
        tree
    }

    /// A tree without values yet.
    fn empty(moments: &Arc<Moments>, columns: Vec<usize>) -> Self {
        let (moments, outputs) = (Arc::clone(moments), moments.outputs);
        let (triangle, rows) = (columns.len() * (columns.len() + 1) / 2, outputs * columns.len());
        let (q, g) = (T + triangle, T + 2 * triangle);
        let (h, scale) = (g + rows, g + 2 * rows);
        MomentTree { moments, outputs, pairs: Vec::new(), q, g, h, scale, end: scale + columns.len(), columns }
    }

    /// The later columns, in the order of addition.
    pub fn later(&self) -> &[usize] {
        &self.columns
    }

    /// The subset with the later column at `position` (from 0) added, and the columns after it. Cost O(K·R·L²).
    #[must_use]
    pub fn child(&self, position: usize) -> MomentTree {
        let columns = self.columns.get(position + 1..).unwrap_or_default().to_vec();
        let mut rho = vec![0.0; columns.len()];
        let to = MomentTree::empty(&self.moments, columns);
        let mut pairs = vec![0.0; self.pairs.len() / self.end * to.end];
        if position < self.columns.len() {
            vectorize!(|| {
                let out = self.pairs.chunks_exact(self.end).zip(pairs.chunks_exact_mut(to.end));
                out.for_each(|(values, out)| self.add(values, position, &to, out, &mut rho));
            });
        }
        MomentTree { pairs, ..to }
    }

    /// Applies `f` to the values of all folds of each λ.
    fn map_folds<R>(&self, f: impl Fn(&[&[f64]]) -> R) -> Vec<R> {
        let all: Vec<&[f64]> = self.pairs.chunks_exact(self.end).collect();
        all.chunks(self.moments.folds.len().max(1)).map(f).collect()
    }

    /// Trials of adding each candidate for each λ. Columns that are not later get an infinite loss. Cost O(K·R·L).
    pub fn trials(&self, candidates: &[usize]) -> Vec<Vec<Trial>> {
        let place = |candidate: &usize| self.columns.iter().position(|column| column == candidate);
        let places: Vec<Option<usize>> = candidates.iter().map(place).collect();
        let trial = |folds: &[&[f64]], i: usize| {
            let least = folds.iter().map(|values| self.share(values, i).min(values[1])).fold(1.0, f64::min);
            self.moments.trial(folds.iter().map(|values| self.loss_with(values, i)).sum(), least)
        };
        self.map_folds(|folds| {
            places.iter().map(|place| place.map_or(Trial::IMPOSSIBLE, |i| trial(folds, i))).collect()
        })
    }

    /// Trial of the subset itself for each λ: λ × 1.
    pub fn current(&self) -> Vec<Vec<Trial>> {
        self.map_folds(|folds| {
            let conditioning = folds.iter().map(|values| values[1]).fold(1.0, worse);
            vec![self.moments.trial(folds.iter().map(|values| values[0]).sum(), conditioning)]
        })
    }

    /// Where row i of a triangle starts. Later rows are the end of it.
    fn row(&self, i: usize) -> usize {
        (2 * self.columns.len() - i + 1) * i / 2
    }

    /// Adds column b: T_ij − ρ_i T_bj and Q_ij − ρ_i Q_bj − ρ_j Q_bi + ρ_i ρ_j Q_bb with ρ_i = T_bi/T_bb, and the rest.
    #[inline(always)]
    fn add(&self, values: &[f64], b: usize, to: &MomentTree, out: &mut [f64], rho: &mut [f64]) {
        let (length, all) = (rho.len(), self.columns.len());
        let row = |start: usize, i: usize| &values[start + self.row(i)..];
        let [t, q] = [T, self.q].map(|start| &row(start, b)[..length + 1]);
        let ((t_b, t), (q_b, q)) = ((t[0], &t[1..]), (q[0], &q[1..]));
        rho.iter_mut().zip(t).for_each(|(rho, t)| *rho = t / t_b);
        for i in 0..length {
            let (to_t, to_q) = out[T + to.row(i)..].split_at_mut(to.q - T);
            let [old_t, old_q] = [T, self.q].map(|start| &row(start, b + 1 + i)[..length - i]);
            let others = rho[i..].iter().zip(&t[i..]).zip(&q[i..]);
            for ((to, from), ((rho_j, t_j), q_j)) in to_t.iter_mut().zip(to_q).zip(old_t.iter().zip(old_q)).zip(others)
            {
                *to.0 = from.0 - rho[i] * t_j;
                *to.1 = from.1 - (rho[i] * q_j + rho_j * q[i]) + rho[i] * rho_j * q_b;
            }
        }
        (out[0], out[1]) = (self.loss_with(values, b), self.share(values, b).min(values[1]));
        for o in 0..self.outputs {
            let [g, h] = [self.g, self.h].map(|start| &values[start + o * all + b..][..length + 1]);
            let delta = g[0] / t_b;
            for k in 0..length {
                out[to.g + o * length + k] = g[k + 1] - rho[k] * g[0];
                out[to.h + o * length + k] = h[k + 1] + delta * q[k] - rho[k] * (h[0] + delta * q_b);
            }
        }
        out[to.scale..].copy_from_slice(&values[self.scale + b + 1..]);
    }

    /// T_ii as a share of the diagonal's scale before subtraction; 0 for NaN.
    #[inline(always)]
    fn share(&self, values: &[f64], i: usize) -> f64 {
        (values[T + self.row(i)] / values[self.scale + i]).max(0.0)
    }

    /// Loss + 2δh_i + δ²Q_ii.
    #[inline(always)]
    fn loss_with(&self, values: &[f64], i: usize) -> f64 {
        let (t, q) = (values[T + self.row(i)], values[self.q + self.row(i)]);
        (0..self.outputs).map(|o| o * self.columns.len() + i).fold(values[0], |loss, at| {
            let delta = values[self.g + at] / t;
            loss + delta * (2.0 * values[self.h + at] + delta * q)
        })
    }
}
