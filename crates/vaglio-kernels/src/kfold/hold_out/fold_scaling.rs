//! Columns that each fold standardizes by its training rows.
//!
//! A column divided by s_k is the original column with the penalty λ·s_k². Since the penalty differs by fold, products
//! over training rows are not differences from a product over all rows. So an update stores its residual over each
//! fold's training rows, and columns are multiplied with that.

use super::HoldOutRows;
use crate::sweep;

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
