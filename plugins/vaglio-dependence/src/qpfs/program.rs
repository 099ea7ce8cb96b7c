//! Quadratic program over the simplex.

use super::redundancy::Redundancy;
use std::ops::Range;
use vaglio_core::{Error, Result, gather, max_abs};
use vaglio_kernels::tolerance::OPTIMUM;

/// Exchanges between recomputations of the slopes.
const FRESH: usize = 1000;

/// min over x ≥ 0, Σ x = 1 of ½ xᵀAx − bᵀx with A = Q and b = F, later (1 − α)Q and αF.
pub(super) struct SimplexQuadraticProgram {
    a: Redundancy,
    b: Vec<f64>,
    /// For each column the lowest one similar to it.
    similar: Vec<usize>,
}

impl SimplexQuadraticProgram {
    /// Prepares the program of Q, exact or approximated from `nystrom` columns, and F, the `relevance`. Columns are
    /// similar up to the share `equal` of Q_ii + Q_kk. Cost O(n²) similarities, or O(nr) and O(nr²) operations.
    ///
    /// # Errors
    /// Forwards errors of `similarities`.
    pub fn new(
        nystrom: Option<usize>,
        relevance: Vec<f64>,
        equal: f64,
        similarities: impl Fn(usize, Range<usize>) -> Result<Vec<f64>> + Sync,
    ) -> Result<Self> {
        let a = Redundancy::new(nystrom, &relevance, similarities)?;
        Ok(SimplexQuadraticProgram { similar: a.similar(equal), a, b: relevance })
    }

    /// α = q̄/(q̄ + f̄) of Q and F; 0 if nothing is relevant or redundant.
    pub fn balance(&self) -> f64 {
        let count = self.b.len() as f64;
        let redundancy = self.a.total() / (count * count);
        let relevance = self.b.iter().sum::<f64>() / count;
        let both = redundancy + relevance;
        if both > 0.0 { redundancy / both } else { 0.0 }
    }

    /// Columns of the program: one of each group of similar ones.
    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.similar.iter().enumerate().filter(|(i, lowest)| i == *lowest).map(|(i, _)| i)
    }

    /// Solution x, with Q and F weighted by α, and equal entries for similar columns. Cost O(n) per exchange, for an approximation O(nr).
    ///
    /// Starts at the best single column. Each exchange moves the optimal weight to the column of lowest slope, from the
    /// column whose exchange gains most. Ends when no column with weight has a slope above the lowest.
    ///
    /// # Errors
    /// [`Error::Numerical`] if slopes still differ after many exchanges.
    pub fn solve(mut self, alpha: f64) -> Result<Vec<f64>> {
        self.a.scale(1.0 - alpha);
        self.b.iter_mut().for_each(|f| *f *= alpha);
        let mut x = vec![0.0; self.b.len()];
        let alone = |i: &usize| self.a.entry(*i, *i) / 2.0 - self.b[*i];
        let Some(first) = self.members().min_by(|i, k| alone(i).total_cmp(&alone(k))) else { return Ok(x) };
        x[first] = 1.0;
        let most = 200_000 + 2_000 * x.len();
        let enough = OPTIMUM * self.size();
        let mut slopes = self.slopes(&x);
        for exchange in 1..=most {
            if exchange % FRESH == 0 {
                slopes = self.slopes(&x);
            }
            if self.slope_gap(&x, &slopes) <= enough {
                slopes = self.slopes(&x);
                if self.slope_gap(&x, &slopes) <= enough {
                    return Ok(gather(&x, &self.similar));
                }
            }
            self.exchange(&mut x, &mut slopes);
        }
        let slope_gap = self.slope_gap(&x, &self.slopes(&x));
        Err(Error::Numerical(format!("the quadratic program: slopes differ by {slope_gap:e} after {most} exchanges")))
    }

    /// Largest entry of A and b.
    fn size(&self) -> f64 {
        self.a.largest().max(max_abs(&self.b))
    }

    /// Ax − b. Cost O(n·support).
    fn slopes(&self, x: &[f64]) -> Vec<f64> {
        let mut slopes: Vec<f64> = self.b.iter().map(|b| -b).collect();
        for (i, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            self.a.add(x, i, None, &mut slopes);
        }
        slopes
    }

    /// Largest excess of a slope with weight over the lowest slope: 0 at an optimum.
    fn slope_gap(&self, x: &[f64], slopes: &[f64]) -> f64 {
        let lowest = self.members().map(|i| slopes[i]).fold(f64::INFINITY, f64::min);
        let highest = self.members().filter(|&i| x[i] > 0.0).map(|i| slopes[i]).fold(f64::NEG_INFINITY, f64::max);
        highest - lowest
    }

    /// Makes the best exchange with the column of lowest slope.
    fn exchange(&self, x: &mut [f64], slopes: &mut [f64]) {
        let Some(to) = self.members().min_by(|&i, &k| slopes[i].total_cmp(&slopes[k])) else { return };
        let curved = |from: usize| self.a.entry(to, to) + self.a.entry(from, from) - 2.0 * self.a.entry(to, from);
        let best = |from: usize| {
            let (fall, curved) = (slopes[from] - slopes[to], curved(from));
            if curved * x[from] > fall { fall / curved } else { x[from] }
        };
        let gain = |from: usize| {
            let step = best(from);
            step * (slopes[from] - slopes[to]) - step * step * curved(from) / 2.0
        };
        let sources = self.members().filter(|&from| x[from] > 0.0 && slopes[from] > slopes[to]);
        let Some((from, _)) = sources.map(|from| (from, gain(from))).reduce(|a, b| if b.1 > a.1 { b } else { a })
        else {
            return;
        };
        let step = best(from);
        x[to] += step;
        x[from] -= step;
        self.a.add(step, to, Some(from), slopes);
    }
}
