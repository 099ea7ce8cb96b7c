//! What is learned anew on the training rows of each fold: means that fill cells, means and deviations of columns.

use crate::{Design, Gaps};
use std::sync::Arc;

/// How strongly something is to be learned anew on the training rows of each fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFolds {
    /// Where the criterion has it in closed form.
    Possible,
    /// In any case: a criterion that cannot is refused.
    Required,
}

impl Design {
    /// The same with cells that are filled by the means of the training rows whenever some rows are held out.
    #[must_use]
    pub fn imputing_in_folds(self, gaps: Arc<Gaps>) -> Self {
        let mut design = self.afresh();
        design.gaps = Some(gaps);
        design
    }

    /// The cells that are filled by the means of the training rows whenever some rows are held out.
    pub fn gaps(&self) -> Option<&Gaps> {
        self.gaps.as_deref()
    }

    /// Whether columns are imputed or standardized anew whenever some rows are held out.
    pub fn is_made_in_folds(&self) -> bool {
        self.gaps.is_some() || self.is_standardized_in_folds()
    }

    /// The same with columns that are standardized anew on the training rows whenever some rows are held out, which leaves
    /// nothing of a bias.
    #[must_use]
    pub fn standardizing_in_folds(self) -> Self {
        let mut design = self.afresh();
        (design.standardized_in_folds, design.bias) = (true, None);
        design
    }

    /// The same with nothing kept, and apart from others.
    pub(crate) fn afresh(self) -> Self {
        let mut design = self.alone();
        design.kept = Arc::default();
        design
    }

    /// The same with columns that stay as all rows standardized them, where doing it anew in each fold would have taken
    /// so many times as long.
    #[must_use]
    pub fn standardizing_once(mut self, times: f64) -> Self {
        self.spared = Some(times);
        self
    }

    /// Whether columns are standardized anew on the training rows whenever some rows are held out.
    pub fn is_standardized_in_folds(&self) -> bool {
        self.standardized_in_folds
    }

    /// How many times as long a search would have taken with columns standardized anew in each fold, where that was left
    /// out for it.
    pub fn spared(&self) -> Option<f64> {
        self.spared
    }
}
