//! Figures of the selection on shuffled targets.

use super::Record;
use vaglio_core::{pluralize, record, short};

/// Figures of the selection procedure on shuffled targets.
#[record]
pub struct Permutations {
    /// Number of shuffles.
    pub count: usize,
    /// The criterion's score of the selection.
    pub score: NullFigure,
    /// Cross-validated loss of the chosen size and λ.
    pub cross_validated: Option<NullFigure>,
}

/// Null distribution of a figure, from shuffled targets.
#[record]
pub struct NullFigure {
    /// Mean over the shuffled targets.
    pub mean: f64,
    /// P-value (1 + m) / (1 + n), where m of the n shuffles have a figure at most that of the data.
    pub p: f64,
    /// Value of each shuffle, in order.
    pub values: Vec<f64>,
}

impl Record {
    /// The mean cross-validated loss on shuffled targets, or else the score, with the p-value.
    pub(crate) fn shuffled_line(&self) -> Option<String> {
        let permutations = self.permutations.as_ref()?;
        let (what, NullFigure { mean, p, .. }) = match &permutations.cross_validated {
            Some(figure) => ("cross-validated error", figure),
            None => ("score", &permutations.score),
        };
        let count = pluralize(permutations.count, "permutation");
        Some(format!("on shuffled targets the {what} is {} on average ({count}, p = {})", short(*mean), short(*p)))
    }
}
