//! Rows that maps are fitted on during cross-validation.

use vaglio_core::{MapTraits, RefitScope, Requirement, setting};

/// Rows on which a map is fitted during cross-validation, for maps with a closed form per fold.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// All training rows, once.
    Train,
    /// The training rows of each fold.
    Fold,
    /// `fold` if the criterion has folds and the learner is a ridge regression on the columns themselves, unless the
    /// predicted time is more than 3 times that of `train`; else `train`.
    #[default]
    Auto,
}

impl Scope {
    /// Fold refitting of a map with a closed form.
    pub(super) fn in_folds(self, formula: impl FnOnce(Requirement) -> RefitScope) -> RefitScope {
        match self {
            Scope::Train => RefitScope::No,
            Scope::Fold => formula(Requirement::Required),
            Scope::Auto => formula(Requirement::Possible),
        }
    }
}

/// Rows on which a map is fitted during cross-validation.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum LearnedOn {
    /// All training rows, once.
    #[default]
    Train,
    /// The training rows of each fold, by refitting this map and all later ones; needs `kfold`, and a learner on the
    /// columns themselves.
    Fold,
}

impl LearnedOn {
    /// Traits of a map with this scope.
    pub(super) fn traits(self) -> MapTraits {
        let in_folds = if self == LearnedOn::Fold { RefitScope::Maps } else { RefitScope::No };
        MapTraits { in_folds, ..MapTraits::default() }
    }
}
