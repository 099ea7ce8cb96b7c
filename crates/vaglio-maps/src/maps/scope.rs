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
    /// Traits of a map with this scope. `closed_form` says how the map is refitted in each fold by a formula, if there is
    /// one; its argument says whether that is required.
    pub(super) fn traits(self, closed_form: Option<fn(bool) -> RefitScope>) -> MapTraits {
        let in_folds = match (self, closed_form) {
            (Scope::Fold, Some(refit)) => refit(true),
            (Scope::Auto, Some(refit)) => refit(false),
            (Scope::Fold, None) => RefitScope::Maps,
            (Scope::Train, _) | (Scope::Auto, None) => RefitScope::No,
        };
        MapTraits { in_folds, ..MapTraits::default() }
    }
}
