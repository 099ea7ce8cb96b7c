//! A lower bound for every subset below a node of a depth-first search: what the best fit of all its columns leaves over.
//!
//! Branch and bound after P. M. Narendra, K. Fukunaga, *A branch and bound algorithm for feature subset selection*, IEEE
//! Transactions on Computers 26 (1977), with the inequality at [`Possible`].

use super::BOUND_ROUNDING;
use crate::sums::{axpy, dot};
use crate::{Data, Scorer, linalg};
use ndarray::Array2;

/// The least squares fit of a set U of columns, from which columns can be dropped.
///
/// For every S ⊆ S' ⊆ U: Σ_j e_j(S')² ≥ min_j 1/d_j(S)² · RSS(U), with the residuals left out e, because e = a/d,
/// additions only lower d, and the ridge residuals a of S' are at least those of least squares on U.
#[derive(Debug, Clone)]
pub struct Possible {
    features: Vec<usize>,
    /// The inverse Gram matrix of the columns of length 1, row by row.
    inverse: Vec<f64>,
    /// Weights of the columns of length 1, for each output.
    weights: Vec<Vec<f64>>,
    /// ‖y − fit‖² over all outputs, and ‖y‖².
    rss: f64,
    total: f64,
}

/// The condition number of the Gram matrix from which on nothing is claimed.
const ILL_CONDITIONED: f64 = 1e6;
/// Rounding that RSS(U) may have, relative to ‖y‖².
const RSS_ROUNDING: f64 = 1e-13;

impl Possible {
    /// The fit of some columns; `None` when they are nearly dependent or can fit every row.
    ///
    /// Cost O(m·|U|² + |U|³).
    pub fn new(data: &Data<'_>, features: &[usize]) -> Option<Self> {
        let size = features.len();
        if data.rows() <= size + 1 {
            return None;
        }
        let unit = |&feature: &usize| {
            let mut x = data.scaled(feature);
            let length = dot(data.level, &x, &x).sqrt();
            x.iter_mut().for_each(|v| *v /= length);
            x
        };
        let x: Vec<Vec<f64>> = features.iter().map(unit).collect();
        let mut gram = Array2::zeros((size, size));
        for k in 0..size {
            for l in k..size {
                let product = dot(data.level, &x[k], &x[l]);
                (gram[[k, l]], gram[[l, k]]) = (product, product);
            }
        }
        let inverse = inverse(&gram)?;
        let mut fit = Possible { features: features.to_vec(), inverse, weights: Vec::new(), rss: 0.0, total: 0.0 };
        for output in 0..data.outputs() {
            let mut residual = data.centered(output).to_vec();
            fit.total += dot(data.level, &residual, &residual);
            let along: Vec<f64> = x.iter().map(|x| dot(data.level, x, &residual)).collect();
            let weight = |row: &[f64]| row.iter().zip(&along).map(|(i, b)| i * b).sum::<f64>();
            let weights: Vec<f64> = fit.inverse.chunks(size.max(1)).map(weight).collect();
            weights.iter().zip(&x).for_each(|(w, x)| axpy(data.level, -w, x, &mut residual));
            fit.rss += dot(data.level, &residual, &residual);
            fit.weights.push(weights);
        }
        Some(fit)
    }

    /// Whether all of these columns are in the set.
    pub fn covers(&self, features: &[usize]) -> bool {
        features.iter().all(|f| self.features.contains(f))
    }

    /// Drops all columns but these. Cost O(|U|²) for each.
    pub fn keep(&mut self, features: &[usize]) {
        let mut at = 0;
        while at < self.features.len() {
            if features.contains(&self.features[at]) {
                at += 1;
            } else {
                self.drop_at(at);
            }
        }
    }

    /// RSS += w_b²/(A⁻¹)_bb, w −= A⁻¹_b w_b/(A⁻¹)_bb, A⁻¹ −= A⁻¹_b A⁻¹_bᵀ/(A⁻¹)_bb.
    fn drop_at(&mut self, at: usize) {
        let size = self.features.len();
        let row: Vec<f64> = self.inverse[at * size..(at + 1) * size].to_vec();
        let own = row[at];
        for weights in &mut self.weights {
            let w = weights[at];
            self.rss += w * w / own;
            weights.iter_mut().zip(&row).for_each(|(other, r)| *other -= r * w / own);
            weights.remove(at);
        }
        let mut smaller = Vec::with_capacity((size - 1) * (size - 1));
        for k in (0..size).filter(|&k| k != at) {
            let (entries, ratio) = (&self.inverse[k * size..(k + 1) * size], row[k] / own);
            smaller.extend(entries[..at].iter().zip(&row[..at]).map(|(e, r)| e - ratio * r));
            smaller.extend(entries[at + 1..].iter().zip(&row[at + 1..]).map(|(e, r)| e - ratio * r));
        }
        self.inverse = smaller;
        self.features.remove(at);
    }

    /// A lower bound of the mean squared loss of every subset of the set, with the least 1/d² of a subset of it that
    /// is to be kept; −∞ for other losses. Cost O(1).
    pub fn bound(&self, scorer: &Scorer, least_weight: f64) -> f64 {
        if !scorer.is_of_squares() || !self.rss.is_finite() {
            return f64::NEG_INFINITY;
        }
        let rss = (self.rss * (1.0 - BOUND_ROUNDING) - RSS_ROUNDING * self.total).max(0.0);
        scorer.mean_of(rss * least_weight)
    }
}

/// The inverse of a Gram matrix, row by row; `None` when it is ill-conditioned.
fn inverse(gram: &Array2<f64>) -> Option<Vec<f64>> {
    if gram.is_empty() {
        return Some(Vec::new());
    }
    let (values, vectors) = linalg::eigh(gram.view()).ok()?;
    let (least, most) = values.iter().fold((f64::INFINITY, 0.0f64), |(l, m), v| (l.min(*v), m.max(*v)));
    if least.is_nan() || least * ILL_CONDITIONED <= most {
        return None;
    }
    Some((&vectors / &values).dot(&vectors.t()).iter().copied().collect())
}
