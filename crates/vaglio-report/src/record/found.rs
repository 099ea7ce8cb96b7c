//! What parts found beside scores and models.

use serde::{Deserialize, Serialize};
use vaglio_core::Figures;

/// What each part of a run found, by name: any values.
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

/// What a map found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundByMap {
    /// Its place among the maps, from 0.
    pub place: usize,
    /// Its word.
    pub kind: String,
    /// What it found.
    pub found: Figures,
}

impl FoundRecord {
    /// Whether no part found anything.
    pub fn is_empty(&self) -> bool {
        *self == FoundRecord::default()
    }
}
