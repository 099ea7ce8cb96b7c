//! How many features leave in a round of removals, and the sizes that this leads to.

use crate::space::Space;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{Error, Result};

/// How many features leave at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number from 1 on, or a share between 0 and 1")]
pub enum RemovalStep {
    /// So many.
    Number(usize),
    /// This share of those that are left, rounded down, at least one.
    Share(f64),
}

impl RemovalStep {
    /// One after the other.
    pub const ONE: Self = RemovalStep::Number(1);

    /// Refuses what is no number of features.
    pub(crate) fn check(self) -> Result<()> {
        let refused = |found: String| {
            Err(Error::setting("step", format!("{found}; 0.1 removes a tenth of the columns, 5 five at a time")))
        };
        match self {
            RemovalStep::Number(0) => refused("no column would leave".into()),
            RemovalStep::Share(share) if !(share > 0.0 && share < 1.0) => {
                refused(format!("{share} is neither a share between 0 and 1 nor a whole number"))
            }
            _ => Ok(()),
        }
    }

    /// The size after a round.
    fn after(self, size: usize) -> usize {
        let leaving = match self {
            RemovalStep::Number(number) => number,
            RemovalStep::Share(share) => (share * size as f64) as usize,
        };
        size.saturating_sub(leaving.max(1))
    }
}

impl From<usize> for RemovalStep {
    fn from(number: usize) -> Self {
        RemovalStep::Number(number)
    }
}

impl From<f64> for RemovalStep {
    fn from(share: f64) -> Self {
        RemovalStep::Share(share)
    }
}

/// The sizes of a walk down, falling.
///
/// They follow from the number of columns, those that are constant included, so that walks on folds, where more columns may be
/// constant, come through the same. The largest size that may be the result and the smallest are among them.
pub(crate) fn sizes(step: RemovalStep, space: &Space<'_>, least: usize) -> Vec<usize> {
    let constant = (0..space.design.features()).filter(|&feature| space.design.is_constant(feature)).count();
    let (most, mut size) = (space.most.max(least), space.features() + constant);
    let mut sizes = Vec::new();
    while size > least {
        let next = step.after(size).max(least);
        size = if size > most { next.max(most) } else { next };
        sizes.push(size);
    }
    sizes.retain(|&size| size < space.features());
    sizes
}
