//! Backward elimination, by rounds in which several features may leave together.

use crate::moves::rank;
use crate::{Search, SearchSettings, SearchStrategy, Space, Walk};
use vaglio_core::{Action, Error, Feature, Result, Score, SearchExtent, StopReason, part, setting};

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
    /// Features removed at a time: a number of columns, or a share of those that are left.
    #[default(RemovalStep::ONE)]
    pub step: RemovalStep,
}

impl Backward {
    /// Creates the search down to `min_features` features, one at a time.
    pub fn new(min_features: usize) -> Search {
        Search::new(Backward::default()).min_features(min_features)
    }
}

impl SearchStrategy for Backward {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let least = space.smallest().max(space.forced_features().len()).min(space.features());
        let one_by_one = SearchExtent::backward(space.features(), least);
        // Blocks larger than a step are removed one at a time.
        if self.step == RemovalStep::ONE || space.groups().iter().any(|group| group.len() > 1) {
            return Ok(one_by_one);
        }
        let sizes = sizes(self.step, space, least);
        let tried = |sizes: &[usize]| sizes.iter().map(|&size| size as f64).sum::<f64>();
        let trials = space.features() as f64 + tried(&sizes[..sizes.len().saturating_sub(1)]);
        Ok(SearchExtent { trials: trials.max(1.0), steps: sizes.len(), ..one_by_one })
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        if space.groups().is_empty() {
            return Ok(StopReason::NoCandidates);
        }
        walk.fill()?;
        let least = space.smallest();
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
            walk.allow_drop(walk.score.loss - best.score.loss, counts)?;
            walk.remove(best)?;
        }
    }

    fn check_settings(&self, _: &SearchSettings) -> Result<()> {
        self.step.check()
    }
}

/// Features removed at a time.
#[setting]
#[derive(Copy, PartialEq)]
#[serde(untagged, expecting = "expected a whole number from 1 on, or a share between 0 and 1")]
pub enum RemovalStep {
    /// A number.
    Number(usize),
    /// A share of those that are left, rounded down, at least one.
    Share(f64),
}

impl RemovalStep {
    /// Removes one feature at a time.
    const ONE: Self = RemovalStep::Number(1);

    /// Refuses invalid numbers and shares.
    fn check(self) -> Result<()> {
        let refused = |found: String| {
            Err(Error::setting("step", format!("{found}; 0.1 removes a tenth of the columns, 5 five at a time")))
        };
        match self {
            RemovalStep::Number(0) => refused("no column would leave".into()),
            RemovalStep::Share(share) if !(share > 0.0 && share < 1.0) => {
                refused(format!("{share} is neither a share between 0 and 1 nor a whole number"))
            }
            _ => Ok(()),
        }
    }

    /// Size after a round.
    fn after(self, size: usize) -> usize {
        let leaving = match self {
            RemovalStep::Number(number) => number,
            RemovalStep::Share(share) => (share * size as f64) as usize,
        };
        size.saturating_sub(leaving.max(1))
    }
}

impl From<usize> for RemovalStep {
    fn from(number: usize) -> Self {
        RemovalStep::Number(number)
    }
}

impl From<f64> for RemovalStep {
    fn from(share: f64) -> Self {
        RemovalStep::Share(share)
    }
}

/// Sizes that a backward search visits, decreasing.
///
/// They depend only on the number of columns, constant ones included. So searches on folds visit the same sizes, although
/// more columns may be constant there. The largest and the smallest size of the result are among them.
fn sizes(step: RemovalStep, space: &Space<'_>, least: usize) -> Vec<usize> {
    let (most, mut size) = (space.most.max(least), space.features() + space.design.problem().constant().len());
    let mut sizes = Vec::new();
    while size > least {
        let next = step.after(size).max(least);
        size = if size > most { next.max(most) } else { next };
        sizes.push(size);
    }
    sizes.retain(|&size| size < space.features());
    sizes
}

impl Walk<'_, '_> {
    /// Cheapest groups to remove, each tried alone, until `left` features remain, by increasing score. Kept are: forced
    /// groups; one of equal groups while others may be removed; groups whose removal would break a constraint, signs not
    /// considered.
    fn cheapest_removals(&mut self, left: usize) -> Result<Vec<Feature>> {
        let selected = self.selected().to_vec();
        let removable = self.space.open(&selected, Action::Remove, &self.removable(0));
        let scores = self.space.trials(&mut self.context.subset, Action::Remove, &removable)?;
        let originals = self.space.originals();
        let mut copies = vec![0; originals.len()];
        let mut last = copies.clone();
        for group in self.space.members(&selected, true) {
            copies[originals[group]] += 1;
            last[originals[group]] = group;
        }
        let stays = |group: Feature| copies[originals[group]] > 1 && last[originals[group]] == group;
        let mut ranked = rank(scores, removable);
        ranked.sort_by_key(|(_, group)| stays(*group));
        let mut staying = selected;
        let fits = |(_, group): &(Score, Feature)| {
            let own = self.space.group(*group);
            let is_in = own.len() + left <= staying.len() && self.space.may_remove(&staying, *group);
            if is_in {
                staying.retain(|feature| !own.contains(feature));
            }
            is_in
        };
        Ok(ranked.into_iter().filter(fits).map(|(_, group)| group).collect())
    }

    /// Removes groups in one step, unless that gives a weight a wrong sign; returns whether they were removed. A step
    /// that `counts` may be a miss.
    fn remove_together(&mut self, groups: &[Feature], counts: bool) -> Result<bool> {
        let mut leaving = self.space.features_of(groups);
        leaving.sort_unstable();
        let before = self.selected().to_vec();
        self.context.subset.apply_all(Action::Remove, &leaving)?;
        let score = self.context.subset.score()?;
        if !self.space.features_keep_signs(self.selected(), score)? {
            self.context.subset.reset(&before)?;
            return Ok(false);
        }
        if let Err(reason) = self.allow_drop(self.score.loss - score.loss, counts) {
            self.context.subset.reset(&before)?;
            return Err(reason.into());
        }
        self.record_moves(Action::Remove, &leaving, score, Vec::new())?;
        Ok(true)
    }
}
