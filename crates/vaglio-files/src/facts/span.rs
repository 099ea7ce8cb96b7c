//! What the chosen columns explain of others, and of each other, by least squares.

use rayon::prelude::*;
use vaglio_core::{Design, Feature};
use vaglio_kernels::tolerance::DEPENDENT_COLUMN;
use vaglio_kernels::{Level, sums};

/// Variance inflation beyond which a column depends on the others to rounding.
const DEPENDENT: f64 = 1e8;
/// What a further column adds to the variance that is explained, at least, to be named.
const LEAST_GAIN: f64 = 0.01;
/// Numbers of the chosen columns that may be in memory.
const MOST_NUMBERS: f64 = 3e7;

/// Chosen columns over the training rows, centered and of length 1, with the factor of their correlations R = LLᵀ.
pub(crate) struct Span {
    /// Roots of the rows' weights.
    roots: Option<Vec<f64>>,
    columns: Vec<Vec<f64>>,
    lower: Vec<Vec<f64>>,
}

/// How a column stands to the chosen ones.
pub(crate) struct Spanned {
    /// The share of its variance that all of them explain.
    pub explained: f64,
    /// Its correlation with each.
    pub correlations: Vec<f64>,
}

impl Span {
    /// Flops of a span of `size` columns, and of so many others beside it; infinite where they would take much memory.
    pub fn flops(design: &Design, size: usize, others: usize) -> f64 {
        let (rows, size, others) = (design.rows() as f64, size as f64, others as f64);
        if rows * size > MOST_NUMBERS {
            return f64::INFINITY;
        }
        2.0 * rows * size * (0.5 * size + others) + size * size * (size + others)
    }

    /// Cost O(rows · columns² + columns³).
    pub fn new(design: &Design, chosen: &[Feature]) -> Self {
        let roots = design.weights().map(|weights| weights.iter().map(|weight| weight.sqrt()).collect::<Vec<f64>>());
        let unit = |&feature: &Feature| unit_column(design, roots.as_deref(), feature);
        let columns: Vec<Vec<f64>> = chosen.iter().map(unit).collect();
        let level = Level::best();
        let mut lower: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
        for (k, column) in columns.iter().enumerate() {
            let products: Vec<f64> = columns[..=k].iter().map(|other| sums::dot(level, column, other)).collect();
            lower.push(factored(&lower, &products));
        }
        Span { roots, columns, lower }
    }

    /// The variance inflation factor of each column, (R⁻¹)_kk = 1/(1 − R²) of its regression on the others with an intercept;
    /// none for a column without variance, +∞ for one that depends on the others.
    ///
    /// # Reference
    /// D. W. Marquardt, *Generalized inverses, ridge regression, biased linear estimation*, Technometrics 12(3), 1970.
    pub fn inflation(&self) -> Vec<Option<f64>> {
        let size = self.columns.len();
        let level = Level::best();
        let mut squares = vec![0.0; size];
        // Column k of L⁻¹ is 0 above its place; (L⁻ᵀL⁻¹)_kk is its squared length.
        for (k, square) in squares.iter_mut().enumerate() {
            let mut unit = vec![0.0; size];
            unit[k] = 1.0;
            let column = solved(&self.lower, &unit);
            *square = sums::dot(level, &column, &column);
        }
        let told = |(column, square): (&Vec<f64>, f64)| {
            let varies = column.iter().any(|x| *x != 0.0);
            varies.then_some(if square > DEPENDENT { f64::INFINITY } else { square.max(1.0) })
        };
        self.columns.iter().zip(squares).map(told).collect()
    }

    /// How columns of the design stand to the chosen ones. Cost O(rows · chosen columns) each.
    pub fn of(&self, design: &Design, others: &[Feature]) -> Vec<Spanned> {
        let level = Level::best();
        let of_one = |&feature: &Feature| {
            let column = unit_column(design, self.roots.as_deref(), feature);
            let correlations: Vec<f64> = self.columns.iter().map(|x| sums::dot(level, x, &column)).collect();
            let parts = solved(&self.lower, &correlations);
            Spanned { explained: sums::dot(level, &parts, &parts).clamp(0.0, 1.0), correlations }
        };
        others.par_iter().map(of_one).collect()
    }
}

impl Span {
    /// The chosen columns that explain most of a column, taken one after another, by their places, each with the share of its
    /// variance that it and those before it explain; `most` at most, and none that adds less than a hundredth.
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

    /// The share of a column's variance that some of the chosen columns explain.
    fn share(&self, places: &[usize], correlations: &[f64]) -> f64 {
        let level = Level::best();
        let mut lower: Vec<Vec<f64>> = Vec::new();
        for (k, &place) in places.iter().enumerate() {
            let products: Vec<f64> = places[..=k]
                .iter()
                .map(|&other| sums::dot(level, &self.columns[place], &self.columns[other]))
                .collect();
            lower.push(factored(&lower, &products));
        }
        let own: Vec<f64> = places.iter().map(|&place| correlations[place]).collect();
        let parts = solved(&lower, &own);
        parts.iter().map(|part| part * part).sum::<f64>().min(1.0)
    }
}

/// A column without its mean, times the roots of weights, of length 1 where it varies.
fn unit_column(design: &Design, roots: Option<&[f64]>, feature: Feature) -> Vec<f64> {
    let mut out = design.column(feature).values().into_owned();
    let weight = |j: usize| roots.map_or(1.0, |roots| roots[j] * roots[j]);
    let total: f64 = (0..out.len()).map(weight).sum();
    let mean = out.iter().enumerate().map(|(j, x)| weight(j) * x).sum::<f64>() / total;
    out.iter_mut().for_each(|x| *x -= mean);
    if let Some(roots) = roots {
        out.iter_mut().zip(roots).for_each(|(x, root)| *x *= root);
    }
    let norm = sums::dot(Level::best(), &out, &out).sqrt();
    if norm > 0.0 {
        out.iter_mut().for_each(|x| *x /= norm);
    }
    out
}

/// The next row of a factor, from the products of its column with those before it and with itself.
fn factored(lower: &[Vec<f64>], products: &[f64]) -> Vec<f64> {
    let mut row = solved(lower, &products[..lower.len()]);
    let left = products[lower.len()] - row.iter().map(|l| l * l).sum::<f64>();
    row.push(left.max(DEPENDENT_COLUMN).sqrt());
    row
}

/// z of Lz = p, for the rows of L that p has.
fn solved(lower: &[Vec<f64>], p: &[f64]) -> Vec<f64> {
    let mut z: Vec<f64> = Vec::with_capacity(p.len() + 1);
    for (row, p) in lower.iter().zip(p) {
        let known: f64 = row.iter().zip(&z).map(|(l, z)| l * z).sum();
        z.push((p - known) / row[z.len()]);
    }
    z
}
