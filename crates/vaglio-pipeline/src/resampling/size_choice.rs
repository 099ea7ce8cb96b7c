//! Record of how size and λ were chosen.

use super::fold_losses::FoldLosses;
use crate::fdr::Discoveries;
use serde::Serialize;
use vaglio_core::{Feature, Loss, PathEntry};
use vaglio_report::record::{Cell, ChosenBy, GainTest, LossTable, SizeSpread};
use vaglio_search::{CrossValidation, Rule};

/// Chosen size and λ of a selection, with the losses that decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// Method of the choice: cross-validation, the score, the user or false discoveries.
    pub by: ChosenBy,
    /// Rule that compared sizes, if any.
    pub rule: Option<Rule>,
    /// Cross-validation settings, if it was used.
    pub folds: Option<CrossValidation>,
    /// Number of features.
    pub size: usize,
    /// λ of the search path, or of the subset if each has its own.
    pub lambda: Option<f64>,
    /// λ of a least-angle path at which its model was taken, if the path is evaluated at several.
    pub penalty: Option<f64>,
    /// Cross-validated loss of the whole procedure at the chosen size and λ.
    pub cell: Option<Cell>,
    /// Cross-validated loss of the empty subset (baseline).
    pub empty: Option<Cell>,
    /// Losses of all sizes and λ.
    pub table: Option<LossTable>,
    /// Index of the chosen λ in the table.
    pub place: usize,
    /// Whether λ belongs to the whole path: there was a path for each λ, or λ was chosen for all columns first.
    pub of_path: bool,
    /// Size at which the paths at that λ were ended early in all folds, if they were.
    #[doc(hidden)]
    #[serde(skip)]
    pub until: Option<usize>,
    /// Variation of the size with the split into folds, if known.
    pub sizes: Option<SizeSpread>,
    /// Models of the first repeat's folds at the chosen size and λ.
    #[doc(hidden)]
    #[serde(skip)]
    pub fold_entries: Vec<PathEntry>,
    /// Losses of the folds at the chosen size and near it.
    #[doc(hidden)]
    #[serde(skip)]
    pub losses: Option<FoldLosses>,
    /// Columns that the rule chose but the test of gain rejected.
    pub declined: Option<RejectedColumns>,
    /// Test whether columns improve on none, if it was made.
    pub test: Option<GainTest>,
    /// False-discovery results, if they made the choice.
    #[doc(hidden)]
    #[serde(skip)]
    pub confirmed: Option<Discoveries>,
}

/// Columns that were rejected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RejectedColumns {
    /// Cross-validated loss of the columns.
    pub cell: Cell,
    /// The columns, in order of entry.
    pub subset: Vec<Feature>,
}

impl Choice {
    /// λ of the whole path, unless each subset has its own.
    pub fn walk_lambda(&self) -> Option<f64> {
        self.of_path.then_some(self.lambda).flatten()
    }

    /// Confidence interval at `level` for the loss on new rows, selection included, from the losses of the folds.
    /// `loss` is the loss that made the choice. Returns `None` without cross-validation.
    pub fn interval(&self, loss: &dyn Loss, level: f64) -> Option<[f64; 2]> {
        let losses = self.losses.as_ref()?;
        let bounded = losses.at(self.size)?.bounded(loss, None, losses.gained(loss, self.size), level);
        bounded.map(|(_, interval)| interval)
    }
}
