//! Changes of a subset.

use crate::Feature;
use serde::{Deserialize, Serialize};

/// A change of a subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A column was added.
    Add,
    /// A column was removed.
    Remove,
}

impl Action {
    /// The subset after the change by one column.
    pub fn apply_to(self, subset: &[Feature], feature: Feature) -> Vec<Feature> {
        let mut after = subset.to_vec();
        self.follow(&[feature], &mut after);
        after
    }

    /// Updates `subset` for the moved columns.
    pub fn follow(self, moved: &[Feature], subset: &mut Vec<Feature>) {
        match self {
            Action::Add => subset.extend_from_slice(moved),
            Action::Remove => subset.retain(|feature| !moved.contains(feature)),
        }
    }
}
