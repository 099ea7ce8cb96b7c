//! Leave-one-out as k-fold cross-validation with folds of one row.

use super::settings::{Engine, KFold};
use crate::loo::Loo;
use crate::round::RepeatFolds;
use vaglio_core::Design;

impl KFold {
    /// Returns leave-one-out if it is equivalent: every row is a fold, no fold preprocesses columns, and the user chose
    /// no engine.
    pub(super) fn left_out(&self, design: &Design, rounds: &[RepeatFolds]) -> Option<Loo> {
        let (in_folds, [round]) = (design.problem().in_folds(), rounds) else { return None };
        let is_made_in_folds = in_folds.is_by_maps() || in_folds.is_by_formula();
        let are_rows = round.is_partition() && round.folds.is_single() && round.folds.is_of_others();
        let is_served = self.engine == Engine::Auto && are_rows && !is_made_in_folds;
        is_served.then(|| Loo { loss: self.loss.clone(), ..Loo::default() })
    }
}
