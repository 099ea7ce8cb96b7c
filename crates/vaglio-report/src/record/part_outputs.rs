//! Findings of parts besides scores and models.

use serde::{Deserialize, Serialize};
use vaglio_core::Figures;

/// Named findings of each part of a run, as JSON values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoundRecord {
    /// Findings of the criterion on the chosen subset.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub criterion: Figures,
    /// Findings of the search.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub search: Figures,
    /// Findings of the learner of the selection.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub learner: Figures,
    /// Findings of the learner of the final model.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub model: Figures,
    /// Findings of the maps that have any, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preprocess: Vec<FoundByMap>,
}

/// Findings of a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundByMap {
    /// Position among the maps, from 0.
    pub place: usize,
    /// Kind of the map.
    pub kind: String,
    /// Named findings, as JSON values.
    pub found: Figures,
}

impl FoundRecord {
    /// Whether no part found anything.
    pub fn is_empty(&self) -> bool {
        *self == FoundRecord::default()
    }
}
