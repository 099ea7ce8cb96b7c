//! Trials of columns, with the checks that every law needs.

use crate::broken::Law;
use crate::{LawViolation, SplitMix64};
use vaglio_core::{Criterion, Design, Feature, Score, SearchExtent, SubsetChange};
use vaglio_search::SubsetScorer;

/// Returns the candidates of a change: columns outside the subset, or inside.
pub(crate) fn change_candidates(change: SubsetChange, design: &Design, subset: &[Feature]) -> Vec<Feature> {
    match change {
        SubsetChange::Addition => free(design, subset),
        SubsetChange::Removal => subset.to_vec(),
    }
}

/// Applies a change.
pub(crate) fn commit(change: SubsetChange, subset: &mut SubsetScorer<'_>, feature: Feature) -> vaglio_core::Result<()> {
    match change {
        SubsetChange::Addition => subset.add(feature),
        SubsetChange::Removal => subset.remove(feature),
    }
}

/// Scores trials; fails if one is missing or NaN.
pub(crate) fn trials(
    law: Law,
    subset: &mut SubsetScorer<'_>,
    trial: SubsetChange,
    candidates: &[Feature],
) -> Result<Vec<Score>, LawViolation> {
    let before = subset.selected().to_vec();
    let on = || format!("trials of {trial:?} to subset {before:?}").to_lowercase();
    let mut scores = vec![Score::new(f64::NAN); candidates.len()];
    law.ran(on, || match trial {
        SubsetChange::Addition => subset.score_additions(candidates, &mut scores),
        SubsetChange::Removal => subset.score_removals(candidates, &mut scores),
    })?;
    for (candidate, score) in candidates.iter().zip(&scores) {
        law.number(|| format!("{} with candidate {candidate}", on()), score.loss)?;
    }
    Ok(scores)
}

/// Opens the empty subset under a criterion.
pub(crate) fn open<'d>(
    law: Law,
    criterion: &'d dyn Criterion,
    design: &'d Design,
) -> Result<SubsetScorer<'d>, LawViolation> {
    law.ran(|| "opening a subset".into(), || SubsetScorer::open(criterion, design, &whole(design)))
}

/// Opens a subset and adds columns one by one.
pub(crate) fn walked<'d>(
    law: Law,
    criterion: &'d dyn Criterion,
    design: &'d Design,
    subset: &[Feature],
) -> Result<SubsetScorer<'d>, LawViolation> {
    let mut walked = open(law, criterion, design)?;
    for &feature in subset {
        law.ran(|| format!("subset {subset:?}"), || walked.add(feature))?;
    }
    Ok(walked)
}

/// Evaluates the definition; fails on NaN.
pub(crate) fn evaluate(
    law: Law,
    criterion: &dyn Criterion,
    design: &Design,
    subset: &[Feature],
) -> Result<Score, LawViolation> {
    let on = || format!("the definition on subset {subset:?}");
    let score = law.ran(on, || criterion.evaluate(design, subset))?;
    law.number(on, score.loss)?;
    Ok(score)
}

/// Returns the extent of a search that adds every column.
pub(crate) fn whole(design: &Design) -> SearchExtent {
    let candidates = design.candidates().len();
    SearchExtent::forward(candidates, candidates)
}

/// Returns non-constant columns outside `subset`.
pub(crate) fn free(design: &Design, subset: &[Feature]) -> Vec<Feature> {
    design.candidates().into_iter().filter(|f| !subset.contains(f)).collect()
}

/// Returns at least three and at most `longest` non-constant columns in random order.
pub(crate) fn trail(law: Law, design: &Design, longest: usize, seed: u64) -> Result<Vec<Feature>, LawViolation> {
    let columns = free(design, &[]);
    law.must(columns.len() >= 3, || "the design".into(), "three columns that are not constant", columns.len())?;
    let order = SplitMix64::new(seed).order(columns.len());
    Ok(order.into_iter().take(longest.max(3)).map(|at| columns[at]).collect())
}
