//! Exchanges of groups after a search: one for one, and if none helps, several for several.

use crate::settings::Polish;
use crate::space::Space;
use crate::walk::Walk;
use crate::{PathEntry, SubsetScorer};
use vaglio_core::{Action, Feature, Result, Score, SearchExtent, Winner};
use vaglio_kernels::tolerance::SCORE_GAIN;

/// Maximum number of groups that are exchanged at once.
const DEEPEST: usize = 5;

/// Maximum number of exchanges.
fn most_exchanges(space: &Space<'_>) -> usize {
    10 * space.groups().len()
}

impl Space<'_> {
    /// Adds the exchanges of `polish` to the extent of a search.
    pub(crate) fn with_polish(&self, extent: SearchExtent) -> SearchExtent {
        if self.settings.polish == Polish::None {
            return extent;
        }
        // A typical search makes few exchanges; each tries all pairs.
        let pairs = self.largest() as f64 * self.features() as f64;
        let steps = extent.steps + 2 + 2 * most_exchanges(self);
        SearchExtent { steps, trials: extent.trials + 4.0 * pairs, ..extent }
    }
}

/// Exchanges groups of equal size until no exchange and no oscillation lowers the score of the entry.
///
/// Before the first exchange the walk goes to the entry's subset in at most two steps. Cost: O(size) best additions per
/// exchange.
///
/// # Reference
/// P. Somol, P. Pudil, *Oscillating search algorithms for feature selection*, ICPR 2000.
pub(crate) fn polish(walk: &mut Walk<'_, '_>, entry: &PathEntry) -> Result<()> {
    let space = walk.space;
    let (mut at, mut score) = (entry.subset.clone(), entry.score);
    let mut known = walk.selected().to_vec();
    for _ in 0..most_exchanges(space) {
        let gains = |to: Score| score.loss - to.loss > SCORE_GAIN * score.loss.abs();
        let exchange = best_exchange(space, &mut walk.context.subset, &at)?;
        if let Some((out, entering)) = exchange.filter(|(_, entering)| gains(entering.score)) {
            if known != at {
                walk.context.subset.reset(&known)?;
                walk.go_to(&at, score)?;
            }
            score = entering.score;
            walk.move_together(Action::Remove, space.group(out), None)?;
            walk.add(entering)?;
            at = walk.selected().to_vec();
        } else if let Some((found, lower)) = oscillate(space, &mut walk.context.subset, &at, gains)? {
            walk.context.subset.reset(&known)?;
            walk.go_to(&found, lower)?;
            (at, score) = (found, lower);
        } else {
            return Ok(());
        }
        known.clone_from(&at);
    }
    Ok(())
}

/// Exchange of lowest score: the group that is removed, and the addition. Ties go to the lowest group that is removed;
/// among duplicates only the first is tried. The subset is `at` in the end.
pub(crate) fn best_exchange(
    space: &Space<'_>,
    subset: &mut SubsetScorer<'_>,
    at: &[Feature],
) -> Result<Option<(Feature, Winner)>> {
    let originals = space.originals();
    let [inside, outside] = [true, false].map(|is_in| space.members(at, is_in));
    let mut best: Option<(Feature, Winner)> = None;
    subset.reset(at)?;
    for &out in inside.iter().filter(|group| !space.forced.contains(group)) {
        let group = space.group(out);
        let others: Vec<Feature> =
            outside.iter().copied().filter(|&other| space.group(other).len() == group.len()).collect();
        let is_duplicate = inside.iter().any(|&other| other < out && originals[other] == originals[out]);
        if others.is_empty() || is_duplicate || !space.may_remove(at, out) {
            continue;
        }
        subset.apply_all(Action::Remove, group)?;
        // The walk makes two steps of an exchange, so the subset between them must keep the signs too.
        let entering = match space.keeps_signs(subset)? {
            true => space.best_change(subset, Action::Add, &others)?,
            false => None,
        };
        subset.apply_all(Action::Add, group)?;
        let Some(entering) = entering else { continue };
        if best.as_ref().is_none_or(|(_, best)| entering.score.loss < best.score.loss) {
            best = Some((out, entering));
        }
    }
    subset.reset(at)?;
    Ok(best)
}

/// Adds the best groups and then removes the cheapest, or the other way round: two groups, then three and so on, until
/// the score falls. The subset is arbitrary in the end.
fn oscillate(
    space: &Space<'_>,
    subset: &mut SubsetScorer<'_>,
    from: &[Feature],
    gains: impl Fn(Score) -> bool,
) -> Result<Option<(Vec<Feature>, Score)>> {
    for depth in 2..=DEEPEST {
        for up_first in [true, false] {
            let mut score = Some(Score::WORST);
            subset.reset(from)?;
            for k in 0..2 * depth {
                if score.is_some() {
                    score = oscillation_step(space, subset, (k < depth) == up_first)?;
                }
            }
            let Some(score) = score.filter(|score| gains(*score)) else { continue };
            if subset.selected().len() == from.len() {
                return Ok(Some((subset.selected().to_vec(), score)));
            }
        }
    }
    Ok(None)
}

/// Adds the best group or removes the cheapest; returns the score, or `None` if there is no such group.
fn oscillation_step(space: &Space<'_>, subset: &mut SubsetScorer<'_>, up: bool) -> Result<Option<Score>> {
    let mut groups = space.members(subset.selected(), !up);
    groups.retain(|group| up || !space.forced.contains(group));
    space.make_best_change(subset, if up { Action::Add } else { Action::Remove }, &groups)
}
