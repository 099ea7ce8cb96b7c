//! Subsets along the steps of a path.

use crate::LawResult;
use crate::law_violation::{must, violation};
use vaglio_core::{Action, Design, Feature, Score};
use vaglio_search::{Path, Step};

/// A subset on a search path.
pub(crate) struct Visit {
    /// Columns in order of entry, the initial ones first and in increasing order.
    pub subset: Vec<Feature>,
    /// Number of leading columns that were in the initial subset.
    pub from_start: usize,
    /// Score reported by the step; none for the initial subset.
    pub score: Option<Score>,
}

impl Visit {
    /// Tests for an equal set with equal entry order of the added columns.
    pub fn is_in_order(&self, subset: &[Feature]) -> bool {
        let mut start = subset[..self.from_start.min(subset.len())].to_vec();
        start.sort_unstable();
        start == self.subset[..self.from_start] && subset[start.len()..] == self.subset[self.from_start..]
    }
}

/// Returns the initial subset and the one after every step; fails if the steps are no valid walk over non-constant
/// columns.
pub(crate) fn replay(design: &Design, path: &Path) -> LawResult<Vec<Visit>> {
    let candidates = design.candidates();
    let mut subset = path.start();
    subset.sort_unstable();
    let mut from_start = subset.len();
    let mut visits = vec![Visit { subset: subset.clone(), from_start, score: None }];
    for (number, step) in path.steps.iter().enumerate() {
        let on = format_args!("step {} ({:?} {})", number + 1, step.action, step.feature);
        must(step.with.iter().all(|&f| f > step.feature), on, "the lowest column of a block", &step.with)?;
        for feature in moved_features(step) {
            let inside = subset.iter().position(|&f| f == feature);
            must(candidates.contains(&feature), on, "a column that is not constant", feature)?;
            match (step.action, inside) {
                (Action::Add, None) => subset.push(feature),
                (Action::Remove, Some(at)) => {
                    subset.remove(at);
                    from_start -= usize::from(at < from_start);
                }
                (action, _) => {
                    let expected = format!("a column that {action:?} can take");
                    return Err(violation(on, expected, format!("subset {subset:?}")));
                }
            }
        }
        must(step.size == subset.len(), on, format!("size {} of subset {subset:?}", subset.len()), step.size)?;
        must(step.tied.is_sorted_by(|a, b| a < b), on, "ties in increasing order", &step.tied)?;
        let lowest = step.tied.iter().all(|&f| f > step.feature);
        must(lowest, on, "the lowest index among those tied", &step.tied)?;
        visits.push(Visit { subset: subset.clone(), from_start, score: Some(step.score) });
    }
    Ok(visits)
}

/// Returns the columns that a step moves.
pub(crate) fn moved_features(step: &Step) -> impl Iterator<Item = Feature> {
    std::iter::once(step.feature).chain(step.with.iter().copied())
}
