//! Backward elimination.

use crate::rounds::{RemovalStep, sizes};
use crate::{Search, SearchSettings, SearchStrategy, Space, Walk};
use vaglio_core::{Result, SearchExtent, StopReason, part};

/// Starts from all features and removes the one whose removal scores best, again and again.
///
/// It stops at `min_features`, or at one feature by default; the cross-validated choice then judges the empty subset too.
/// `tolerance` and `patience` count once `max_features` is reached; a tolerance below 0 is a rise of the score that a
/// removal may cost.
///
/// With `step` several features are removed by one round of trials: those whose single removals cost least, and of equal
/// columns all but one. The path holds the visited sizes, `max_features` and `min_features` among them, and the step of a
/// round names all removed features. A tenth at a time takes n/0.1 trials, one at a time n²/2. Under constraints a round
/// keeps features whose removal would break one, and a round that would turn a sign removes one column.
///
/// The path begins with the full set, to which no step leads. If `min_features` is the number of features, nothing is
/// removed: the full set is scored, which chooses λ without a selection.
///
/// # Reference
/// T. Marill, D. Green, *On the effectiveness of receptors in recognition systems*, IEEE Transactions on Information
/// Theory 9 (1963). Several at a time: L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt, *Feature selection via
/// dependence maximization*, Journal of Machine Learning Research 13 (2012).
#[part(
    SearchStrategy,
    "backward",
    summary = "backward elimination: from all columns, remove the one that is missed least, again and again",
    example = "search: {kind: backward, min_features: 5}",
    title = "backward elimination"
)]
pub struct Backward {
    /// How many leave at a time: a number of columns, or a share of those that are left.
    #[default(RemovalStep::ONE)]
    pub step: RemovalStep,
}

impl Backward {
    /// Creates the search down to `min_features` features, one at a time.
    pub fn new(min_features: usize) -> Search {
        Search::new(Backward::default()).min_features(min_features)
    }
}

/// Size at which a walk ends.
fn least(space: &Space<'_>) -> usize {
    space.least.unwrap_or(1).max(1)
}

impl SearchStrategy for Backward {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let least = least(space).max(space.forced_features().len()).min(space.features());
        let one_by_one = SearchExtent::backward(space.features(), least);
        // Blocks larger than a step are removed one at a time.
        if self.step == RemovalStep::ONE || space.groups.iter().any(|group| group.len() > 1) {
            return Ok(one_by_one);
        }
        let sizes = sizes(self.step, space, least);
        let tried = |sizes: &[usize]| sizes.iter().map(|&size| size as f64).sum::<f64>();
        let trials = space.features() as f64 + tried(&sizes[..sizes.len().saturating_sub(1)]);
        Ok(SearchExtent { trials: trials.max(1.0), steps: sizes.len(), ..one_by_one })
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        if space.groups.is_empty() {
            return Ok(StopReason::NoCandidates);
        }
        walk.fill()?;
        let least = least(space);
        let sizes = sizes(self.step, space, least);
        loop {
            let counts = walk.size() <= space.most;
            let next = sizes.iter().copied().find(|&size| size < walk.size());
            let leaving = match next.filter(|next| next + 1 < walk.size()) {
                Some(next) => walk.cheapest_removals(next)?,
                None => Vec::new(),
            };
            // If a round turns a sign, one group is removed.
            if !leaving.is_empty() && walk.remove_together(&leaving, counts)? {
                continue;
            }
            let best = walk.best_removal(least)?;
            walk.allow(walk.score.loss - best.score.loss, counts)?;
            walk.remove(best)?;
        }
    }

    fn check_settings(&self, _: &SearchSettings) -> Result<()> {
        self.step.check()
    }
}
