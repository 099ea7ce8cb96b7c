//! Findings of parts besides scores and models.

use serde::{Deserialize, Serialize};
use vaglio_core::Figures;

/// Findings of each part of a run, by name: any values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FoundRecord {
    /// By the criterion, of the chosen subset.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub criterion: Figures,
    /// By the search.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub search: Figures,
    /// By the learner of the selection.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub learner: Figures,
    /// By the learner of the final model.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    pub model: Figures,
    /// By maps that found anything, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preprocess: Vec<FoundByMap>,
}

/// Findings of a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundByMap {
    /// Place among the maps, from 0.
    pub place: usize,
    /// Word.
    pub kind: String,
    /// Findings.
    pub found: Figures,
}

impl FoundRecord {
    /// Whether no part found anything.
    pub fn is_empty(&self) -> bool {
        *self == FoundRecord::default()
    }
}
