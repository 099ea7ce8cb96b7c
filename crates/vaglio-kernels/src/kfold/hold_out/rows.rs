//! Columns in fold order, and their moments over each fold's training rows.
//!
//! Moments of a union from those of its parts: T. Chan, G. Golub and R. LeVeque, *Algorithms for computing the sample
//! variance*, The American Statistician 37 (1983).

use super::chain::HeldOutColumn;
use super::fold_products::{products, subtract};
use crate::folds::combine_others;
use crate::kfold::FoldedRows;
use crate::parallel;
use crate::sums::{axpy, dot};
use std::borrow::Cow;
use std::sync::Arc;
use vaglio_columns::gather;

/// Copies of the scaled columns and targets with rows in fold order, shared by the states of all λ.
///
/// Columns are centered if there is an intercept or folds standardize. Memory 8·m·n bytes; very sparse columns are
/// copied only on demand.
#[derive(Debug)]
pub(super) struct HoldOutRows<'d> {
    /// The rows behind the copies.
    pub folded: Arc<FoldedRows<'d>>,
    /// Start of each fold, followed by the end.
    pub(super) starts: Vec<usize>,
    /// √r_j.
    pub(super) root: Vec<f64>,
    /// Σ r_j of each fold.
    weights: Vec<f64>,
    /// Copied columns; `None` if they are copied on demand.
    columns: Option<Vec<Vec<f64>>>,
    /// For each column the folds in whose training rows it is constant, if folds standardize.
    pub(super) flat: Vec<Vec<usize>>,
    /// Scaled targets, centered if there is an intercept.
    pub(super) targets: Vec<Vec<f64>>,
    /// Mean of each target in each fold; 0 if columns are not centered.
    target_means: Vec<Vec<f64>>,
    /// Residuals of the empty subset: targets, with an intercept less the mean of their fold's training rows.
    pub(super) residuals: Vec<Vec<f64>>,
}

impl<'d> HoldOutRows<'d> {
    /// Copies the active columns. Cost O(m·n).
    pub fn new(rows: Arc<FoldedRows<'d>>) -> Self {
        let (data, folds) = (&rows.data, &rows.folds);
        let permuted = |values: &[f64]| gather(values, folds.order());
        let starts = folds.starts.clone();
        let root = data.root().map_or_else(|| vec![1.0; folds.rows()], permuted);
        let row_blocks = rows.blocks().fold_of_rows();
        let flat = |i: usize| {
            if !rows.standardize || !data.is_active(i) {
                return Vec::new();
            }
            let (ranges, rounding) = (rows.training_ranges(i, &row_blocks), data.column(i).0.rounding());
            let is_flat = |fold: &usize| ranges[*fold].1 - ranges[*fold].0 <= rounding;
            (0..ranges.len()).filter(is_flat).collect()
        };
        let flat = parallel::map(data.columns(), flat);
        let weights = products(&starts, &root, &root);
        let targets = data.centered.iter().map(|y| permuted(y)).collect();
        let (target_means, residuals) = (Vec::new(), Vec::new());
        let columns = None;
        let mut out =
            HoldOutRows { folded: rows, starts, root, weights, columns, flat, targets, target_means, residuals };
        out.target_means = out.targets.iter().map(|y| out.means(y)).collect();
        out.residuals = match out.folded.data.has_intercept() {
            true => out.targets.iter().map(|y| out.subtract_by_fold(y, &out.training_means(y))).collect(),
            false => out.targets.clone(),
        };
        if out.folded.data.caches_columns() {
            out.columns = Some(parallel::map(out.folded.data.columns(), |i| out.copy_column(i)));
        }
        out
    }

    fn copy_column(&self, column: usize) -> Vec<f64> {
        if !self.folded.data.is_active(column) {
            return Vec::new();
        }
        let scaled = self.folded.data.scaled_column(column);
        let mut x = gather(&scaled, self.folded.folds.order());
        if self.folded.standardize && !self.folded.data.has_intercept() {
            let mean = dot(&self.root, &x) / dot(&self.root, &self.root);
            axpy(-mean, &self.root, &mut x);
        }
        x
    }

    /// Whether columns and their candidates are cached.
    pub(super) fn caches_columns(&self) -> bool {
        self.columns.is_some()
    }

    pub(super) fn folds(&self) -> usize {
        self.weights.len()
    }

    /// Whether columns are centered on the means of each fold's training rows.
    pub(super) fn is_centered(&self) -> bool {
        self.folded.data.has_intercept() || self.folded.standardize
    }

    pub(super) fn outputs(&self) -> usize {
        self.targets.len()
    }

    /// A scaled column in fold order; empty if inactive. Cost O(m) if it is not cached.
    pub(super) fn column(&self, feature: usize) -> Cow<'_, [f64]> {
        match &self.columns {
            Some(columns) => Cow::Borrowed(&columns[feature]),
            None => Cow::Owned(self.copy_column(feature)),
        }
    }

    /// A column x as a candidate for the empty subset. Sums over training rows add up those of the other folds, never
    /// a total less a part. Cost O(m · outputs).
    pub(super) fn candidate(&self, lambda: f64, feature: usize, x: &[f64]) -> HeldOutColumn {
        let means = self.means(x);
        let centered = self.subtract_by_fold(x, &means);
        let squares = products(&self.starts, &centered, &centered);
        let others = self.other_parts(&means, &means, &squares);
        let e = self.subtract_by_fold(x, &others.iter().map(|[_, mean, ..]| *mean).collect::<Vec<f64>>());
        let own = products(&self.starts, &e, &e);
        let mut squares: Vec<f64> = others.iter().map(|[.., product]| *product).collect();
        // Factor of λ in each fold.
        let mut variances = vec![1.0; self.folds()];
        if self.folded.standardize {
            let with_moments = variances.iter_mut().zip(&others);
            with_moments.for_each(|(variance, [weight, .., product])| *variance = product / weight);
        }
        let mut q = vec![0.0; self.folds() * self.outputs()];
        for (o, (y, y_means)) in self.targets.iter().zip(&self.target_means).enumerate() {
            let with_target = self.other_parts(&means, y_means, &products(&self.starts, &centered, y));
            with_target.iter().enumerate().for_each(|(k, [.., product])| q[k * self.outputs() + o] = *product);
        }
        for &fold in &self.flat[feature] {
            (squares[fold], variances[fold]) = (0.0, 1.0);
            q[fold * self.outputs()..(fold + 1) * self.outputs()].fill(0.0);
        }
        let sigma: Vec<f64> = squares.iter().zip(&variances).map(|(s, variance)| lambda * variance + s).collect();
        let base = sigma.iter().zip(own).map(|(s, own)| s + own).collect();
        HeldOutColumn { feature, e, sigma, q, base, applied: 0 }
    }

    /// Mean of each fold; 0 if columns are not centered.
    fn means(&self, x: &[f64]) -> Vec<f64> {
        if !self.is_centered() {
            return vec![0.0; self.folds()];
        }
        let sums = products(&self.starts, &self.root, x);
        sums.iter().zip(&self.weights).map(|(sum, w)| if *w > 0.0 { sum / w } else { 0.0 }).collect()
    }

    /// Weight, both means and centered product of two vectors over each fold's training rows, from those of each fold.
    fn other_parts(&self, a: &[f64], b: &[f64], products: &[f64]) -> Vec<[f64; 4]> {
        let part = |k: usize| [self.weights[k], a[k], b[k], products[k]];
        combine_others(&(0..self.folds()).map(part).collect::<Vec<_>>(), [0.0; 4], joint_moments)
    }

    /// Mean of a column over each fold's training rows.
    pub(super) fn training_means(&self, x: &[f64]) -> Vec<f64> {
        let means = self.means(x);
        self.other_parts(&means, &means, &vec![0.0; self.folds()]).iter().map(|[_, mean, ..]| *mean).collect()
    }

    /// x less each fold's mean.
    fn subtract_by_fold(&self, x: &[f64], means: &[f64]) -> Vec<f64> {
        let mut out = x.to_vec();
        subtract(&self.starts, 0, |k| means[k], &self.root, &mut out);
        out
    }
}

/// Weight, both means and centered product of two vectors over two sets of rows together. Nothing cancels in a sum of
/// squares.
fn joint_moments(
    [weight, a, b, product]: &[f64; 4],
    [other_weight, other_a, other_b, other_product]: &[f64; 4],
) -> [f64; 4] {
    let total = weight + other_weight;
    let share = if total > 0.0 { other_weight / total } else { 0.0 };
    let [to_a, to_b] = [other_a - a, other_b - b];
    [total, a + to_a * share, b + to_b * share, product + other_product + weight * share * to_a * to_b]
}
