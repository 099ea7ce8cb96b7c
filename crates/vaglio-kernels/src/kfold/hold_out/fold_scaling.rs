//! Columns that each fold standardizes by its training rows.
//!
//! A column divided by s_k is the original column with the penalty λ·s_k². Since the penalty differs by fold, products
//! over training rows are not differences from a product over all rows. So an update stores its residual over each
//! fold's training rows, and columns are multiplied with that.

use super::HoldOutRows;
use crate::sums::center;
use crate::sweep;
use vaglio_columns::sum_of_squares;

/// Column over each fold's training rows, about its mean there, and 0 in the fold: folds × rows. Cost O(K·m).
pub(super) fn centered_by_fold(rows: &HoldOutRows<'_>, feature: usize, x: &[f64]) -> Vec<f64> {
    let means = rows.training_means(x);
    let mut out = Vec::with_capacity(x.len() * means.len());
    for (fold, mean) in means.iter().enumerate() {
        if rows.flat[feature].contains(&fold) {
            out.resize(out.len() + x.len(), 0.0);
            continue;
        }
        let start = out.len();
        out.extend(x.iter().zip(&rows.root).map(|(x, root)| x - mean * root));
        out[start + rows.starts[fold]..start + rows.starts[fold + 1]].fill(0.0);
    }
    out
}

/// Products of a column with an update's residual over each fold's training rows. Cost O(K·m).
pub(super) fn products(rows: &HoldOutRows<'_>, feature: usize, x: &[f64], residuals: &[f64]) -> Vec<f64> {
    let each: Vec<&[f64]> = residuals.chunks_exact(x.len().max(1)).collect();
    let mut h = sweep::products(&each, &[x]);
    rows.flat[feature].iter().for_each(|&fold| h[fold] = 0.0);
    h
}

/// A column for one fold, less its training mean, scaled by √r_j.
pub(super) struct ScaledFoldColumn {
    pub training: Vec<f64>,
    pub held_out: Vec<f64>,
    /// Variance over the training rows; 1 for a constant.
    pub variance: f64,
}

impl ScaledFoldColumn {
    /// Share of the column's squares, with its penalty, in the training rows. It is tiny if held-out rows deviate by
    /// many standard deviations; their residuals then cancel when the column is removed.
    pub fn part(&self, lambda: f64) -> f64 {
        let training = sum_of_squares(&self.training);
        if training == 0.0 {
            // A column constant in training has weight 0.
            return 1.0;
        }
        let sigma = lambda * self.variance + training;
        sigma / (sigma + sum_of_squares(&self.held_out))
    }
}

/// Computed from the entries, since a column may be much smaller in the training rows than in the fold. Cost O(m).
pub(super) fn alone(rows: &HoldOutRows<'_>, feature: usize, fold: usize) -> ScaledFoldColumn {
    let (column, shift) = rows.rows.data.column(feature);
    let (order, range) = (rows.rows.folds.order(), rows.starts[fold]..rows.starts[fold + 1]);
    let entries = |at: std::ops::Range<usize>| order[at].iter().map(|&row| column.get(row) - shift);
    let roots: Vec<f64> = rows.root[..range.start].iter().chain(&rows.root[range.end..]).copied().collect();
    let mut training: Vec<f64> = entries(0..range.start).chain(entries(range.end..order.len())).collect();
    let mut held_out: Vec<f64> = entries(range.clone()).collect();
    let total = sum_of_squares(&roots);
    let is_flat = rows.flat[feature].contains(&fold);
    let means = if is_flat {
        let first = training[0];
        training.fill(0.0);
        [first, 0.0]
    } else {
        center((&mut training[..]).into(), |j| roots[j] * roots[j], total)
    };
    for mean in means {
        held_out.iter_mut().for_each(|x| *x -= mean);
    }
    training.iter_mut().zip(&roots).for_each(|(x, v)| *x *= v);
    held_out.iter_mut().zip(&rows.root[range]).for_each(|(x, v)| *x *= v);
    let variance = if is_flat { 1.0 } else { sum_of_squares(&training) / total };
    ScaledFoldColumn { training, held_out, variance }
}
