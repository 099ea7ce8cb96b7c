//! On which rows maps learn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{FoldFit, Need};

/// On which rows a map learns while a criterion validates, where that can be told without fitting it in each fold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// On all training rows, once.
    Train,
    /// On the rows of each fold's training part.
    Fold,
    /// `fold` where the criterion has folds and the learner is a ridge regression on the columns themselves, unless it
    /// is predicted to take more than 3 times as long as `train`; else `train`.
    #[default]
    Auto,
}

impl Scope {
    /// What is fitted again in each fold, of a map that has a closed form.
    pub(super) fn in_folds(self, formula: impl FnOnce(Need) -> FoldFit) -> FoldFit {
        match self {
            Scope::Train => FoldFit::No,
            Scope::Fold => formula(Need::Required),
            Scope::Auto => formula(Need::Possible),
        }
    }
}

/// On which rows a map learns while a criterion validates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LearnedOn {
    /// On all training rows, once.
    #[default]
    Train,
    /// On the rows of each fold's training part, by fitting this map and those after it in each; needs `kfold`, and a
    /// learner on the columns themselves.
    Fold,
}

impl LearnedOn {
    /// What is fitted again in each fold.
    pub(super) fn in_folds(self) -> FoldFit {
        match self {
            LearnedOn::Train => FoldFit::No,
            LearnedOn::Fold => FoldFit::Maps,
        }
    }
}
