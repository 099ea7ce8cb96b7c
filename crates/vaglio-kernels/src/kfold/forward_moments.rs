//! Forward selection by moments: the trial of adding each column, for every λ at once.
//!
//! The book, *Cross-validation without refitting*, "Moments: forward"; after P. Buteneers, K. Caluwaerts, J. Dambre, D.
//! Verstraeten and B. Schrauwen, Neural Processing Letters 2013, whose method solves again for every candidate.

use super::Moments;
use super::fold_moments::FoldMoments;
use crate::Trial;
use crate::f64x8::F64x8;
use crate::linalg::InverseFactor;
use crate::parallel;
use crate::sums::axpy;
use crate::trial::worse;
use crate::vectorize;
use std::sync::Arc;
use vaglio_columns::{gather, sum_of_products};

/// Loss of adding each column to a subset S, for each λ.
///
/// For each fold and λ, let z_i be x_i less its ridge regression on S. The state holds the Schur complements d_i =
/// (A_t)_ii + λ − a_iᵀH a_i, the gradients g_i = z_iᵀ(B_t − (A_t + λ)w), q_i = z_iᵀA_v z_i and h_i = z_iᵀ(A_v w − B_v).
/// Adding i by δ = g_i/d_i increases the loss by 2δh_i + δ²q_i. H = (A_t + λ)⁻¹ over S is PᵀP, with a triangle P that
/// gains one row per column. Memory 8·K·R·(4n + s²/2) bytes.
#[derive(Debug, Clone)]
pub struct ForwardMoments {
    moments: Arc<Moments>,
    lambdas: Vec<f64>,
    /// Places of the selected columns, in order of addition.
    selected: Vec<usize>,
    /// A_v of each fold among the selected columns, row by row.
    held_out: Vec<Vec<Vec<f64>>>,
    /// States by fold, then λ.
    pairs: Vec<ForwardPair>,
}

/// State of one fold and λ: vectors over all columns, output after output.
#[derive(Debug, Clone)]
struct ForwardPair {
    lambda: f64,
    diagonal: Vec<f64>,
    gradient: Vec<f64>,
    square: Vec<f64>,
    along: Vec<f64>,
    loss: f64,
    /// Smallest share of any pivot.
    conditioning: f64,
    factor: InverseFactor,
}

/// Update of the vectors of one fold and λ by an added column.
#[derive(Debug)]
struct ForwardStep {
    /// Direction p over the selected columns and the new one.
    p: Vec<f64>,
    /// H(A_v p) over the selected columns without the new one.
    u: Vec<f64>,
    /// pᵀA_v p.
    pi: f64,
    /// γ = g_b/√d_b and η = h_b/√d_b of each output.
    scalars: Vec<(f64, f64)>,
}

/// Number of λ that share a read of the moments.
const TOGETHER: usize = 16;
/// Eights of columns processed together.
const EIGHTS: usize = 4;
/// Number of λ that share the load of an entry.
const SHARE: usize = 4;

impl ForwardMoments {
    /// Creates the state of a subset of active columns. Cost O(K·R·n·s²).
    pub fn new(moments: &Arc<Moments>, lambdas: &[f64], subset: &[usize]) -> Self {
        let mut state = ForwardMoments {
            moments: Arc::clone(moments),
            lambdas: lambdas.to_vec(),
            selected: Vec::new(),
            held_out: Vec::new(),
            pairs: Vec::new(),
        };
        state.rebuild(&moments.places(subset));
        state
    }

    /// Sum of squared errors of the subset in each fold, and its conditioning, for each λ.
    pub fn losses(&self) -> Vec<(Vec<f64>, f64)> {
        let pairs = |l: usize| self.pairs(l).map(|(pair, _)| pair);
        let conditioning = |l: usize| pairs(l).map(|pair| pair.conditioning).fold(1.0, worse);
        (0..self.lambdas.len()).map(|l| (pairs(l).map(|pair| pair.loss).collect(), conditioning(l))).collect()
    }

    /// Trials of adding each candidate for each λ. Inactive or selected columns get an infinite loss. Cost O(K·R·n).
    pub fn trials(&self, candidates: &[usize]) -> Vec<Vec<Trial>> {
        let moments = &*self.moments;
        let is_open = |place: &usize| !self.selected.contains(place);
        let place = |&feature: &usize| moments.place(feature).filter(is_open);
        let places: Vec<Option<usize>> = candidates.iter().map(place).collect();
        let lambda_trials = |l: usize| {
            let (mut losses, mut conditioning) = (vec![0.0; moments.stride], vec![1.0; moments.stride]);
            for (pair, fold) in self.pairs(l) {
                add_trials(pair, &fold.scale, &mut losses, &mut conditioning);
            }
            let trial = |place: usize| moments.trial(losses[place], conditioning[place]);
            places.iter().map(|place| place.map_or(Trial::IMPOSSIBLE, trial)).collect()
        };
        parallel::map(self.lambdas.len(), lambda_trials)
    }

    /// Adds an active column that is not selected. Cost O(K·R·(n·s + s²)).
    pub fn add(&mut self, feature: usize) {
        if let Some(place) = self.moments.place(feature).filter(|place| !self.selected.contains(place)) {
            self.add_place(place);
        }
    }

    /// Removes a selected column by adding the others again. Cost O(K·R·n·s²).
    pub fn remove(&mut self, feature: usize) {
        if let Some(place) = self.moments.place(feature).filter(|place| self.selected.contains(place)) {
            let others: Vec<usize> = self.selected.iter().copied().filter(|&p| p != place).collect();
            self.rebuild(&others);
        }
    }

    /// States of one λ, fold after fold, with the moments of the folds.
    fn pairs(&self, lambda: usize) -> impl Iterator<Item = (&ForwardPair, &FoldMoments)> {
        self.pairs.iter().skip(lambda).step_by(self.lambdas.len().max(1)).zip(&self.moments.folds)
    }

    fn rebuild(&mut self, places: &[usize]) {
        let (moments, lambdas) = (&*self.moments, &self.lambdas);
        let pair = |k: usize| ForwardPair::new(moments, k / lambdas.len(), lambdas[k % lambdas.len()]);
        self.pairs = parallel::map(moments.folds.len() * lambdas.len(), pair);
        self.held_out = vec![Vec::new(); moments.folds.len()];
        self.selected.clear();
        places.iter().for_each(|&place| self.add_place(place));
    }

    fn add_place(&mut self, place: usize) {
        let (moments, selected) = (&*self.moments, &self.selected);
        let rows: Vec<usize> = selected.iter().copied().chain([place]).collect();
        for (fold, held_out) in self.held_out.iter_mut().enumerate() {
            let own = gather(moments.rows(fold, place)[1], &rows);
            held_out.iter_mut().zip(&own).for_each(|(row, entry)| row.push(*entry));
            held_out.push(own);
        }
        let folds = self.pairs.chunks_mut(self.lambdas.len().max(1)).zip(&self.held_out).enumerate();
        let mut blocks: Vec<(usize, &[_], &mut [ForwardPair])> = folds
            .flat_map(|(fold, (pairs, held_out))| {
                pairs.chunks_mut(TOGETHER).map(move |some| (fold, &held_out[..], some))
            })
            .collect();
        parallel::each_mut(&mut blocks, |_, (fold, held_out, pairs)| {
            let (scale, a) = (moments.folds[*fold].scale[place], gather(moments.rows(*fold, place)[0], selected));
            let step = |pair: &mut ForwardPair| {
                pair.conditioning = worse(pair.conditioning, pair.diagonal[place] / (scale + pair.lambda));
                pair.step(&a, held_out, place)
            };
            let steps: Vec<ForwardStep> = pairs.iter_mut().map(step).collect();
            apply_steps(moments, *fold, &rows, &steps, pairs);
        });
        self.selected.push(place);
    }
}

impl ForwardPair {
    fn new(moments: &Moments, fold: usize, lambda: f64) -> Self {
        let (fold, stride) = (&moments.folds[fold], moments.stride);
        let diagonal = |m: &[f64], more: f64| {
            let mut out = vec![1.0; stride];
            (0..moments.features.len()).for_each(|i| out[i] = m[i * fold.diagonal_stride] + more);
            out
        };
        ForwardPair {
            lambda,
            diagonal: diagonal(&fold.training, lambda),
            gradient: fold.training_targets.clone(),
            square: diagonal(&fold.held_out, 0.0),
            along: fold.held_out_targets.iter().map(|b| -b).collect(),
            loss: fold.squares,
            conditioning: 1.0,
            factor: InverseFactor::default(),
        }
    }

    /// Computes the direction p = z_b/√d_b of a column, u = H(A_v p)_S, and π = pᵀA_v p, and updates the loss. `a` is
    /// the column's row of A_t, and `held` has the rows of A_v with the column last.
    fn step(&mut self, a: &[f64], held: &[Vec<f64>], place: usize) -> ForwardStep {
        let (border, corner) = (&held[a.len()][..a.len()], held[a.len()][a.len()]);
        let root = self.diagonal[place].sqrt();
        let mut p = self.factor.solve(a);
        p.iter_mut().for_each(|p| *p /= -root);
        // (A_v p)_S, including the column's own contribution.
        let last = 1.0 / root;
        let mut along: Vec<f64> = border.iter().map(|b| b * last).collect();
        p.iter().zip(held).for_each(|(p, row)| axpy(*p, row, &mut along));
        let corner = sum_of_products(&p, border) + last * corner;
        let pi = sum_of_products(&p, &along) + last * corner;
        let u = self.factor.solve(&along);
        p.push(last);
        self.factor.push(&p);
        let stride = self.diagonal.len();
        let outputs = self.gradient.len() / stride;
        let output_scalars =
            |o: usize| (self.gradient[o * stride + place] / root, self.along[o * stride + place] / root);
        let scalars: Vec<(f64, f64)> = (0..outputs).map(output_scalars).collect();
        for (gamma, eta) in &scalars {
            self.loss += 2.0 * gamma * eta + gamma * gamma * pi;
        }
        ForwardStep { p, u, pi, scalars }
    }

    #[inline(always)]
    fn apply(&mut self, step: &ForwardStep, at: usize, r: F64x8, x: F64x8) {
        let stride = self.diagonal.len() / F64x8::WIDTH;
        let (pi, two) = (F64x8::splat(step.pi), F64x8::splat(2.0));
        let d = &mut self.diagonal.as_chunks_mut().0[at];
        (F64x8::load(d) - r * r).store(d);
        let q = &mut self.square.as_chunks_mut().0[at];
        (F64x8::load(q) - two * r * x + r * r * pi).store(q);
        for (o, &(gamma, eta)) in step.scalars.iter().enumerate() {
            let (gamma, eta) = (F64x8::splat(gamma), F64x8::splat(eta));
            let g = &mut self.gradient.as_chunks_mut().0[o * stride + at];
            (F64x8::load(g) - gamma * r).store(g);
            let h = &mut self.along.as_chunks_mut().0[o * stride + at];
            (F64x8::load(h) - r * eta + gamma * (x - r * pi)).store(h);
        }
    }
}

/// Computes r = A_t p and x = A_v p − A_t u over all columns, and updates d ← d − r², g ← g − γr, h ← h − rη + γ(x −
/// rπ) and q ← q − 2rx + r²π. Cost O(R·n·s).
fn apply_steps(moments: &Moments, fold: usize, rows: &[usize], steps: &[ForwardStep], pairs: &mut [ForwardPair]) {
    let eights = moments.stride / F64x8::WIDTH;
    let interleave = |vector: fn(&ForwardStep) -> &[f64]| {
        steps.chunks(SHARE).map(|steps| interleave(steps, rows.len(), vector)).collect::<Vec<_>>()
    };
    let (p, u) = (interleave(|step| &step.p), interleave(|step| &step.u));
    let matrices: Vec<[&[f64]; 2]> = rows.iter().map(|&row| moments.rows(fold, row)).collect();
    let mut packed = vec![[F64x8::ZERO; EIGHTS]; 2 * rows.len()];
    for start in (0..eights).step_by(EIGHTS) {
        let here = EIGHTS.min(eights - start);
        let (a, v) = packed.split_at_mut(rows.len());
        for (packed, which) in [(a, 0), (v, 1)] {
            for (packed, row) in packed.iter_mut().zip(&matrices) {
                let chunks = &row[which].as_chunks().0[start..start + here];
                packed.iter_mut().zip(chunks).for_each(|(to, from)| *to = F64x8::load(from));
            }
        }
        let (a, v) = packed.split_at(rows.len());
        for (((p, u), steps), pairs) in p.iter().zip(&u).zip(steps.chunks(SHARE)).zip(pairs.chunks_mut(SHARE)) {
            vectorize!(|| {
                let (r, back, along) = (sums(a, p), sums(a, u), sums(v, p));
                for (l, (step, pair)) in steps.iter().zip(pairs.iter_mut()).enumerate() {
                    for k in 0..here {
                        pair.apply(step, start + k, r[l][k], along[l][k] - back[l][k]);
                    }
                }
            });
        }
    }
}

/// A vector of up to [`SHARE`] steps, entry by entry, padded with zeros.
fn interleave(steps: &[ForwardStep], rows: usize, vector: fn(&ForwardStep) -> &[f64]) -> Vec<[f64; SHARE]> {
    let mut out = vec![[0.0; SHARE]; rows];
    for (l, step) in steps.iter().enumerate() {
        out.iter_mut().zip(vector(step)).for_each(|(out, entry)| out[l] = *entry);
    }
    out
}

/// Σ_k c_k a_k: λ × eights.
#[inline(always)]
fn sums(rows: &[[F64x8; EIGHTS]], coefficients: &[[f64; SHARE]]) -> [[F64x8; EIGHTS]; SHARE] {
    let mut sums = [[F64x8::ZERO; EIGHTS]; SHARE];
    for (row, coefficients) in rows.iter().zip(coefficients) {
        // An opaque address keeps the compiler from vectorizing along the rows, which would gather.
        let row = *std::hint::black_box(row);
        for l in 0..SHARE {
            let c = F64x8::splat(coefficients[l]);
            for e in 0..EIGHTS {
                sums[l][e] = sums[l][e] + row[e] * c;
            }
        }
    }
    sums
}

/// The eight doubles at an index.
#[inline(always)]
fn eights(x: &[f64], place: usize) -> F64x8 {
    F64x8::load(&x.as_chunks().0[place])
}

/// Adds loss + 2δh + δ²q of every column, and lowers the conditioning.
fn add_trials(pair: &ForwardPair, scale: &[f64], losses: &mut [f64], conditioning: &mut [f64]) {
    vectorize!(move || {
        let stride = losses.len();
        let (lambda, loss, sticky) =
            (F64x8::splat(pair.lambda), F64x8::splat(pair.loss), F64x8::splat(pair.conditioning));
        let two = F64x8::splat(2.0);
        for k in 0..stride / F64x8::WIDTH {
            let diagonal = eights(&pair.diagonal, k);
            let square = eights(&pair.square, k);
            let mut sum = loss;
            for o in 0..pair.gradient.len() / stride {
                let at = o * stride / F64x8::WIDTH + k;
                let delta = eights(&pair.gradient, at) / diagonal;
                sum = sum + delta * (two * eights(&pair.along, at) + delta * square);
            }
            (eights(losses, k) + sum).store(&mut losses.as_chunks_mut().0[k]);
            // Negated and limited to 0, so that NaN counts as 0.
            let negative = (F64x8::ZERO - diagonal / (eights(scale, k) + lambda)).min(F64x8::ZERO);
            let lowest = eights(conditioning, k).min(sticky).min(F64x8::ZERO - negative);
            lowest.store(&mut conditioning.as_chunks_mut().0[k]);
        }
    });
}
