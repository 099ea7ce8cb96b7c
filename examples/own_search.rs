//! A search of your own, on the public pieces of `vaglio-search`, under leave-one-out.
//!
//! `cargo run -p vaglio-examples own_search`

use linfa::traits::Fit;
use vaglio::{Selector, criteria::Loo, learners::Rls};

// ANCHOR: search
use vaglio_core::{Result, prelude::*};
use vaglio_search::{Choose, Search, SearchSettings, SearchStrategy, Space, Walk, if_any};

/// Takes the best addition or the best removal, whichever is better, and ends when neither lowers the score.
#[part(SearchStrategy, "stepwise")]
pub struct Stepwise {}

impl SearchStrategy for Stepwise {
    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        let least = space.smallest();
        // Counting removals bounds the number of steps by the extent.
        let mut removals = space.largest();
        walk.enter_forced()?;
        loop {
            let addition = if_any(walk.best_addition())?;
            let removal = if removals > 0 { if_any(walk.best_removal(least))? } else { None };
            let (now, size) = (walk.score.loss, walk.size());
            let lowers = |step: &Winner| step.score.loss < now;
            let is_best = |step: &Winner| addition.as_ref().is_none_or(|other| step.score.loss < other.score.loss);
            if let Some(removal) = removal.filter(|step| lowers(step) && is_best(step)) {
                walk.remove(removal)?;
                removals -= 1;
            } else if let Some(addition) = addition.filter(|step| lowers(step) || size < least) {
                walk.add(addition)?;
            } else {
                let taken_back = space.largest() - removals;
                walk.context.found.put("taken_back", taken_back);
                return Ok(StopReason::NoImprovement);
            }
        }
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        Ok(SearchExtent { steps: 3 * forward.steps, trials: 3.0 * forward.trials, ..forward })
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        let why = "it ends by itself, when no step lowers the score; leave it out";
        shared.refuse(&["tolerance", "patience"], why)
    }
}
// ANCHOR_END: search

/// Selects columns by the search above and trains ridge regression on them.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    // ANCHOR: use
    let search = Search::new(Stepwise {}).choose(Choose::Last);
    let fitted = Selector::params(Loo::default(), search, Rls::default()).fit(&dataset)?;
    // ANCHOR_END: use
    let ended = fitted.path().map(|path| path.stop_reason);
    println!("{}: {}", fitted.selected().join(", "), ended.map_or("", StopReason::sentence));
    assert_eq!(ended, Some(StopReason::NoImprovement));
    // Further results of the search, as in `selection.json` of a run.
    assert!(fitted.path().is_some_and(|path| path.found["taken_back"].is_number()));
    assert!((3..10).contains(&fitted.selected().len()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Stepwise;
    use vaglio_search::Search;

    // ANCHOR: laws
    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
        let criterion = vaglio::criteria::Loo::default();
        vaglio_testkit::check_search_on_standard_data(&Search::new(Stepwise {}), &criterion, 1e-9)
    }
    // ANCHOR_END: laws

    #[test]
    fn it_keeps_them_on_scores_that_compare_with_no_empty_subset() -> Result<(), vaglio_testkit::LawViolation> {
        let criterion: Box<dyn vaglio_core::Criterion> =
            serde_json::from_str(r#"{"kind": "mrmr"}"#).expect("a criterion");
        vaglio_testkit::check_search_on_standard_data(&Search::new(Stepwise {}), &*criterion, 1e-9)
    }
}
