//! Random selection.

use crate::{Search, SearchSettings, SearchStrategy, Space, Walk};
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{Error, Feature, Result, SearchExtent, StopReason, Winner, part};

/// Adds features in random order, whether or not they lower the score: a baseline for other searches.
///
/// The order depends only on the seed and the number of columns, so searches on folds use the same order. With several
/// `repeats` the orders are walked one after another; one step between them removes all but the forced features. The path
/// holds the best subset of each size over all orders. Without `max_features` a walk ends at as many features as
/// there are rows. Among duplicates the lowest index is added first; features whose addition scores +∞ are skipped.
/// `tolerance` and `patience` end a walk, not the search.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
/// arXiv:1003.3570, section 4.2.
#[part(
    SearchStrategy,
    "random",
    summary = "random selection: add columns in an order that is drawn, as a baseline",
    example = "search: {kind: random, max_features: 10, choose: last}",
    title = "random selection"
)]
pub struct Random {
    /// Number of orders that are walked.
    #[default(1)]
    pub repeats: usize,
    /// Seed of the orders; `null` is the seed of the pipeline.
    pub seed: Option<u64>,
}

/// Purpose of the orders, which separates them from other uses of the seed.
const ORDER: u64 = 5;

impl Random {
    /// Creates the search of up to `max_features` features.
    pub fn new(max_features: usize) -> Search {
        Search::new(Random::default()).max_features(max_features)
    }
}

impl SearchStrategy for Random {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        // Each feature is tried at most once in every order.
        let trials = space.features() as f64 * self.repeats as f64;
        let steps = self.repeats.saturating_mul(forward.largest + 1);
        Ok(SearchExtent { trials: trials.max(1.0), steps, ..forward })
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        let seed = self.seed.unwrap_or(walk.context.seed);
        let order = |repeat: usize| {
            let columns = random_order(space.design.features(), stream(seed, ORDER, repeat as u64));
            columns.into_iter().filter(|&first| !space.group(first).is_empty()).collect::<Vec<Feature>>()
        };
        walk.enter_forced()?;
        let forced = walk.selected().to_vec();
        let start = walk.score;
        let below = if walk.size() > 0 { start.loss } else { walk.comparable_empty() };
        let copies = copies(space);
        let mut reason = enter(&order(0), &copies, below, walk)?;
        for repeat in 1..self.repeats {
            walk.go_to(&forced, start)?;
            reason = enter(&order(repeat), &copies, below, walk)?;
        }
        Ok(reason)
    }

    fn check_settings(&self, _: &SearchSettings) -> Result<()> {
        match self.repeats {
            0 => Err(Error::setting("repeats", "0 repeats; 1 is the least")),
            _ => Ok(()),
        }
    }

    fn limit(&self, space: &mut Space<'_>) {
        space.limit_to_rows();
    }
}

/// Groups of duplicates, each listed at its first member, in order.
fn copies(space: &Space<'_>) -> Vec<Vec<Feature>> {
    let mut copies = vec![Vec::new(); space.design.features()];
    space.firsts().for_each(|group| copies[space.originals()[group]].push(group));
    copies
}

/// Adds the groups in that order. Skipped are: selected groups; groups that break a constraint or exceed `max_features`.
/// Among duplicates the first is added, whichever is drawn.
fn enter(order: &[Feature], copies: &[Vec<Feature>], start: f64, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
    let (mut lowest, mut left_out) = (start, false);
    walk.misses = 0;
    for &drawn in order {
        let duplicates = copies[walk.space.originals()[drawn]].iter().copied();
        let mut outside = duplicates.filter(|&group| !walk.has(group));
        let Some(group) = outside.next() else { continue };
        if !walk.has_room(group) {
            left_out = true;
            continue;
        }
        let tied = outside.collect();
        let score = walk.addition(group)?;
        if score.loss == f64::INFINITY {
            continue;
        }
        if let Err(reason) = walk.allow_drop(lowest - score.loss, walk.has_least()) {
            return Ok(reason);
        }
        lowest = lowest.min(score.loss);
        walk.add(Winner { feature: group, score, tied })?;
    }
    Ok(walk.end_of_order(left_out))
}
