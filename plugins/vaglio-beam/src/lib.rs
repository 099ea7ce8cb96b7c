//! Beam search, an example to copy, written on the public API of `vaglio-search`.
//!
//! `use vaglio_beam as _;` registers it for pipeline files: `search: {kind: beam, width: 5, max_features: 10}`.

use std::collections::BTreeSet;
use vaglio_core::{Error, Feature, Result, Score, SearchExtent, StopReason, Winner, part};
use vaglio_search::{Search, SearchSettings, SearchStrategy, Space, Walk};

/// Keeps the `width` best subsets after each addition, and extends each of them by every feature.
///
/// The steps lead to the best subset after each addition: by one feature if it extends the previous best. Otherwise
/// the features that it lacks are removed in one step, and the others are added one by one. Subsets that are equal
/// up to duplicates take one place. Among ties the extension of the better subset is taken, then the one by the
/// feature of lowest index. `tolerance` and `patience` judge the best subsets, as in a greedy search.
///
/// With n features and s of them selected, O(width · n · s) trials, and `width` resets of the evaluator per step. A
/// width of 1 is the greedy search.
///
/// # Reference
/// B. T. Lowerre, *The HARPY speech recognition system*, Carnegie Mellon University (1976).
#[part(
    SearchStrategy,
    "beam",
    summary = "beam search: keep the best subsets after each addition, and extend each of them by every column",
    example = "search: {kind: beam, width: 5, max_features: 10}"
)]
pub struct Beam {
    /// Number of subsets kept.
    #[default(5)]
    pub width: usize,
}

/// Groups of a subset of whole groups, in order of entry.
fn groups(space: &Space<'_>, features: &[Feature]) -> Vec<Feature> {
    features.iter().copied().filter(|&first| !space.group(first).is_empty()).collect()
}

impl Beam {
    /// Creates a search for up to `max_features` features.
    #[expect(clippy::new_ret_no_self, reason = "a strategy with settings is a search")]
    pub fn new(max_features: usize) -> Search {
        Search::new(Beam::default()).max_features(max_features)
    }

    /// The `width` best extensions by one group, best first: the index of the extended subset, and the addition. The
    /// evaluator is at the first subset of the beam before and after.
    fn extensions(&self, walk: &mut Walk<'_, '_>, beam: &[Vec<Feature>]) -> Result<Vec<(usize, Winner)>> {
        let space = walk.space;
        let mut trials: Vec<Vec<(Feature, Score)>> = Vec::new();
        for kept in beam.iter().rev() {
            if walk.selected() != kept {
                walk.context.subset.reset(kept)?;
            }
            let remaining = space.most - kept.len();
            let can = |group: &&Vec<Feature>| !kept.contains(&group[0]) && group.len() <= remaining;
            let open: Vec<Feature> = space.groups().iter().filter(can).map(|group| group[0]).collect();
            let scores = space.score_additions(&mut walk.context.subset, &open)?;
            trials.push(open.into_iter().zip(scores).collect());
        }
        trials.reverse();

        let mut seen = BTreeSet::new();
        let mut found: Vec<(Score, usize, Feature)> = Vec::new();
        for (parent, kept) in beam.iter().enumerate() {
            let inside = groups(space, kept);
            for &(group, score) in &trials[parent] {
                let members = inside.iter().chain([&group]);
                let mut originals: Vec<Feature> = members.map(|&member| space.originals()[member]).collect();
                originals.sort_unstable();
                if score.loss < f64::INFINITY && seen.insert(originals) {
                    found.push((score, parent, group));
                }
            }
        }
        // Stable sort: ties keep the order in which they were found.
        found.sort_by(|(a, ..), (b, ..)| a.loss.total_cmp(&b.loss));
        found.truncate(self.width);
        let extension = |(score, parent, group): (Score, usize, Feature)| {
            let equal = trials[parent].iter().filter(|(other, trial)| *other != group && trial.loss == score.loss);
            let tied = equal.map(|&(other, _)| other).collect();
            (parent, Winner { feature: group, score, tied })
        };
        Ok(found.into_iter().map(extension).collect())
    }
}

/// Moves from the first of the beam to the first of the extensions, which become the beam.
fn advance(
    walk: &mut Walk<'_, '_>,
    beam: &[Vec<Feature>],
    extensions: Vec<(usize, Winner)>,
) -> Result<Vec<Vec<Feature>>> {
    let extended = |(parent, by): &(usize, Winner)| [&beam[*parent][..], walk.space.group(by.feature)].concat();
    let mut next: Vec<Vec<Feature>> = extensions.iter().map(extended).collect();
    if let Some((parent, by)) = extensions.into_iter().next() {
        if parent > 0 {
            leave_for(walk, &beam[parent])?;
        }
        walk.add(by)?;
        next[0] = walk.selected().to_vec();
    }
    Ok(next)
}

/// Moves from the current subset to another of the beam.
fn leave_for(walk: &mut Walk<'_, '_>, kept: &[Feature]) -> Result<()> {
    let space = walk.space;
    // Under constraints, the common or intermediate subsets may violate one.
    let next: Vec<Feature> = match space.rules() {
        Some(_) => kept.to_vec(),
        None => walk.selected().iter().copied().filter(|f| kept.contains(f)).collect(),
    };
    let score = walk.context.subset.try_subset(&next)?;
    walk.go_to(&next, score)?;
    for group in groups(space, kept) {
        if !walk.has(group) {
            let score = walk.addition(group)?;
            let originals = space.originals();
            let equal = walk.outside().into_iter().filter(|&g| g != group && originals[g] == originals[group]);
            walk.add(Winner { feature: group, score, tied: equal.collect() })?;
        }
    }
    Ok(())
}

impl SearchStrategy for Beam {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        let trials = self.width as f64 * forward.trials;
        // In the worst case every subset is replaced by one with nothing in common.
        let steps = forward.steps * (forward.steps + 3) / 2;
        Ok(SearchExtent { trials, steps, ..forward })
    }

    fn check_settings(&self, _: &SearchSettings) -> Result<()> {
        match self.width {
            0 => Err(Error::setting("width", "0 subsets cannot be kept; 1 is the least")),
            _ => Ok(()),
        }
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        walk.enter_forced()?;
        let mut beam = vec![walk.selected().to_vec()];
        loop {
            let extensions = self.extensions(walk, &beam)?;
            let Some(best) = extensions.first() else {
                walk.fitting()?;
                return Ok(walk.none_left());
            };
            walk.allow(best.1.score)?;
            beam = advance(walk, &beam, extensions)?;
        }
    }
}
