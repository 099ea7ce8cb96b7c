//! Definition of the criterion by m × m kernel matrices.

use super::settings::Nhsic;
use crate::kernel_matrix::{shares, standardized};
use ndarray::{Array1, Array2};
use vaglio_core::{Design, Feature, Result, Score};

/// Maximum number of columns for trying every support; coordinate descent beyond.
const SUPPORTS: usize = 12;
/// Maximum sweeps of coordinate descent.
const SWEEPS: usize = 100_000;

/// min over α ≥ 0 of ‖L̃ − Σ α_k K̃_k‖²_F.
pub(super) fn evaluate(nhsic: &Nhsic, design: &Design, subset: &[Feature]) -> Result<Score> {
    let shares = shares(design.rows(), design.weights());
    let target = scaled(nhsic, centered(target(nhsic, design, &shares)?, &shares));
    let mut matrices = Vec::with_capacity(subset.len());
    for &feature in subset {
        let matrix = match standardized(&design.column(feature).values(), &shares) {
            Some(values) => column(nhsic, &values, &shares)?,
            None => Array2::zeros(target.dim()),
        };
        matrices.push(scaled(nhsic, centered(matrix, &shares)));
    }
    let inner = |a: &Array2<f64>, b: &Array2<f64>| (a * b).sum();
    let c: Vec<f64> = matrices.iter().map(|k| inner(k, &target)).collect();
    let q: Vec<Vec<f64>> = matrices.iter().map(|k| matrices.iter().map(|l| inner(k, l)).collect()).collect();
    let total = inner(&target, &target);
    let program = NonNegativeQuadraticProgram { q, c, total };
    let value = if subset.len() <= SUPPORTS { program.over_supports() } else { program.by_descent() };
    Score::new(value.max(0.0)).checked()
}

/// The kernel matrix of a standardized column.
fn column(nhsic: &Nhsic, u: &[f64], shares: &[f64]) -> Result<Array2<f64>> {
    let (rows, bandwidth) = (u.len(), nhsic.kernel.bandwidth);
    let kernel = |(j, k): (usize, usize)| (-(u[j] - u[k]).powi(2) / (2.0 * bandwidth * bandwidth)).exp();
    Ok(match (nhsic.levels(rows), nhsic.columns_landmarks(rows)?) {
        (Some(levels), _) => product(&levels.column(shares, u).features(), rows),
        (None, Some(landmarks)) => product(&landmarks.features(u), rows),
        (None, None) => Array2::from_shape_fn((rows, rows), kernel),
    })
}

/// FFᵀ of the columns of F.
fn product(features: &[Vec<f64>], rows: usize) -> Array2<f64> {
    let f = Array2::from_shape_fn((rows, features.len()), |(j, k)| features[k][j]);
    f.dot(&f.t())
}

/// The kernel matrix of the target.
fn target(nhsic: &Nhsic, design: &Design, shares: &[f64]) -> Result<Array2<f64>> {
    let (rows, target) = (design.rows(), nhsic.target(design, shares));
    Ok(match nhsic.target_features(&target)? {
        Some(features) => product(&features, rows),
        None => Array2::from_shape_fn((rows, rows), |(j, k)| target.kernel(j, k)),
    })
}

/// P^{½}HKHᵀP^{½} with H = I − 1pᵀ.
fn centered(kernel: Array2<f64>, shares: &[f64]) -> Array2<f64> {
    let p = Array1::from_iter(shares.iter().copied());
    let means = kernel.dot(&p);
    let mean = means.dot(&p);
    Array2::from_shape_fn(kernel.dim(), |(j, k)| {
        (shares[j] * shares[k]).sqrt() * (kernel[[j, k]] - means[j] - means[k] + mean)
    })
}

/// Divides a matrix by its norm if `normalize` is set.
fn scaled(nhsic: &Nhsic, kernel: Array2<f64>) -> Array2<f64> {
    let norm = (&kernel * &kernel).sum().sqrt();
    if nhsic.normalize && norm > 0.0 { kernel / norm } else { kernel }
}

/// min over α ≥ 0 of total − 2cᵀα + αᵀQα, solved by slow and plain methods.
struct NonNegativeQuadraticProgram {
    q: Vec<Vec<f64>>,
    c: Vec<f64>,
    total: f64,
}

/// A support with the rows of its Cholesky factor and L⁻¹c.
#[derive(Clone, Default)]
struct Support {
    members: Vec<usize>,
    lower: Vec<Vec<f64>>,
    half: Vec<f64>,
}

impl NonNegativeQuadraticProgram {
    fn value(&self, alpha: &[f64]) -> f64 {
        let mut value = self.total;
        for (k, a) in alpha.iter().enumerate() {
            let fitted: f64 = self.q[k].iter().zip(alpha).map(|(q, b)| q * b).sum();
            value += a * (fitted - 2.0 * self.c[k]);
        }
        value
    }

    /// The lowest value of a solution of Q_PP α = c_P with α ≥ 0 over all supports P; one of them is the minimizer.
    fn over_supports(&self) -> f64 {
        let mut best = self.total;
        self.extend(&Support::default(), 0, &mut best);
        best
    }

    fn extend(&self, support: &Support, from: usize, best: &mut f64) {
        for k in from..self.c.len() {
            let Some(larger) = self.with(support, k) else { continue };
            let mut alpha = vec![0.0; self.c.len()];
            let mut left = larger.half.clone();
            for i in (0..left.len()).rev() {
                let solved = left[i] / larger.lower[i][i];
                alpha[larger.members[i]] = solved;
                (0..i).for_each(|j| left[j] -= larger.lower[i][j] * solved);
            }
            if alpha.iter().all(|a| *a >= 0.0) {
                *best = best.min(self.value(&alpha));
            }
            self.extend(&larger, k + 1, best);
        }
    }

    /// Extends the support by one column, unless it depends on the others.
    fn with(&self, support: &Support, k: usize) -> Option<Support> {
        let mut larger = support.clone();
        let mut row: Vec<f64> = Vec::new();
        for (i, &l) in support.members.iter().enumerate() {
            let known: f64 = row.iter().zip(&support.lower[i]).map(|(a, b)| a * b).sum();
            row.push((self.q[k][l] - known) / support.lower[i][i]);
        }
        let rest = self.q[k][k] - row.iter().map(|a| a * a).sum::<f64>();
        if rest <= 1e-15 * self.q[k][k] {
            return None;
        }
        let earlier: f64 = row.iter().zip(&support.half).map(|(a, b)| a * b).sum();
        larger.half.push((self.c[k] - earlier) / rest.sqrt());
        row.push(rest.sqrt());
        larger.lower.push(row);
        larger.members.push(k);
        Some(larger)
    }

    /// Coordinate descent until the value is within 1e-14 of a lower bound.
    ///
    /// By convexity f(α) − min f ≤ 2(max g⁺·‖α*‖₁ − gᵀα) with g = c − Qα, and α*_k ≤ ‖L̃‖/√Q_kk since all Q_kl are
    /// non-negative.
    fn by_descent(&self) -> f64 {
        let s = self.c.len();
        let mut alpha = vec![0.0; s];
        let reach: f64 = (0..s).filter(|&k| self.q[k][k] > 0.0).map(|k| (self.total / self.q[k][k]).sqrt()).sum();
        let slope = |alpha: &[f64], k: usize| self.c[k] - self.q[k].iter().zip(alpha).map(|(q, a)| q * a).sum::<f64>();
        for _ in 0..SWEEPS {
            for k in (0..s).filter(|&k| self.q[k][k] > 0.0) {
                alpha[k] = (alpha[k] + slope(&alpha, k) / self.q[k][k]).max(0.0);
            }
            let slopes: Vec<f64> = (0..s).map(|k| slope(&alpha, k)).collect();
            let steepest = slopes.iter().copied().fold(0.0, f64::max);
            let along: f64 = slopes.iter().zip(&alpha).map(|(g, a)| g * a).sum();
            if 2.0 * (steepest * reach - along) <= 1e-14 * self.total {
                break;
            }
        }
        self.value(&alpha)
    }
}
