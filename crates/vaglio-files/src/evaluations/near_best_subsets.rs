//! Near-best subsets: those as good as the chosen one.
//!
//! An `exhaustive` search counts all of them by its bounds. For any other search, the subsets that it visited are
//! scored again on all rows: those after every step, in every fold at the chosen size and in every outer fold. So is
//! the chosen subset with each column removed or replaced. All of them keep to forced and excluded columns and to
//! constraints. A subset is as good if its score is higher by at most one standard error, or a given share. The standard
//! error is that of their difference on the same held-out rows.

use super::Evaluation;
use crate::trials::TrialDesign;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use vaglio_core::{Design, Error, Feature, HeldOut, Result, SearchExtent, gather, prediction_units, select_rows};
use vaglio_pipeline::resampling::{
    EVERY, FoldLosses, LossSums, Sample, Selection, StageMonitor, TargetsAndPredictions, chosen_in_folds,
};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{AlternativeRecord, AlternativesRecord, NestedEvaluation, SelectedRecord};
use vaglio_search::{Alternatives, Exhaustive, Rules};
use vaglio_validate::predicted_held_out;

/// Maximum number of subsets that are scored, those with sizes nearest to the chosen one.
const MOST: usize = 400;
/// Subsets of more than twice the chosen columns plus this number are left out.
const BEYOND: usize = 20;
/// Number of subsets that one job scores.
const OF_JOB: usize = 16;

/// Near-best subsets.
pub const EVALUATION: Evaluation = Evaluation {
    plan: |plan| {
        let sentence = || match plan.selector.search.kind() {
            "exhaustive" => "all subsets near the best, counted by one more search of all rows".into(),
            _ => format!("at most {MOST} subsets that the search visits, each scored again on all rows"),
        };
        Ok(plan.evaluate.alternatives.map(|_| sentence()))
    },
    ..Evaluation::new("as good", |run, found, watcher| {
        let Some(asked) = &run.input.evaluate.alternatives else { return Ok(()) };
        let sources = SubsetSources {
            trials: &run.trials().with_sign(&watcher.stop),
            sample: &run.prepared.sample,
            selection: run.selection,
            selected: &found.record.selected,
            nested: found.record.nested.as_ref(),
        };
        if let Some(near) = sources.near_best(asked, watcher)? {
            found.record.alternatives = Some(near);
        }
        Ok(())
    })
};

/// A selection with the sources of other subsets.
struct SubsetSources<'a> {
    trials: &'a TrialDesign<'a>,
    sample: &'a Sample,
    selection: &'a Selection,
    /// The chosen columns with their substitutes.
    selected: &'a [SelectedRecord],
    nested: Option<&'a NestedEvaluation>,
}

impl SubsetSources<'_> {
    /// Finds the near-best subsets; `None` if stopped.
    ///
    /// # Errors
    /// Returns the errors of the criterion's scores and of the maps. Returns [`Error::Setting`] for
    /// `evaluate.alternatives.within` if a standard error is asked for and not available.
    fn near_best(&self, asked: &Alternatives, watcher: &StageMonitor<'_>) -> Result<Option<AlternativesRecord>> {
        let TrialDesign { selector, design, .. } = self.trials;
        watcher.journal.once("alternatives", || {
            if selector.search.kind() == "exhaustive" {
                let mut counting = selector.search.clone();
                counting.strategy = Arc::new(Exhaustive { alternatives: Some(*asked) });
                if counting.check(&*selector.criterion, design).is_ok() {
                    return by_all_subsets(&selector.with_search(counting), design, watcher);
                }
            }
            self.by_visited_subsets(self.visited_subsets()?, asked, watcher)
        })
    }

    /// Subsets that the search visited and might have chosen, sorted, the chosen one first.
    fn visited_subsets(&self) -> Result<Vec<Vec<Feature>>> {
        let SubsetSources { trials, sample, selection, selected, nested } = *self;
        let names = trials.design.problem().names();
        let search = &trials.selector.search;
        let space = search.space(&trials.design).map_err(|error| error.under("search"))?;
        let rules = search.rules(&trials.design).map_err(|error| error.under("search"))?;
        let path = &selection.path;
        let chosen = path.subset();
        let most = 2 * chosen.len() + BEYOND;
        let mut visited: BTreeSet<Vec<Feature>> = BTreeSet::new();
        let mut visit = |subset: &[Feature]| {
            let keeps_rules = || rules.as_ref().is_none_or(|rules| rules.allows(subset));
            if subset.len() <= most && space.has_whole_groups(subset) && keeps_rules() {
                visited.insert(sorted(subset));
            }
        };
        visit(&[]);
        path.entries.iter().for_each(|entry| visit(&entry.subset));
        let mut subset = path.start();
        for step in &path.steps {
            step.follow(&mut subset);
            visit(&subset);
        }
        let places: HashMap<&String, Feature> = names.iter().zip(0..).collect();
        let outer = nested.iter().flat_map(|nested| &nested.per_fold).map(|fold| &fold.selected);
        for columns in chosen_in_folds(trials.selector, sample, &selection.chosen)?.iter().chain(outer) {
            let known: Option<Vec<Feature>> = columns.iter().map(|name| places.get(name).copied()).collect();
            known.iter().for_each(|subset| visit(subset));
        }
        for column in selected {
            let rest: Vec<Feature> = chosen.iter().copied().filter(|feature| *feature != column.index).collect();
            visit(&rest);
            column.substitutes.iter().flatten().for_each(|other| visit(&[&rest[..], &[other.index]].concat()));
        }
        let own = sorted(chosen);
        visited.remove(&own);
        let mut others: Vec<Vec<Feature>> = visited.into_iter().collect();
        others.sort_by_key(|subset| subset.len().abs_diff(own.len()));
        others.truncate(MOST - 1);
        Ok([vec![own], others].concat())
    }

    /// Scores subsets, on a design of their columns if that suffices. Adds the losses of the rows that the criterion
    /// holds out in its first round.
    fn score_subsets(
        &self,
        held_out: &HeldOut,
        clusters: &[u32],
        rules: Option<&Rules>,
        subsets: &[Vec<Feature>],
    ) -> Result<Vec<ScoredSubset>> {
        let whole = &self.trials.design;
        let criterion = &self.trials.selector.criterion;
        let largest = subsets.iter().map(Vec::len).max().unwrap_or(0);
        let extent = SearchExtent { start: 0, largest, trials: subsets.len() as f64, steps: largest };
        let columns = subsets.iter().flatten().copied();
        let (place, _) = self.trials.cheapest(columns, |trials| trials.estimate(&extent).flops);
        let design = &place.design;
        let losses = |subset: &[Feature], lambda: Option<f64>| -> Result<Option<LossSums>> {
            let Some(found) = predicted_held_out(design, held_out, subset, lambda)? else { return Ok(None) };
            let targets = select_rows(design.targets(), &found.rows);
            let weights = design.weights().map(|weights| gather(weights, &found.rows));
            let clusters = gather(clusters, &found.rows);
            let compared = TargetsAndPredictions {
                targets: targets.view(),
                predictions: found.predictions.view(),
                weights: weights.as_deref(),
                units: None,
                clusters: Some(&clusters),
            };
            Ok(criterion.traits().loss.map(|loss| LossSums::new(&*loss, compared, EVERY)))
        };
        let mut open = place.scorer(&extent)?;
        let mut subset_score = |subset: &Vec<Feature>| -> Result<ScoredSubset> {
            let own = place.places(subset);
            open.reset(&own)?;
            let score = open.score()?;
            let standard_error = open.standard_error()?;
            let keeps_signs = match rules {
                Some(rules) if score.loss.is_finite() => rules.wrong_signs(whole, subset, score)?.is_empty(),
                _ => true,
            };
            Ok(ScoredSubset { loss: score.loss, standard_error, losses: losses(&own, score.lambda)?, keeps_signs })
        };
        subsets.iter().map(&mut subset_score).collect()
    }

    /// Finds near-best subsets among those visited; the chosen one comes first.
    fn by_visited_subsets(
        &self,
        visited: Vec<Vec<Feature>>,
        asked: &Alternatives,
        watcher: &StageMonitor<'_>,
    ) -> Result<Option<AlternativesRecord>> {
        let (sample, TrialDesign { selector, design, .. }) = (self.sample, self.trials);
        let is_paired = asked.part().is_none() && prediction_units(design).is_none();
        let held_out = if is_paired { selector.criterion.folds(design)? } else { HeldOut::Nothing };
        // Each row is its own cluster if the learner leaves rows out.
        let known = sample.clusters();
        let clusters = if known.len() == design.rows() { known } else { (0..design.rows() as u32).collect() };
        let rules = selector.search.rules(design).map_err(|error| error.under("search"))?;
        let parts: Vec<_> = visited.chunks(OF_JOB).collect();
        let score_part = |job: usize| self.score_subsets(&held_out, &clusters, rules.as_ref(), parts[job]).map(Some);
        let Some(jobs) = watcher.jobs("alternatives", parts.len(), score_part)? else { return Ok(None) };
        let scored: Vec<ScoredSubset> = jobs.into_iter().flatten().collect();
        let Some(own) = scored.first() else { return Ok(None) };
        let loss = &*selector.loss(sample.task());
        let limit = match asked.part() {
            Some(part) => Some(own.loss + part * own.loss.abs()),
            None if own.losses.is_some() => None,
            None => match own.standard_error {
                Some(error) => Some(own.loss + error),
                None => {
                    let message = "the score of the chosen columns has no standard error here; give a number, a part of the score";
                    return Err(Error::setting("evaluate.alternatives.within", message));
                }
            },
        };
        let mut near = Vec::new();
        for (place, (subset, found)) in visited.iter().zip(&scored).enumerate() {
            let difference = found.loss - own.loss;
            let both = own.losses.as_ref().zip(found.losses.as_ref()).filter(|_| place > 0);
            let error = both.and_then(|(a, b)| FoldLosses::new([b], 1).difference(loss, &FoldLosses::new([a], 1)));
            let is_near = match limit {
                Some(limit) => found.loss <= limit,
                None => error.is_some_and(|error| difference <= error),
            };
            if place == 0 || is_near && found.keeps_signs {
                near.push(AlternativeRecord {
                    columns: subset.iter().map(|&feature| design.problem().names()[feature].clone()).collect(),
                    score: found.loss,
                    difference: (place > 0 && difference.is_finite()).then_some(difference),
                    difference_error: error,
                });
            }
        }
        let candidates = design.candidates().into_iter().map(|feature| design.problem().names()[feature].clone());
        Ok(Some(AlternativesRecord::from_visited(near, visited.len(), asked.count, limit, candidates)))
    }
}

/// Columns of a subset in increasing order.
fn sorted(subset: &[Feature]) -> Vec<Feature> {
    let mut sorted = subset.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Counts near-best subsets by an exhaustive search.
fn by_all_subsets(
    selector: &ValidSelector,
    design: &Design,
    watcher: &StageMonitor<'_>,
) -> Result<Option<AlternativesRecord>> {
    watcher.stage("alternatives", 1);
    let mut subtask = watcher.subtask(watcher.journal.within("alternatives"), 0);
    let path = selector.search_on(design, None, &mut subtask.monitor())?.path;
    watcher.end_piece(0);
    if path.stop_reason.is_partial() {
        return Ok(None);
    }
    Ok(AlternativesRecord::new(&path, |feature| design.problem().names()[feature].clone()))
}

/// A scored subset.
struct ScoredSubset {
    loss: f64,
    standard_error: Option<f64>,
    /// Losses of held-out rows, if they are predicted one by one.
    losses: Option<LossSums>,
    /// Whether weights have the signs that constraints ask for.
    keeps_signs: bool,
}

#[cfg(test)]
mod tests;
