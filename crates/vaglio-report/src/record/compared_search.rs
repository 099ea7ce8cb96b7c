//! Compared searches, and the lowest loss for each cost of columns.

use crate::infinity;
use serde::{Deserialize, Serialize};

/// A search cross-validated on the same folds as others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSearch {
    /// Word of the search; of a chain, the words of its stages.
    pub search: String,
    /// Whether the result of this search is the result of the run.
    pub won: bool,
    /// Chosen number of columns.
    pub size: usize,
    /// Chosen λ, if any.
    pub lambda: Option<f64>,
    /// Loss pooled over all held-out rows.
    #[serde(deserialize_with = "infinity::number")]
    pub loss: f64,
    /// Standard error of the loss.
    pub standard_error: Option<f64>,
}

/// Point of the frontier of loss and cost of columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontierPoint {
    /// Number of columns.
    pub size: usize,
    /// Loss pooled over all held-out rows if the search was cross-validated, else the score.
    #[serde(deserialize_with = "infinity::number")]
    pub loss: f64,
    /// Standard error.
    pub standard_error: Option<f64>,
    /// Word of the search.
    pub search: String,
    /// Total cost of the columns.
    pub cost: f64,
}
