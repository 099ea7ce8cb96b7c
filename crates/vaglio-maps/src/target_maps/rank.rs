//! Ranks of targets.

use crate::maps::weights::in_order;
use vaglio_core::{Error, Result, normal_quantile, prelude::*};

/// The rank of the target among the training targets, as a normal score or a share, so that outliers count by order
/// only.
///
/// A target with rank r of n (the mid-rank for ties) has u = (r − ½)/n, where weights count as rows; `normal` scores
/// are Φ⁻¹(u). Values between are interpolated; predictions never leave the range of the training targets.
///
/// # Reference
/// B. L. van der Waerden, *Order tests for the two-sample problem and their power*, Indagationes Mathematicae 14, 1952.
#[part(
    TargetMap,
    "rank",
    summary = "the rank of the target among those of the training rows, as a normal score or as a share",
    example = "target_map: {kind: rank, scores: normal}"
)]
#[derive(PartialEq, Eq)]
pub struct RankTarget {
    /// Scale of the ranks.
    pub(crate) scores: Scores,
    /// Whether predictions are means in the units of the data, by Duan's smearing. Defaults to true for the squared
    /// error.
    pub smear: Option<bool>,
}

impl RankTarget {
    /// Ranks as shares between 0 and 1.
    pub fn uniform() -> Self {
        RankTarget { scores: Scores::Uniform, ..RankTarget::default() }
    }
}

/// Scale of ranks.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Scores {
    /// Quantiles of the normal distribution.
    #[default]
    Normal,
    /// Shares, between 0 and 1.
    Uniform,
}

/// Fitted [`RankTarget`]: the distinct training targets in increasing order, with their scores.
#[saved(FittedTargetMap, "rank")]
struct FittedRank {
    values: Vec<f64>,
    scores: Vec<f64>,
}

/// Largest number of stored values, evenly spaced in rank.
const MOST_KEPT: usize = 4096;

impl TargetMap for RankTarget {
    fn fit(&self, target: &[f64], weights: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>> {
        let rows = in_order(target, weights);
        let total: f64 = rows.iter().map(|(weight, _)| weight).sum();
        let (mut values, mut shares, mut below) = (Vec::new(), Vec::new(), 0.0);
        for equal in rows.chunk_by(|a, b| a.1 == b.1) {
            let own: f64 = equal.iter().map(|(weight, _)| weight).sum();
            values.push(equal[0].1);
            shares.push((below + 0.5 * own) / total);
            below += own;
        }
        let count = values.len();
        if count > MOST_KEPT {
            let kept = |all: &[f64]| (0..MOST_KEPT).map(|k| all[k * (count - 1) / (MOST_KEPT - 1)]).collect();
            (values, shares) = (kept(&values), kept(&shares));
        }
        let score = |share: f64| if self.scores == Scores::Normal { normal_quantile(share) } else { share };
        let scores = shares.into_iter().map(score).collect();
        if values.is_empty() {
            return Err(Error::Shape("no row counts, so targets have no ranks".into()));
        }
        Ok(Box::new(FittedRank { values, scores }))
    }

    fn smear(&self) -> Option<bool> {
        self.smear
    }
}

impl FittedTargetMap for FittedRank {
    fn map(&self, value: f64) -> f64 {
        between(&self.values, &self.scores, value)
    }

    fn inverse(&self, mapped: f64) -> f64 {
        between(&self.scores, &self.values, mapped)
    }

    fn inverse_expression(&self, mapped: Expression) -> Option<Expression> {
        let points = self.scores.iter().zip(&self.values).map(|(score, value)| [*score, *value]).collect();
        Some(Expression::Between(points, Box::new(mapped)))
    }

    fn takes(&self) -> (&'static str, &'static str) {
        ("numbers", "leave other rows out")
    }
}

/// Piecewise linear interpolation between two increasing lists, constant beyond the ends.
fn between(from: &[f64], to: &[f64], x: f64) -> f64 {
    let (Some(first), Some(last)) = (to.first(), to.last()) else { return f64::NAN };
    match from.partition_point(|known| *known <= x) {
        _ if x.is_nan() => f64::NAN,
        0 => *first,
        next if next == from.len() => *last,
        next => {
            let (a, b) = (from[next - 1], from[next]);
            let share = (x - a) / (b - a);
            to[next - 1] + share * (to[next] - to[next - 1])
        }
    }
}
