//! Equality and order of losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_columns::LOSS_ROUNDING;

/// A scale of targets that are mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The units of the data.
    #[default]
    Original,
    /// The mapped targets.
    Mapped,
}

impl Judge {
    pub(crate) fn is_original(&self) -> bool {
        *self == Judge::Original
    }

    /// The other scale.
    #[must_use]
    pub fn other(self) -> Self {
        if self.is_original() { Judge::Mapped } else { Judge::Original }
    }
}

/// Whether a loss is lower than another by more than rounding.
pub fn is_lower(loss: f64, than: f64) -> bool {
    loss + LOSS_ROUNDING * loss.abs() < than
}
