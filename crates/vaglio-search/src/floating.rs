//! Floating selection: additions, with removals between them.

use crate::{Search, SearchStrategy, Space, Walk, if_any};
use std::collections::BTreeSet;
use vaglio_core::{Action, Feature, Result, SearchExtent, StopReason, part};

/// Adds the best feature, and removes superfluous ones before the next addition.
///
/// An addition must lower the score by ε, the `tolerance`, by default 1e-6. After each addition, features are removed one
/// at a time, cheapest first. A removal is accepted if it costs at most half the gain of the addition that last reached
/// this size, and gives a new subset. At least one feature stays. The first addition is made whatever it gains. Nothing is
/// selected if no subset on the path is ε below the empty one. The search ends when no addition gains ε, or at
/// `max_features`. After ten times as many removals as the largest subset has features, it only adds.
///
/// # Reference
/// T. Zhang, *Adaptive forward-backward greedy algorithm for learning sparse representations*, IEEE Transactions on
/// Information Theory 57 (2011); for regularized least squares T. Pahikkala, A. Airola, T. Salakoski, *Feature
/// selection for regularized least-squares: new computational short-cuts and fast algorithmic implementations*, MLSP
/// 2010.
#[part(
    SearchStrategy,
    "floating",
    summary = "forward selection that removes what has become superfluous after every addition",
    example = "search: {kind: floating, max_features: 10, tolerance: 0.000001}"
)]
pub struct Floating {}

impl Floating {
    /// Creates the search of up to `max_features` features.
    pub fn new(max_features: usize) -> Search {
        Search::new(Floating {}).max_features(max_features)
    }
}

impl SearchStrategy for Floating {
    /// Bounds the steps by the number of removals, and estimates three times the trials of greedy search.
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        let steps = forward.largest + 2 * most_removals(space);
        Ok(SearchExtent { steps, trials: 3.0 * forward.trials, ..forward })
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        walk.enter_forced()?;
        // The gain of the addition that last reached each size, and all visited subsets.
        let mut gains = vec![f64::NEG_INFINITY; space.features() + 1];
        let mut seen = BTreeSet::from([sort(walk.selected().to_vec())]);
        let mut removals = 0;
        loop {
            let best = walk.best_addition()?;
            let gain = walk.score.loss - best.score.loss;
            walk.allow_drop(gain, walk.has_least() && walk.size() > 0)?;
            walk.add(best)?;
            gains[walk.size()] = gain;
            seen.insert(sort(walk.selected().to_vec()));
            while removals < most_removals(space)
                && let Some(best) = if_any(walk.best_removal(1))?
            {
                let rest = space.after(walk.selected(), Action::Remove, best.feature);
                let is_cheap = best.score.loss - walk.score.loss <= 0.5 * gains[walk.size()];
                if !is_cheap || !seen.insert(sort(rest)) {
                    break;
                }
                removals += 1;
                walk.remove(best)?;
            }
        }
    }

    fn tolerance(&self) -> Option<f64> {
        Some(1e-6)
    }
}

fn most_removals(space: &Space<'_>) -> usize {
    10 * space.largest()
}

fn sort(mut subset: Vec<Feature>) -> Vec<Feature> {
    subset.sort_unstable();
    subset
}
