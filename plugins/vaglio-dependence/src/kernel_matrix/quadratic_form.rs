//! Non-negative least squares from inner products.
//!
//! C. Lawson and R. Hanson, *Solving Least Squares Problems* (1974), chapter 23. The book, criteria/nhsic.md.

use vaglio_core::{sum_of_products, sum_of_squares};
use vaglio_kernels::sums::axpy;
use vaglio_kernels::tolerance::{FLAT_GRADIENT, QUADRATIC_RIDGE};

/// min over α ≥ 0 of total − 2cᵀα + αᵀQα, the squared distance of a target from non-negative combinations.
///
/// Q is a Gram matrix with entries ≥ 0, as of positive semidefinite matrices; a row with Q_kk = 0 is ignored.
#[derive(Clone, Default)]
pub struct Quadratic {
    total: f64,
    c: Vec<f64>,
    /// Row k holds Q_kl for l ≤ k.
    q: Vec<Vec<f64>>,
}

impl Quadratic {
    /// Creates a problem without coefficients; `total` is the squared norm of the target.
    pub fn new(total: f64) -> Self {
        Quadratic { total, ..Quadratic::default() }
    }

    /// Appends a coefficient with c_k and Q_kl for l ≤ k, its own Q_kk last.
    pub fn push(&mut self, c: f64, row: Vec<f64>) {
        self.c.push(c);
        self.q.push(row);
    }

    /// Removes the coefficient at `place`.
    pub fn remove(&mut self, place: usize) {
        self.c.remove(place);
        self.q.remove(place);
        for row in self.q.iter_mut().skip(place) {
            row.remove(place);
        }
    }

    /// Q_kl.
    fn at(&self, k: usize, l: usize) -> f64 {
        self.q[k.max(l)][k.min(l)]
    }

    /// c_k − Σ_l Q_kl α_l, half the rate at which the value falls as α_k grows. Cost O(s).
    pub fn slope(&self, alpha: &[f64], k: usize) -> f64 {
        let mut slope = self.c[k];
        for (l, a) in alpha.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            slope -= self.at(k, l) * a;
        }
        slope
    }

    /// Whether a coefficient at 0 with this slope and Q_kk would stay 0.
    pub fn is_flat(&self, slope: f64, own: f64) -> bool {
        // The negation makes NaN count as flat.
        !(own > 0.0 && slope > FLAT_GRADIENT * (self.total * own).sqrt())
    }

    /// total − 2cᵀα + αᵀQα. Cost O(s²).
    pub fn value(&self, alpha: &[f64]) -> f64 {
        let mut value = self.total;
        for (k, a) in alpha.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            value -= a * (self.c[k] + self.slope(alpha, k));
        }
        value.max(0.0)
    }

    /// The minimizer, by an active-set method that starts from the support of `start` (entries ≥ 0, one per
    /// coefficient).
    ///
    /// C. L. Lawson and R. J. Hanson, *Solving least squares problems*, 1974, chapter 23, on inner products. The bits
    /// of the result depend on its support alone. Cost O(s³) for each change of the support.
    pub fn minimizer(&self, start: &[f64]) -> Vec<f64> {
        let mut alpha = start.to_vec();
        let mut active: Vec<usize> = (0..alpha.len()).filter(|&k| alpha[k] > 0.0).collect();
        let mut left: Option<usize> = None;
        for _ in 0..=10 * self.c.len() {
            self.minimize_active(&mut alpha, &mut active);
            if left.is_some_and(|k| active.contains(&k)) {
                left = None;
            }
            let steepest = (0..alpha.len()).filter(|k| !active.contains(k) && left != Some(*k));
            let slopes = steepest.map(|k| (k, self.slope(&alpha, k)));
            let mut entering: Option<(usize, f64)> = None;
            for (k, slope) in slopes.filter(|(k, slope)| !self.is_flat(*slope, self.at(*k, *k))) {
                let steep = slope / self.at(k, k).sqrt();
                if entering.is_none_or(|(_, best)| steep > best) {
                    entering = Some((k, steep));
                }
            }
            let Some((k, _)) = entering else { break };
            active.push(k);
            active.sort_unstable();
            // A coefficient that leaves at once, by rounding, does not return before another has entered.
            left = Some(k);
        }
        alpha
    }

    /// Moves α to the minimum over the active coefficients; those that reach 0 on the way become inactive.
    fn minimize_active(&self, alpha: &mut [f64], active: &mut Vec<usize>) {
        while !active.is_empty() {
            let wanted = self.solve(active);
            if wanted.iter().all(|z| *z > 0.0) {
                active.iter().zip(&wanted).for_each(|(&k, z)| alpha[k] = *z);
                return;
            }
            let mut step = 1.0;
            let mut first = None;
            for (&k, &z) in active.iter().zip(&wanted).filter(|(_, z)| **z <= 0.0 || z.is_nan()) {
                let reach = if z < 0.0 { alpha[k] / (alpha[k] - z) } else { 0.0 };
                if first.is_none() || reach < step {
                    (step, first) = (reach, Some(k));
                }
            }
            for (&k, &z) in active.iter().zip(&wanted) {
                alpha[k] =
                    if Some(k) == first || !z.is_finite() { 0.0 } else { (alpha[k] + step * (z - alpha[k])).max(0.0) };
            }
            active.retain(|&k| Some(k) != first);
        }
    }

    /// Q⁻¹c on the active coefficients by Cholesky decomposition.
    fn solve(&self, active: &[usize]) -> Vec<f64> {
        let mut lower: Vec<Vec<f64>> = Vec::with_capacity(active.len());
        let mut z: Vec<f64> = Vec::with_capacity(active.len());
        for (i, &k) in active.iter().enumerate() {
            let mut row = Vec::with_capacity(i + 1);
            for (j, &l) in active[..i].iter().enumerate() {
                let known = sum_of_products(&row, &lower[j]);
                row.push((self.at(k, l) - known) / lower[j][j]);
            }
            let own = self.at(k, k);
            let known = sum_of_squares(&row);
            let pivot = ((1.0 + QUADRATIC_RIDGE) * own - known).max(0.25 * QUADRATIC_RIDGE * own).sqrt();
            let earlier = sum_of_products(&row, &z);
            z.push((self.c[k] - earlier) / pivot);
            row.push(pivot);
            lower.push(row);
        }
        for i in (0..z.len()).rev() {
            z[i] /= lower[i][i];
            let known = z[i];
            axpy(-known, &lower[i], &mut z[..i]);
        }
        z
    }
}
