//! Random selection.

use crate::shuffle::{shuffled, stream};
use crate::{Flow, Move, Patience, Space, Walk, run};
use vaglio_core::{Design, Error, Outline, Path, Result, SearchContext, SearchStrategy, StopReason, part};

crate::settings! {
    /// Adds features in an order that is drawn, whether or not they lower the score: the baseline of other searches.
    ///
    /// The order follows from the seed and the number of columns, and from nothing that the data say, so that walks on folds
    /// go through the same features. With several `repeats` as many orders are walked one after another, and a step between
    /// them removes all that is not forced; the path holds the best subset of every size over all of them. Without
    /// `max_features` a walk ends at as many features as there are rows. Of duplicates the lowest index enters first,
    /// whichever is drawn; features whose addition scores +∞ are passed over. `tolerance` and `patience` end a walk, not
    /// the search.
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
        /// How many orders are walked.
        repeats: usize = 1,
        /// What the orders follow from; `null` is the seed of the pipeline.
        seed: Option<u64> = None,
    }
}

/// What the orders are drawn for, apart from other uses of one seed.
const ORDER: u64 = 5;

impl Random {
    /// Up to `max_features` features, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Random { max_features: Some(max_features), ..Random::default() }
    }

    fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        if self.repeats == 0 {
            return Err(Error::setting("repeats", "0 repeats; 1 is the least"));
        }
        let space = Space::new(self.settings(), design)?;
        Ok(if self.max_features.is_none() { space.within_rows() } else { space })
    }
}

impl SearchStrategy for Random {
    crate::by_settings!();

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = self.space(design)?;
        let forward = Outline::forward(space.features(), space.most);
        // Each feature is tried at most once in every order.
        let trials = space.features() as f64 * self.repeats as f64;
        let steps = self.repeats.saturating_mul(forward.largest + 1);
        Ok(space.outline(Outline { trials: trials.max(1.0), steps, ..forward }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.design())?;
        let seed = self.seed.unwrap_or(context.seed);
        let order = |repeat: usize| {
            let columns = shuffled(space.design.features(), stream(seed, ORDER, repeat as u64));
            columns.into_iter().filter_map(|first| space.group_of(first)).collect::<Vec<usize>>()
        };
        run(&space, context, &self.outline(context.design())?, |walk| {
            walk.enter_forced()?;
            let forced = walk.context.subset.selected().to_vec();
            let start = walk.score;
            let below = if walk.size() > 0 { start.loss } else { walk.comparable_empty() };
            let copies = copies(&space);
            let mut reason = enter(&order(0), &copies, below, walk)?;
            for repeat in 1..self.repeats {
                walk.go_to(&forced, start)?;
                reason = enter(&order(repeat), &copies, below, walk)?;
            }
            Ok(reason)
        })
    }
}

/// For each group those that are equal to it and itself, in order, at the first of them.
fn copies(space: &Space<'_>) -> Vec<Vec<usize>> {
    let mut copies = vec![Vec::new(); space.groups.len()];
    space.originals().iter().enumerate().for_each(|(group, &original)| copies[original].push(group));
    copies
}

/// Adds the groups in that order, but for those that are there and those that break a constraint, or that `max_features` has
/// no room for; of duplicates the first for whichever is drawn.
fn enter(order: &[usize], copies: &[Vec<usize>], start: f64, walk: &mut Walk<'_, '_>) -> Flow<StopReason> {
    let mut patience = Patience::new(&walk.space.settings);
    let (mut lowest, mut left_out) = (start, false);
    for &drawn in order {
        let alike = copies[walk.space.originals()[drawn]].iter().copied();
        let mut outside = alike.filter(|&group| !walk.inside[group]);
        let Some(group) = outside.next() else { continue };
        if !walk.has_room(group) {
            left_out = true;
            continue;
        }
        let tied = outside.map(|other| walk.space.groups[other][0]).collect();
        let score = walk.addition(group)?;
        if score.loss == f64::INFINITY {
            continue;
        }
        if let Err(reason) = patience.allow(lowest - score.loss, walk.has_least()) {
            return Ok(reason);
        }
        lowest = lowest.min(score.loss);
        walk.add(Move { group, score, tied })?;
    }
    Ok(if left_out || walk.size() >= walk.space.most { StopReason::MaxFeatures } else { walk.none_left() })
}
