//! The concordance loss, which depends on the order of predictions.

use super::decision::tie_groups;
use super::{Loss, LossTasks, LossTraits, Measure};
use crate::{max_abs, part, row_weights};
use ndarray::{ArrayView1, ArrayView2};

/// Share of the pairs of rows with different targets that predictions put in the wrong order, ties counted half; one minus the
/// concordance index.
///
/// Σ r_i r_j (⟦p_i > p_j⟧ + ½ ⟦p_i = p_j⟧) / Σ r_i r_j over all pairs with y_i < y_j, averaged over outputs. Predictions tie if they
/// differ by less than 10⁻¹² of the largest target. For numbers; the loss `auc` is for two classes.
///
/// # Reference
/// F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee, R. A. Rosati, *Evaluating the yield of medical tests*, Journal of the
/// American Medical Association 247, 1982.
#[part(
    Loss,
    "concordance",
    summary = "1 - concordance index: share of pairs of rows in the wrong order, ties counted half",
    example = "criterion: {kind: loo, loss: concordance}",
    title = "1 − concordance"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct Concordance;

impl Loss for Concordance {
    /// Cost O(rows · log rows) for each output.
    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let outputs = targets.rows().into_iter().zip(predictions.rows());
        outputs.map(|(y, p)| discordant(y, p, weights)).sum::<f64>() / targets.nrows() as f64
    }

    fn traits(&self) -> LossTraits {
        LossTraits {
            measure: Measure::Whole,
            is_over_outputs: true,
            tasks: LossTasks::Numbers,
            label: Some("1 - concordance"),
            ..LossTraits::share()
        }
    }
}

/// The concordance loss of one output. NaN if a prediction is NaN, or all targets are equal.
fn discordant(targets: ArrayView1<f64>, predictions: ArrayView1<f64>, weights: Option<&[f64]>) -> f64 {
    let (y, p) = (targets.to_vec(), predictions.to_vec());
    if p.iter().any(|p| p.is_nan()) {
        return f64::NAN;
    }
    let weight = row_weights(weights);
    let (rank, ranks) = ranks(&y);
    let mut rank_weights = vec![0.0; ranks];
    (0..y.len()).for_each(|row| rank_weights[rank[row]] += weight(row));
    let (order, starts) = tie_groups(&p, max_abs(&y));
    let (mut below, mut wrong) = (FenwickTree::new(ranks), 0.0);
    for tie in starts.windows(2).map(|at| &order[at[0]..at[1]]) {
        // Rows with a lower prediction and a higher target.
        for &row in tie {
            wrong += weight(row) * below.above(rank[row]);
        }
        wrong += 0.5 * pairs(tie.iter().map(|&row| (rank[row], weight(row))).collect());
        tie.iter().for_each(|&row| below.add(rank[row], weight(row)));
    }
    wrong / pairs(rank_weights.into_iter().enumerate().collect())
}

/// Total weight of the pairs with different ranks.
fn pairs(mut rows: Vec<(usize, f64)>) -> f64 {
    rows.sort_unstable_by_key(|(rank, _)| *rank);
    let (mut sum, mut before) = (0.0, 0.0);
    for equal in rows.chunk_by(|a, b| a.0 == b.0) {
        let own: f64 = equal.iter().map(|(_, weight)| weight).sum();
        sum += own * before;
        before += own;
    }
    sum
}

/// The rank of each value among the distinct values, and the number of these.
fn ranks(values: &[f64]) -> (Vec<usize>, usize) {
    let mut distinct = values.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let rank = |value: &f64| distinct.partition_point(|other| other < value);
    (values.iter().map(rank).collect(), distinct.len())
}

/// Weights by rank with prefix sums in O(log ranks): a Fenwick tree.
struct FenwickTree {
    sums: Vec<f64>,
    all: f64,
}

impl FenwickTree {
    fn new(ranks: usize) -> Self {
        FenwickTree { sums: vec![0.0; ranks + 1], all: 0.0 }
    }

    fn add(&mut self, rank: usize, weight: f64) {
        self.all += weight;
        let mut at = rank + 1;
        while at < self.sums.len() {
            self.sums[at] += weight;
            at += at & at.wrapping_neg();
        }
    }

    /// Total weight above a rank.
    fn above(&self, rank: usize) -> f64 {
        let (mut at, mut up_to) = (rank + 1, 0.0);
        while at > 0 {
            up_to += self.sums[at];
            at -= at & at.wrapping_neg();
        }
        (self.all - up_to).max(0.0)
    }
}
