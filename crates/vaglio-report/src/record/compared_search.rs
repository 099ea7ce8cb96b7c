//! Searches that were compared, and the loss that costs of columns buy.

use crate::infinity;
use serde::{Deserialize, Serialize};

/// A search that was cross-validated on the same folds as others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedSearch {
    /// Word of the search; of a chain, the words of its stages.
    pub search: String,
    /// Whether its result is taken.
    pub won: bool,
    /// Number of columns that it chooses.
    pub size: usize,
    /// The λ that it chooses, if there is one.
    pub lambda: Option<f64>,
    /// The loss, pooled over all rows held out.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// Standard error of the loss.
    pub standard_error: Option<f64>,
}

/// The lowest loss for a cost of columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontierPoint {
    /// Number of columns.
    pub size: usize,
    /// The loss, pooled over all rows held out if the search was cross-validated.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Word of the search.
    pub search: String,
    /// Total cost of the columns.
    pub cost: f64,
}
