//! Forward selection.

use crate::{Search, SearchStrategy, Space, Walk};
use vaglio_core::{Result, SearchExtent, StopReason, part};

/// Adds the feature that lowers the score most, again and again.
///
/// Without `max_features` it ends at as many features as there are rows. If `tolerance` and `patience` are not given
/// either, it ends after ten consecutive steps that did not lower the score. Cross-validated searches end earlier, when the
/// held-out loss no longer falls.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
/// arXiv:1003.3570, algorithm 3.
#[part(
    SearchStrategy,
    "greedy",
    summary = "forward selection: add the column that lowers the score most, again and again",
    example = "search: {kind: greedy, max_features: 10}"
)]
pub struct Greedy {}

impl Greedy {
    /// Creates the search of up to `max_features` features.
    pub fn new(max_features: usize) -> Search {
        Search::new(Greedy {}).max_features(max_features)
    }
}

/// Number of steps without improvement after which a search without limits ends.
const PATIENCE: usize = 10;

impl SearchStrategy for Greedy {
    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        walk.enter_forced()?;
        loop {
            let best = walk.best_addition()?;
            walk.allow(best.score)?;
            walk.add(best)?;
        }
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Ok(space.forward())
    }

    fn limit(&self, space: &mut Space<'_>) {
        space.limit_to_rows();
        if space.settings.max_features.is_none() && space.settings.tolerance.is_none() {
            space.settings.patience = space.settings.patience.or(Some(PATIENCE));
        }
    }
}
