//! How the result of a selection was taken.

use super::judged::FoldLosses;
use crate::fdr::Discoveries;
use vaglio_core::{CrossValidation, Feature, Loss, PathEntry, Rule};
use vaglio_report::record::{Cell, ChosenBy, GainTest, SizeSpread, Table};

/// How the result of a selection was taken from its path.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Chosen {
    /// By what.
    pub by: ChosenBy,
    /// The rule, where sizes were compared.
    pub rule: Option<Rule>,
    /// How the search was cross-validated, if it was.
    pub folds: Option<CrossValidation>,
    /// Number of features.
    pub size: usize,
    /// The λ of the walk, or of the subset where each has its own.
    pub lambda: Option<f64>,
    /// The λ of a least-angle path at which its model was taken, where that was judged at some.
    pub penalty: Option<f64>,
    /// The cross-validated loss of the whole selection at that size and λ.
    pub cell: Option<Cell>,
    /// The cross-validated loss of the empty subset.
    pub empty: Option<Cell>,
    /// The losses of all sizes and λ.
    pub table: Option<Table>,
    /// The place of the λ that was taken in the table.
    pub place: usize,
    /// Whether λ is that of the whole walk: one was made for each, or λ was taken for all columns before it.
    pub of_path: bool,
    /// The size at which the walks at that λ were ended in all folds, if they were.
    pub(crate) until: Option<usize>,
    /// How much the size hangs on how rows were dealt into folds, where that is known.
    pub sizes: Option<SizeSpread>,
    /// What the first repeat's folds reached at that size and λ.
    pub(crate) of_folds: Vec<PathEntry>,
    /// What the folds lost there and near it.
    pub(crate) losses: Option<FoldLosses>,
    /// The columns that the rule takes, where none was taken since their gain did not pass the test.
    pub declined: Option<Declined>,
    /// The test of what columns gain over none, where one was made.
    pub test: Option<GainTest>,
    /// What is known of false discoveries, where they chose.
    pub(crate) confirmed: Option<Discoveries>,
}

/// Columns that were not taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Declined {
    /// Their cross-validated loss.
    pub cell: Cell,
    /// The columns, in order of entry.
    pub subset: Vec<Feature>,
}

impl Chosen {
    /// The size at which the walks at that λ were ended in all folds, if they were.
    #[doc(hidden)]
    pub fn until(&self) -> Option<usize> {
        self.until
    }

    /// What the first repeat's folds reached at that size and λ.
    #[doc(hidden)]
    pub fn of_folds(&self) -> &[PathEntry] {
        &self.of_folds
    }

    /// What the folds lost there and near it.
    #[doc(hidden)]
    pub fn losses(&self) -> Option<&FoldLosses> {
        self.losses.as_ref()
    }

    /// What is known of false discoveries, where they chose.
    #[doc(hidden)]
    pub fn confirmed(&self) -> Option<&Discoveries> {
        self.confirmed.as_ref()
    }

    /// The λ of the whole walk, where it is not that of each subset.
    #[doc(hidden)]
    pub fn walk_lambda(&self) -> Option<f64> {
        self.of_path.then_some(self.lambda).flatten()
    }

    /// Between what the loss on new rows of a selection made like this lies, with the probability `level`, by the losses of the
    /// folds, of the loss by which it was chosen; `None` where the search was not cross-validated.
    pub fn interval(&self, loss: &dyn Loss, level: f64) -> Option<[f64; 2]> {
        let losses = self.losses.as_ref()?;
        let taken = losses.at(self.size)?;
        let bounded = taken.judged(losses.repeats).bounded(loss, None, (losses.gained(loss, taken), level));
        bounded.map(|bounded| bounded.interval)
    }
}
