//! From which map on a chain is fitted anew in each fold.

use std::sync::Arc;
use vaglio_core::{InFolds, Map};

/// The first map that is fitted anew in each fold, as all behind it are: where one must be and has no closed form, the first
/// that may be.
pub(super) fn first_fitted_in_folds(maps: &[Arc<dyn Map>]) -> Option<usize> {
    let last = maps.len().checked_sub(1)?;
    // Standardizing last has a closed form.
    let must = |(at, map): (usize, &Arc<dyn Map>)| {
        map.is_fitted_in_folds() || (at < last && map.in_folds() == Some(InFolds::Required))
    };
    if !maps.iter().enumerate().any(must) {
        return None;
    }
    first_that_may(maps)
}

/// The first map that is fitted anew in folds, if it can be.
pub(super) fn first_that_may(maps: &[Arc<dyn Map>]) -> Option<usize> {
    maps.iter().position(|map| map.is_fitted_in_folds() || map.in_folds().is_some() || map.imputes_in_folds().is_some())
}
