//! Which columns outside of a subset may serve best in the place of each of its own, by least squares.

use std::ops::Range;
use vaglio_core::{Design, Feature};
use vaglio_kernels::{Level, sums};

/// Flops beyond which some of the rows tell the ranking.
const MOST_WORK: f64 = 2e7;
/// Pieces of the rows, at even distances, that are taken then.
const PIECES: usize = 32;
/// Rows that a subset needs beside a multiple of its size.
const LEAST_ROWS: usize = 128;
/// Columns whose gain is known beside the best, of which there may be many thousand.
const HELD: usize = 256;
/// What is added to the squared length 1 of each column, so that duplicates divide by no zero.
const RIDGE: f64 = 1e-3;

/// The rows that a ranking looks at.
fn rows_of(rows: usize, size: usize, outside: usize, outputs: usize) -> usize {
    let affordable = MOST_WORK / (2.0 * outside.max(1) as f64 * (size + outputs) as f64);
    (affordable as usize).max(2 * size + LEAST_ROWS).min(rows)
}

/// Flops of [`ranked`].
pub(super) fn flops(design: &Design, size: usize, outside: usize) -> f64 {
    let outputs = design.targets().nrows();
    let rows = rows_of(design.planned_rows(), size, outside, outputs) as f64;
    let (size, outside) = (size as f64, outside as f64);
    2.0 * rows * (size + outputs as f64) * (outside + size) + 4.0 * size * size * (outside + size)
}

/// For each selected column the `most` columns outside that lower the squared error most in its place, in increasing order.
///
/// With A = (XᵀX + εI)⁻¹ of the selected columns, standardized, weights W = A·XᵀY, and for a column c outside P = Xᵀc and
/// B = A·P: without column k, ‖c‖² that the others leave is s = 1 + ε − PᵀB + B_k²/A_kk, and cᵀ times the residuals of output o
/// is q_o = cᵀy_o − PᵀW_o + B_k·W_ko/A_kk. What c takes off the squared error is Σ q_o²/s. Cost O(rows · |S| · outside), on at
/// most as many rows as take [`MOST_WORK`], O(|S|² · outside) beside; sums have a fixed order.
pub(super) fn ranked(design: &Design, selected: &[Feature], outside: &[Feature], most: usize) -> Vec<Vec<Feature>> {
    let sample = RankedRows::new(design, selected.len(), outside.len());
    let columns: Vec<Vec<f64>> = selected.iter().map(|&feature| sample.column(design, feature)).collect();
    let targets: Vec<Vec<f64>> = design
        .targets()
        .rows()
        .into_iter()
        .map(|y| sample.centered(sample.rows().map(|row| y[row]).collect()))
        .collect();
    let inverse = inverse(&columns, sample.level);
    let products = |with: &[f64]| -> Vec<f64> { columns.iter().map(|x| sums::dot(sample.level, x, with)).collect() };
    let times_inverse = |p: &[f64]| -> Vec<f64> { inverse.iter().map(|row| sums::dot(sample.level, row, p)).collect() };
    let weights: Vec<Vec<f64>> = targets.iter().map(|y| times_inverse(&products(y))).collect();
    let mut gains: Vec<Vec<(f64, Feature)>> = vec![Vec::new(); selected.len()];
    for &feature in outside {
        let c = sample.column(design, feature);
        let p = products(&c);
        let b = times_inverse(&p);
        let left = 1.0 + RIDGE - sums::dot(sample.level, &p, &b);
        let of_output =
            |(y, w): (&Vec<f64>, &Vec<f64>)| sums::dot(sample.level, &c, y) - sums::dot(sample.level, &p, w);
        let residual: Vec<f64> = targets.iter().zip(&weights).map(of_output).collect();
        for (k, gains) in gains.iter_mut().enumerate() {
            let share = b[k] / inverse[k][k];
            let squares: f64 = residual.iter().zip(&weights).map(|(q, w)| (q + share * w[k]).powi(2)).sum();
            gains.push((squares / (left + share * b[k]).max(RIDGE), feature));
            if gains.len() >= 2 * most + HELD {
                keep_best(gains, most);
            }
        }
    }
    let best = |mut gains: Vec<(f64, Feature)>| {
        keep_best(&mut gains, most);
        let mut best: Vec<Feature> = gains.into_iter().map(|(_, feature)| feature).collect();
        best.sort_unstable();
        best
    };
    gains.into_iter().map(best).collect()
}

/// The most of what columns gain, the first of equal ones.
fn keep_best(gains: &mut Vec<(f64, Feature)>, most: usize) {
    gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    gains.truncate(most);
}

/// Some of the rows, with the roots of their weights.
pub(super) struct RankedRows {
    pieces: Vec<Range<usize>>,
    roots: Option<Vec<f64>>,
    level: Level,
}

impl RankedRows {
    fn new(design: &Design, size: usize, outside: usize) -> Self {
        let rows = design.rows();
        let taken = rows_of(rows, size, outside, design.targets().nrows());
        if taken == rows {
            return RankedRows::whole(design);
        }
        let length = taken.div_ceil(PIECES);
        let piece = |number: usize| {
            let start = number * rows / PIECES;
            start..(start + length).min((number + 1) * rows / PIECES)
        };
        RankedRows::of(design, (0..PIECES).map(piece).collect())
    }

    /// All rows.
    pub fn whole(design: &Design) -> Self {
        RankedRows::of(design, std::iter::once(0..design.rows()).collect())
    }

    fn of(design: &Design, pieces: Vec<Range<usize>>) -> Self {
        let mut sample = RankedRows { pieces, roots: None, level: Level::best() };
        sample.roots = design.weights().map(|weights| sample.rows().map(|row| weights[row].sqrt()).collect());
        sample
    }

    fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.pieces.iter().flat_map(Range::clone)
    }

    /// Values at these rows without their mean, times the roots of weights.
    fn centered(&self, mut out: Vec<f64>) -> Vec<f64> {
        let weight = |j: usize| self.roots.as_ref().map_or(1.0, |roots| roots[j] * roots[j]);
        let total: f64 = (0..out.len()).map(weight).sum();
        let mean = out.iter().enumerate().map(|(j, x)| weight(j) * x).sum::<f64>() / total;
        out.iter_mut().for_each(|x| *x -= mean);
        if let Some(roots) = &self.roots {
            out.iter_mut().zip(roots).for_each(|(x, root)| *x *= root);
        }
        out
    }

    /// The same of a column, of length 1.
    pub fn column(&self, design: &Design, feature: Feature) -> Vec<f64> {
        let column = design.column(feature);
        let values = self.pieces.iter().flat_map(|piece| column.rows(piece.start, piece.end).values().into_owned());
        let mut out = self.centered(values.collect());
        let norm = sums::dot(self.level, &out, &out).sqrt();
        if norm > 0.0 {
            out.iter_mut().for_each(|x| *x /= norm);
        }
        out
    }
}

/// (XᵀX + εI)⁻¹ of columns, by sweeps.
///
/// # Reference
/// J. H. Goodnight, *A tutorial on the SWEEP operator*, The American Statistician 33, 1979.
fn inverse(columns: &[Vec<f64>], level: Level) -> Vec<Vec<f64>> {
    let size = columns.len();
    let row = |x: &Vec<f64>| -> Vec<f64> { columns.iter().map(|z| sums::dot(level, x, z)).collect() };
    let mut a: Vec<Vec<f64>> = columns.iter().map(row).collect();
    (0..size).for_each(|k| a[k][k] += RIDGE);
    for k in 0..size {
        let pivot = a[k][k];
        a[k][k] = 1.0;
        a[k].iter_mut().for_each(|x| *x /= pivot);
        let of_pivot = a[k].clone();
        for (_, row) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = std::mem::take(&mut row[k]);
            sums::axpy(level, -factor, &of_pivot, row);
        }
    }
    a
}
