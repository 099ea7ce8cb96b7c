//! How searches that competed compare.

use crate::infinity;
use serde::{Deserialize, Serialize};

/// A race of searches: the curve of each, and the lowest of all.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceRecord {
    /// The contestants, in order.
    pub contestants: Vec<Contestant>,
    /// For each number of columns the lowest pooled loss of any of them, in increasing size.
    pub frontier: Vec<FrontierPoint>,
}

impl RaceRecord {
    /// The place of the contestant whose result is taken.
    pub fn winner(&self) -> Option<usize> {
        self.contestants.iter().position(|contestant| contestant.won)
    }
}

/// A search that competed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contestant {
    /// Word of the search; of a chain, the words of its stages.
    pub search: String,
    /// Whether its result is taken.
    pub won: bool,
    /// Size and loss that the rule takes.
    pub chosen: CurvePoint,
    /// For each size that its walks reached in every fold the lowest loss over λ.
    pub curve: Vec<CurvePoint>,
}

/// The cross-validated loss of one size of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Number of columns.
    pub size: usize,
    /// The λ of the walk, where there is one.
    pub lambda: Option<f64>,
    /// The loss, pooled over all rows held out.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
}

/// The lowest loss for a number of columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontierPoint {
    /// Number of columns.
    pub size: usize,
    /// The lowest loss of any contestant, pooled over all rows held out.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// The contestant.
    pub search: String,
    /// Total cost of the columns, if columns have costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}
