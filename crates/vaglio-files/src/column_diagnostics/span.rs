//! Least-squares regression on the chosen columns: R² of other columns, and variance inflation factors.

use rayon::prelude::*;
use vaglio_core::{Design, Feature};
use vaglio_kernels::sums;
use vaglio_kernels::tolerance::DEPENDENT_COLUMN;

/// Variance inflation above which a column counts as dependent on the others.
const DEPENDENT: f64 = 1e8;
/// Minimum gain in explained variance for a further column to be named.
const LEAST_GAIN: f64 = 0.01;
/// Memory limit of the chosen columns, in numbers.
const MOST_NUMBERS: f64 = 3e7;

/// Chosen columns over the training rows, centered and of length 1, with the Cholesky factor of their correlations R =
/// LLᵀ.
pub(crate) struct ColumnSpan {
    columns: Vec<Vec<f64>>,
    lower: Vec<Vec<f64>>,
}

impl ColumnSpan {
    /// Flops for a span of `size` columns and the R² of `others`; infinite if the columns take too much memory.
    pub fn flops(design: &Design, size: usize, others: usize) -> f64 {
        let (rows, size, others) = (design.rows() as f64, size as f64, others as f64);
        if rows * size > MOST_NUMBERS {
            return f64::INFINITY;
        }
        2.0 * rows * size * (0.5 * size + others) + size * size * (size + others)
    }

    /// Factors the correlations. Cost O(rows · columns² + columns³).
    pub fn new(design: &Design, chosen: &[Feature]) -> Self {
        let columns: Vec<Vec<f64>> = chosen.iter().map(|&feature| unit_column(design, feature)).collect();
        ColumnSpan { lower: cholesky(&columns), columns }
    }

    /// Variance inflation factor of each column, (R⁻¹)_kk = 1/(1 − R²) of its regression on the others with an
    /// intercept. `None` for a column without variance, +∞ for a dependent one.
    ///
    /// # Reference
    /// D. W. Marquardt, *Generalized inverses, ridge regression, biased linear estimation*, Technometrics 12(3), 1970.
    pub fn inflation(&self) -> Vec<Option<f64>> {
        let factor = |(k, column): (usize, &Vec<f64>)| {
            let mut unit = vec![0.0; self.columns.len()];
            unit[k] = 1.0;
            // Column k of L⁻¹ is 0 above row k; (L⁻ᵀL⁻¹)_kk is its squared length.
            let inverse = solved(&self.lower, &unit);
            let square = sums::dot(&inverse, &inverse);
            let varies = column.iter().any(|x| *x != 0.0);
            varies.then_some(if square > DEPENDENT { f64::INFINITY } else { square.max(1.0) })
        };
        self.columns.iter().enumerate().map(factor).collect()
    }

    /// Correlations of design columns with each chosen one. Cost O(rows · chosen columns) each.
    pub fn correlations(&self, design: &Design, others: &[Feature]) -> Vec<Vec<f64>> {
        let of_one = |&feature: &Feature| {
            let column = unit_column(design, feature);
            self.columns.iter().map(|x| sums::dot(x, &column)).collect()
        };
        others.par_iter().map(of_one).collect()
    }

    /// R² of a column's regression on all chosen ones, from its correlations with them.
    pub fn explained(&self, correlations: &[f64]) -> f64 {
        let parts = solved(&self.lower, correlations);
        sums::dot(&parts, &parts).clamp(0.0, 1.0)
    }

    /// Up to `most` chosen columns that explain most of a column, in greedy order, each with the cumulative R². Stops
    /// when the gain falls below a hundredth.
    pub fn explaining(&self, correlations: &[f64], most: usize) -> Vec<(usize, f64)> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        while found.len() < most.min(self.columns.len()) {
            let before = found.last().map_or(0.0, |(_, share)| *share);
            let with = |k: usize| {
                let places: Vec<usize> = found.iter().map(|(place, _)| *place).chain([k]).collect();
                (k, self.share(&places, correlations))
            };
            let open = (0..self.columns.len()).filter(|k| found.iter().all(|(place, _)| place != k));
            let best = open.map(with).reduce(|best, other| if other.1 > best.1 { other } else { best });
            match best {
                Some(best) if best.1 >= before + LEAST_GAIN => found.push(best),
                _ => break,
            }
        }
        found
    }

    /// R² of a column's regression on some of the chosen columns.
    fn share(&self, places: &[usize], correlations: &[f64]) -> f64 {
        let columns: Vec<&Vec<f64>> = places.iter().map(|&place| &self.columns[place]).collect();
        let own: Vec<f64> = places.iter().map(|&place| correlations[place]).collect();
        let parts = solved(&cholesky(&columns), &own);
        parts.iter().map(|part| part * part).sum::<f64>().min(1.0)
    }
}

/// Centers a column, multiplies it by the roots of the weights and scales it to length 1 if it varies.
fn unit_column(design: &Design, feature: Feature) -> Vec<f64> {
    let mut out = design.column(feature).values().into_owned();
    let roots: Option<Vec<f64>> = design.weights().map(|weights| weights.iter().map(|weight| weight.sqrt()).collect());
    let weight = |j: usize| roots.as_ref().map_or(1.0, |roots| roots[j] * roots[j]);
    let total: f64 = (0..out.len()).map(weight).sum();
    let mean = out.iter().enumerate().map(|(j, x)| weight(j) * x).sum::<f64>() / total;
    out.iter_mut().for_each(|x| *x -= mean);
    if let Some(roots) = &roots {
        out.iter_mut().zip(roots).for_each(|(x, root)| *x *= root);
    }
    let norm = sums::dot(&out, &out).sqrt();
    if norm > 0.0 {
        out.iter_mut().for_each(|x| *x /= norm);
    }
    out
}

/// Cholesky factor of the products of columns.
fn cholesky(columns: &[impl AsRef<[f64]>]) -> Vec<Vec<f64>> {
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    for (k, column) in columns.iter().enumerate() {
        let products: Vec<f64> = columns[..=k].iter().map(|other| sums::dot(column.as_ref(), other.as_ref())).collect();
        let mut row = solved(&lower, &products[..k]);
        let left = products[k] - row.iter().map(|l| l * l).sum::<f64>();
        row.push(left.max(DEPENDENT_COLUMN).sqrt());
        lower.push(row);
    }
    lower
}

/// Solves Lz = p with the first rows of L.
fn solved(lower: &[Vec<f64>], p: &[f64]) -> Vec<f64> {
    let mut z: Vec<f64> = Vec::with_capacity(p.len() + 1);
    for (row, p) in lower.iter().zip(p) {
        let known: f64 = row.iter().zip(&z).map(|(l, z)| l * z).sum();
        z.push((p - known) / row[z.len()]);
    }
    z
}
