//! Lower bound for every subset below a node of a depth-first search: the residual sum of squares of the fit of all its
//! columns.
//!
//! Branch and bound after P. M. Narendra, K. Fukunaga, *A branch and bound algorithm for feature subset selection*,
//! IEEE Transactions on Computers 26 (1977), with the inequality at [`SubtreeBound`].

use crate::linalg;
use crate::sums::{axpy, dot};
use crate::tolerance::{BOUND_ROUNDING, RSS_ROUNDING, RSS_ROUNDING_BY_CONDITION};
use crate::{Data, Scorer};

/// Weighted least-squares fit of a set U of columns, from which columns can be dropped.
///
/// For every S ⊆ S' ⊆ U, with w_j = 1/d_j(S)²: Σ_j e_j(S')² ≥ Σ_j w_j·a_j(S')² ≥ RSS_w(U), with the leave-one-out
/// residuals e = a/d. Additions only lower d, and no combination of the columns of U has a smaller weighted sum of
/// squares than their fit. An S' without t columns of U lacks one whose cost c_b²/(A⁻¹)_bb is at least the t-th least
/// of all, and dropping that column alone adds its cost.
#[derive(Debug, Clone)]
pub struct SubtreeBound {
    features: Vec<usize>,
    /// Inverse Gram matrix of the unit columns, row-major.
    inverse: Vec<f64>,
    /// Coefficients of the unit columns, for each output.
    coefficients: Vec<Vec<f64>>,
    /// ‖y − fit‖² over all outputs, and ‖y‖².
    rss: f64,
    total: f64,
    /// Rounding of RSS(U) relative to ‖y‖², whichever columns are dropped.
    rounding: f64,
}

impl SubtreeBound {
    /// Fits some columns to weighted rows; `None` if they are nearly dependent or can fit every row.
    ///
    /// Cost O(m·|U|² + |U|³).
    pub fn new(data: &Data<'_>, features: &[usize], weights: &[f64]) -> Option<Self> {
        let (size, level) = (features.len(), data.level);
        if data.rows() <= size + 1 {
            return None;
        }
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let weighted = |mut x: Vec<f64>| {
            x.iter_mut().zip(&roots).for_each(|(x, root)| *x *= root);
            x
        };
        let unit = |&feature: &usize| {
            let mut x = weighted(data.scaled(feature));
            let length = dot(level, &x, &x).sqrt();
            x.iter_mut().for_each(|v| *v /= length);
            x
        };
        let x: Vec<Vec<f64>> = features.iter().map(unit).collect();
        let mut gram = vec![0.0; size * size];
        for k in 0..size {
            for l in k..size {
                let product = dot(level, &x[k], &x[l]);
                (gram[k * size + l], gram[l * size + k]) = (product, product);
            }
        }
        let (inverse, condition) = linalg::inverse_of_unit(gram, size)?;
        let rounding = RSS_ROUNDING + RSS_ROUNDING_BY_CONDITION * condition;
        let (features, coefficients) = (features.to_vec(), Vec::new());
        let mut fit = SubtreeBound { features, inverse, coefficients, rss: 0.0, total: 0.0, rounding };
        for output in 0..data.outputs() {
            let mut residual = weighted(data.centered(output).to_vec());
            fit.total += dot(level, &residual, &residual);
            let along: Vec<f64> = x.iter().map(|x| dot(level, x, &residual)).collect();
            let coefficient = |row: &[f64]| row.iter().zip(&along).map(|(i, b)| i * b).sum::<f64>();
            let coefficients: Vec<f64> = fit.inverse.chunks(size.max(1)).map(coefficient).collect();
            coefficients.iter().zip(&x).for_each(|(c, x)| axpy(level, -c, x, &mut residual));
            fit.rss += dot(level, &residual, &residual);
            fit.coefficients.push(coefficients);
        }
        Some(fit)
    }

    /// Whether all of these columns are in the set.
    pub fn covers(&self, features: &[usize]) -> bool {
        features.iter().all(|f| self.features.contains(f))
    }

    /// Drops all columns but these. Cost O(|U|²) for each dropped one.
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

    /// RSS += c_b²/(A⁻¹)_bb, c −= A⁻¹_b c_b/(A⁻¹)_bb, A⁻¹ −= A⁻¹_b A⁻¹_bᵀ/(A⁻¹)_bb.
    fn drop_at(&mut self, at: usize) {
        let size = self.features.len();
        let row: Vec<f64> = self.inverse[at * size..(at + 1) * size].to_vec();
        let own = row[at];
        for coefficients in &mut self.coefficients {
            let c = coefficients[at];
            self.rss += c * c / own;
            coefficients.iter_mut().zip(&row).for_each(|(other, r)| *other -= r * c / own);
            coefficients.remove(at);
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

    /// Lower bound of the mean squared loss of every subset of the set with at most `most` columns beyond `fixed`; −∞
    /// for other losses. Cost O(|U|·(|fixed| + log |U|)).
    pub fn bound(&self, scorer: &Scorer, fixed: &[usize], most: usize) -> f64 {
        if !scorer.is_of_squares() || !self.rss.is_finite() {
            return f64::NEG_INFINITY;
        }
        let size = self.features.len();
        let cost = |at: usize| {
            let own = self.inverse[at * size + at];
            self.coefficients.iter().map(|c| c[at] * c[at] / own).sum::<f64>()
        };
        let free = (0..size).filter(|at| !fixed.contains(&self.features[*at]));
        let mut costs: Vec<f64> = free.map(cost).collect();
        let dropped = costs.len().saturating_sub(most);
        let least = match dropped {
            0 => 0.0,
            _ => *costs.select_nth_unstable_by(dropped - 1, f64::total_cmp).1,
        };
        let rss = (self.rss + least) * (1.0 - BOUND_ROUNDING) - self.rounding * self.total;
        scorer.mean_of(rss.max(0.0))
    }
}
