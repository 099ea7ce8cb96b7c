//! Standard errors of losses over rows, or over parts of the rows.

use super::decision::{class_of, tie_groups};
use crate::{gather, row_weights};
use ndarray::{ArrayView2, Axis};
use std::borrow::Cow;

/// Rows that are left out together, each with the share of its weight that is left out.
type LeftOut = Vec<(usize, f64)>;

/// Maximum number of parts that the jackknife of [`ScoredRows::error_of_whole`] leaves out, if none are given.
const PARTS: usize = 100;
/// Share of the weight of a row or of a class below which the remainder is rounding.
const WEIGHT_GONE: f64 = 1e-12;

/// Calls `visit` with the targets, the predictions and the weight of each row.
pub(super) fn visit_rows(
    targets: ArrayView2<'_, f64>,
    predictions: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    mut visit: impl FnMut(&[f64], &[f64], f64),
) {
    let (mut y, mut p) = (Vec::<f64>::new(), Vec::<f64>::new());
    for (row, (targets, predictions)) in targets.columns().into_iter().zip(predictions.columns()).enumerate() {
        y.clear();
        y.extend(targets);
        p.clear();
        p.extend(predictions);
        visit(&y, &p, row_weights(weights)(row));
    }
}

/// Predictions of rows, and the parts that are left out in turn; single rows if absent.
#[derive(Clone, Copy)]
pub(super) struct ScoredRows<'a> {
    pub targets: ArrayView2<'a, f64>,
    pub predictions: ArrayView2<'a, f64>,
    pub weights: Option<&'a [f64]>,
    pub parts: Option<&'a [LeftOut]>,
}

impl ScoredRows<'_> {
    fn rows(&self) -> usize {
        self.targets.ncols()
    }

    fn weight(&self, row: usize) -> f64 {
        row_weights(self.weights)(row)
    }

    /// The given parts, or at most `most` interleaved parts of the rows.
    fn parts(&self, most: usize) -> Cow<'_, [LeftOut]> {
        let (rows, count) = (self.rows(), self.rows().min(most));
        let interleaved =
            || (0..count).map(|part| (part..rows).step_by(count).map(|row| (row, 1.0)).collect()).collect();
        self.parts.map_or_else(|| Cow::Owned(interleaved()), Cow::Borrowed)
    }

    /// Standard error of a mean over rows.
    pub fn error_of_mean(&self, row_loss: impl Fn(&[f64], &[f64]) -> f64) -> Option<f64> {
        let mut losses = Vec::with_capacity(self.rows());
        visit_rows(self.targets, self.predictions, self.weights, |y, p, _| losses.push(row_loss(y, p)));
        if losses.len() < 2 {
            return None;
        }
        let total: f64 = (0..losses.len()).map(|row| self.weight(row)).sum();
        let Some(parts) = self.parts else {
            let mean = (0..losses.len()).map(|row| self.weight(row) * losses[row]).sum::<f64>() / total;
            let squares = (0..losses.len()).map(|row| self.weight(row) * (losses[row] - mean).powi(2)).sum::<f64>();
            return finite((squares / total / losses.len() as f64).sqrt());
        };
        let part_mean = |part: &LeftOut| {
            part.iter().fold((0.0, 0.0), |(sum, all), &(row, share)| {
                let share = share * self.weight(row) / total;
                (sum + share * losses[row], all + share)
            })
        };
        finite(error_over_parts(&parts.iter().map(part_mean).collect::<Vec<_>>()))
    }

    /// Jackknife of a loss of all rows together. Cost O(parts) times that of the mean.
    pub fn error_of_whole(
        &self,
        mean: impl Fn(ArrayView2<f64>, ArrayView2<f64>, Option<&[f64]>) -> f64,
    ) -> Option<f64> {
        let rows = self.rows();
        if rows < 2 {
            return None;
        }
        let parts = self.parts(PARTS);
        let without = |part: &LeftOut| {
            let mut left: Vec<f64> = (0..rows).map(|row| self.weight(row)).collect();
            part.iter().for_each(|&(row, share)| left[row] -= share * self.weight(row));
            let kept: Vec<usize> = (0..rows).filter(|&row| left[row] > WEIGHT_GONE * self.weight(row)).collect();
            let is_weighted = self.weights.is_some() || part.iter().any(|(_, share)| *share < 1.0);
            let weights = is_weighted.then(|| gather(&left, &kept));
            let (y, p) = (self.targets.select(Axis(1), &kept), self.predictions.select(Axis(1), &kept));
            mean(y.view(), p.view(), weights.as_deref())
        };
        jackknife(&parts.iter().map(without).collect::<Vec<_>>())
    }

    /// Jackknife of a mean over classes; a class without remaining weight is skipped. `None` for one class.
    pub fn error_of_classes(&self, row_loss: impl Fn(&[f64], &[f64]) -> f64) -> Option<f64> {
        let (mut classes, mut losses) = (Vec::with_capacity(self.rows()), Vec::with_capacity(self.rows()));
        visit_rows(self.targets, self.predictions, self.weights, |y, p, _| {
            classes.push(class_of(y));
            losses.push(row_loss(y, p));
        });
        let mut all = vec![[0.0; 2]; self.targets.nrows().max(2)];
        for (row, &class) in classes.iter().enumerate() {
            all[class][0] += self.weight(row) * losses[row];
            all[class][1] += self.weight(row);
        }
        if all.iter().filter(|[_, weight]| *weight > 0.0).count() < 2 {
            return None;
        }
        let without = |part: &LeftOut| {
            let mut left = all.clone();
            for &(row, share) in part {
                left[classes[row]][0] -= share * self.weight(row) * losses[row];
                left[classes[row]][1] -= share * self.weight(row);
            }
            let present = left.iter().zip(&all).filter(|([_, weight], [_, all])| *weight > WEIGHT_GONE * all);
            let (sum, count) =
                present.fold((0.0, 0), |(sum, count), ([loss, weight], _)| (sum + loss / weight, count + 1));
            (count > 0).then_some(sum / f64::from(count))
        };
        jackknife(&self.parts(usize::MAX).iter().map(without).collect::<Option<Vec<_>>>()?)
    }

    /// Jackknife of the share of wrongly ordered pairs of a row of each class, ties counted half; `None` if a part has
    /// all rows of a class.
    pub fn error_of_pairs(&self) -> Option<f64> {
        let (order, starts) = tie_groups(&self.predictions.row(0).to_vec(), 1.0);
        let mut ranks = vec![0; self.rows()];
        for (rank, tie) in starts.windows(2).enumerate() {
            order[tie[0]..tie[1]].iter().for_each(|&row| ranks[row] = rank);
        }
        let pairs = RankedPairs { positive: self.targets.row(0).iter().map(|y| *y > 0.0).collect(), ranks };
        let mut rows: Vec<(usize, f64)> = order.into_iter().map(|row| (row, self.weight(row))).collect();
        // For each row, the weight of the rows of the other class on its wrong side.
        let mut wrong = vec![0.0; rows.len()];
        let positives = pairs.visit(&rows, true, |(row, _), weight| wrong[row] = weight);
        rows.reverse();
        let negatives = pairs.visit(&rows, false, |(row, _), weight| wrong[row] = weight);
        let all: f64 = rows.iter().filter(|(row, _)| pairs.positive[*row]).map(|&(row, w)| w * wrong[row]).sum();
        let without = |part: &LeftOut| {
            let mut part: Vec<(usize, f64)> =
                part.iter().map(|&(row, share)| (row, share * self.weight(row))).collect();
            part.sort_by_key(|(row, _)| pairs.ranks[*row]);
            let part_sum: f64 = part.iter().map(|&(row, weight)| weight * wrong[row]).sum();
            // Pairs inside the part are subtracted twice and added back once.
            let (mut inside, mut minus) = (0.0, 0.0);
            let plus = pairs.visit(&part, true, |(_, weight), below| {
                inside += weight * below;
                minus += weight;
            });
            let left = [(positives - plus, positives), (negatives - minus, negatives)];
            let is_gone = left.iter().any(|(left, all)| *left <= WEIGHT_GONE * all);
            (!is_gone).then(|| (all - part_sum + inside) / (left[0].0 * left[1].0))
        };
        jackknife(&self.parts(usize::MAX).iter().map(without).collect::<Option<Vec<_>>>()?)
    }
}

/// Class and rank of each row's prediction; ties share a rank.
struct RankedPairs {
    positive: Vec<bool>,
    ranks: Vec<usize>,
}

impl RankedPairs {
    /// Calls `visitor` for each row outside a class with the weight of the class before it, ties counted half. Returns
    /// the weight of the class. Rows are in ascending or descending order of rank.
    fn visit(&self, rows: &[(usize, f64)], class: bool, mut visitor: impl FnMut((usize, f64), f64)) -> f64 {
        let mut before = 0.0;
        for tied in rows.chunk_by(|a, b| self.ranks[a.0] == self.ranks[b.0]) {
            let own: f64 = tied.iter().filter(|(row, _)| self.positive[*row] == class).map(|(_, weight)| weight).sum();
            for &row in tied.iter().filter(|(row, _)| self.positive[*row] != class) {
                visitor(row, before + 0.5 * own);
            }
            before += own;
        }
        before
    }
}

/// √(K/(K−1)·Σ_k (c_k − p_k·Σc)²) from c_k, the contribution of each of K parts to a mean, and its share p_k of the
/// weight.
pub fn error_over_parts(parts: &[(f64, f64)]) -> f64 {
    let (count, mean) = (parts.len() as f64, parts.iter().map(|(c, _)| c).sum::<f64>());
    let squares: f64 = parts.iter().map(|(c, p)| (c - p * mean) * (c - p * mean)).sum();
    (count / (count - 1.0).max(1.0) * squares).sqrt()
}

/// Jackknife variance (K − 1)/K · Σ (θ_k − θ̄)² from the values without each of K parts. Returns `None` for fewer than
/// two parts and for a variance that is not finite.
pub fn jackknife_variance(without: &[f64]) -> Option<f64> {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|theta| (theta - mean).powi(2)).sum();
    finite((count - 1.0) / count * squares).filter(|_| without.len() > 1)
}

/// Square root of the [`jackknife_variance`].
fn jackknife(without: &[f64]) -> Option<f64> {
    jackknife_variance(without).map(f64::sqrt)
}

fn finite(error: f64) -> Option<f64> {
    error.is_finite().then_some(error)
}
