//! Scores, and the best of several scores.

use crate::{Error, Feature, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashSet;
use vaglio_columns::{LOSS_ROUNDING, minimum};

/// The score of a subset: lower is better, +∞ is the worst, NaN does not occur.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The criterion's value.
    pub loss: f64,
    /// The best λ for this subset, if the criterion has λ; the smallest among equals.
    pub lambda: Option<f64>,
}

impl Score {
    /// The worst score.
    pub const WORST: Score = Score { loss: f64::INFINITY, lambda: None };

    /// Creates a score without a λ.
    pub fn new(loss: f64) -> Self {
        Score { loss, lambda: None }
    }

    /// Refuses NaN, which arithmetic gives when columns are too large.
    ///
    /// # Errors
    /// Returns [`Error::Numerical`] for NaN.
    pub fn checked(self) -> Result<Self> {
        if self.loss.is_nan() {
            return Err(Error::Numerical("the score is not a number; rescale or standardize the columns".into()));
        }
        Ok(self)
    }
}

/// A number that is read back to the last bit.
#[derive(Serialize, Deserialize)]
struct Exact(#[serde(with = "crate::exact_float")] f64);

/// Serializes the score as a pair, every number to the last bit.
impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (Exact(self.loss), self.lambda.map(Exact)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (Exact(loss), lambda) = <(Exact, Option<Exact>)>::deserialize(deserializer)?;
        Ok(Score { loss, lambda: lambda.map(|Exact(lambda)| lambda) })
    }
}

/// The best addition or removal of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// The column; the lowest index among equals.
    pub feature: Feature,
    /// The score of the subset after the change.
    pub score: Score,
    /// The other columns with exactly the same score, in increasing order.
    pub tied: Vec<Feature>,
}

impl Winner {
    /// Whether the winner and its ties are all among `candidates`.
    pub fn is_among(&self, candidates: &[Feature]) -> bool {
        let known: HashSet<Feature> = candidates.iter().copied().collect();
        known.contains(&self.feature) && self.tied.iter().all(|feature| known.contains(feature))
    }

    /// Finds the lowest score among `candidates`; ties go to the lowest index. `None` without candidates or when all
    /// are +∞.
    pub fn among(candidates: &[Feature], scores: &[Score]) -> Option<Winner> {
        let lowest = minimum(scores.iter().map(|s| s.loss).filter(|l| !l.is_nan()));
        if lowest == f64::INFINITY {
            return None;
        }
        let mut equals: Vec<(Feature, Score)> =
            candidates.iter().copied().zip(scores.iter().copied()).filter(|(_, s)| s.loss == lowest).collect();
        equals.sort_by_key(|(feature, _)| *feature);
        let (feature, score) = equals[0];
        Some(Winner { feature, score, tied: equals[1..].iter().map(|(f, _)| *f).collect() })
    }
}

/// Whether a loss is lower than another by more than rounding.
pub fn is_lower(loss: f64, than: f64) -> bool {
    loss + LOSS_ROUNDING * loss.abs() < than
}
