//! Least-squares regression on the chosen columns: R² of other columns, and variance inflation factors.

use rayon::prelude::*;
use vaglio_core::{Design, Feature, gather, standardize_column, sum_of_squares};
use vaglio_kernels::linalg::LowerFactor;
use vaglio_kernels::sums::dot;
use vaglio_kernels::tolerance::DEPENDENT_COLUMN;

/// Variance inflation above which a column counts as dependent on the others.
const DEPENDENT: f64 = 1e8;
/// Minimum gain in explained variance for a further column to be named.
const LEAST_GAIN: f64 = 0.01;
/// Memory limit of the chosen columns, in numbers.
const MOST_NUMBERS: f64 = 3e7;

/// Chosen columns over the training rows, standardized, with the Cholesky factor of their correlations R = LLᵀ.
pub struct ColumnSpan {
    columns: Vec<Vec<f64>>,
    factor: LowerFactor,
}

impl ColumnSpan {
    /// Flops for a span of `size` columns and the R² of `others`; infinite if the columns take too much memory.
    pub fn flops(design: &Design, size: usize, others: usize) -> f64 {
        let rows = design.rows() as f64;
        let size = size as f64;
        let others = others as f64;
        if rows * size > MOST_NUMBERS {
            return f64::INFINITY;
        }
        2.0 * rows * size * (0.5 * size + others) + size * size * (size + others)
    }

    /// Factors the correlations. Cost O(rows · columns² + columns³).
    pub fn new(design: &Design, chosen: &[Feature]) -> Self {
        let columns: Vec<Vec<f64>> = chosen.iter().map(|&feature| unit_column(design, feature)).collect();
        ColumnSpan { factor: cholesky(&columns), columns }
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
            let inverse = self.factor.forward(&unit);
            let square = dot(&inverse, &inverse);
            let varies = column.iter().any(|x| *x != 0.0);
            varies.then_some(if square > DEPENDENT { f64::INFINITY } else { square.max(1.0) })
        };
        self.columns.iter().enumerate().map(factor).collect()
    }

    /// Correlations of design columns with each chosen one. Cost O(rows · chosen columns) each.
    pub fn correlations(&self, design: &Design, others: &[Feature]) -> Vec<Vec<f64>> {
        let correlations_with = |&feature: &Feature| {
            let column = unit_column(design, feature);
            self.columns.iter().map(|x| dot(x, &column)).collect()
        };
        others.par_iter().map(correlations_with).collect()
    }

    /// R² of a column's regression on all chosen ones, from its correlations with them.
    pub fn r2(&self, correlations: &[f64]) -> f64 {
        let parts = self.factor.forward(correlations);
        dot(&parts, &parts).clamp(0.0, 1.0)
    }

    /// Up to `most` chosen columns that explain most of a column, in greedy order, each with the cumulative R². Stops
    /// when the gain falls below a hundredth.
    pub fn explaining(&self, correlations: &[f64], most: usize) -> Vec<(usize, f64)> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        while found.len() < most.min(self.columns.len()) {
            let before = found.last().map_or(0.0, |(_, share)| *share);
            let with = |k: usize| {
                let places: Vec<usize> = found.iter().map(|(place, _)| *place).chain([k]).collect();
                let columns: Vec<&Vec<f64>> = places.iter().map(|&place| &self.columns[place]).collect();
                (k, explained_variance(&columns, &gather(correlations, &places)))
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
}

/// R² of a standardized column's regression on others, from its correlations with them.
pub fn explained_variance(columns: &[impl AsRef<[f64]>], correlations: &[f64]) -> f64 {
    sum_of_squares(&cholesky(columns).forward(correlations)).min(1.0)
}

/// Standardized column of a design; zeros for a constant one, such as a bias.
pub fn unit_column(design: &Design, feature: Feature) -> Vec<f64> {
    let mut column = standardize_column(design, feature);
    column.resize(design.rows(), 0.0);
    column
}

/// Cholesky factor of the products of columns.
fn cholesky(columns: &[impl AsRef<[f64]>]) -> LowerFactor {
    let mut factor = LowerFactor::default();
    for (k, column) in columns.iter().enumerate() {
        let product = |other: &[f64]| dot(column.as_ref(), other);
        let before: Vec<f64> = columns[..k].iter().map(|other| product(other.as_ref())).collect();
        let (left, row) = factor.left_over(&before, product(column.as_ref()));
        factor.push(left.max(DEPENDENT_COLUMN), row);
    }
    factor
}
