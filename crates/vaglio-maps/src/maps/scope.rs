//! Rows that maps are fitted on during cross-validation.

use vaglio_core::{MapTraits, RefitScope, setting};

/// Rows on which a map is fitted during cross-validation.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// All training rows, once.
    Train,
    /// The training rows of each fold. A map without a closed form is refitted with all later ones, which needs `kfold`
    /// and a learner on the columns themselves.
    Fold,
    /// `fold` if the map has a closed form, the criterion has folds and the learner is a ridge regression on the columns
    /// themselves, unless the predicted time is more than 3 times that of `train`; else `train`.
    #[default]
    Auto,
}

impl Scope {
    /// Traits of a map with this scope. `closed_form` is the part of the map that a formula refits in each fold, if any.
    pub(super) fn traits(self, closed_form: Option<RefitScope>) -> MapTraits {
        let in_folds = match (self, closed_form) {
            (Scope::Train, _) | (Scope::Auto, None) => RefitScope::No,
            (Scope::Fold, None) => RefitScope::Maps,
            (Scope::Fold | Scope::Auto, Some(part)) => part,
        };
        MapTraits { in_folds, is_refit_required: self == Scope::Fold, ..MapTraits::default() }
    }
}
