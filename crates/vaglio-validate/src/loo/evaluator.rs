//! The evaluator of leave-one-out.

use crate::fits::fit_error;
use crate::rounds::Rounds;
use crate::subset_score::{SubsetScore, in_order_of_bounds, lowest_conditioning, scores};
use std::sync::Arc;
use vaglio_core::{
    Action, Cache, CacheEffect, Diagnostics, Evaluator, Feature, Recorder, Result, Score, SearchExtent, Winner, gather,
    minimum,
};
use vaglio_kernels::loo::{ColumnChange, LooState, RowSpectrum};
use vaglio_kernels::{Trial, is_unreliable};

/// Evaluator with a state for each λ and group of rows; a subset's score is the lowest over λ.
pub(super) struct LooEvaluator<'d> {
    /// The single round.
    rounds: Arc<Rounds<'d>>,
    /// Whether bounds may rule candidates out.
    is_bounded: bool,
    /// Whether each subset is changed at most once, so that data for other changes are not cached.
    changes_once: bool,
    /// Whether no column is tried twice, so that nothing is cached for later trials.
    tries_once: bool,
    /// The states; `None` for a subset that was set but not changed yet.
    states: Option<Vec<LooState<'d>>>,
    /// Score of a subset without states, from one reliable decomposition for all λ. Has a standard error if entries of
    /// paths have one.
    at_once: Option<SubsetScore>,
    /// Number of candidates that bounds did not rule out in the last step. The next step usually needs as many, and a
    /// batch shares the reads of the state.
    needed: usize,
    /// Whether bounds ruled out so few in the last step that all candidates are tried from now on.
    is_full: bool,
}

/// The lowest bound over all states at each place among the active columns, with the place.
fn lowest(bounds: &[Vec<f64>], places: &[usize]) -> impl Iterator<Item = (f64, usize)> {
    places.iter().map(|&place| (minimum(bounds.iter().map(|bounds| bounds[place])), place))
}

/// Number of candidates that bounds may always leave before the search tries all.
const LEAST_BOUNDED: usize = 32;
/// Number of trials allowed after data-free bounds, before other bounds are computed: `MOST_NEAR`, or one in `NEAR_OF`
/// candidates if that is more. A pass over all candidates costs as much as these trials.
const MOST_NEAR: usize = 15;
const NEAR_OF: usize = 8;
/// Divisor of the number of candidates: if bounds leave a larger share, later steps try all.
const FULL_OF: usize = 2;
/// Number of λ from which one decomposition for all of them costs less than a state for each.
const MANY: usize = 4;
/// Largest number of doubles of expected columns that a copy caches.
const MOST: usize = 1 << 27;

impl<'d> LooEvaluator<'d> {
    /// Creates the evaluator at the empty subset. `is_bounded` says whether bounds may rule candidates out, if one state
    /// covers all rows.
    pub fn new(rounds: Arc<Rounds<'d>>, is_bounded: bool, extent: &SearchExtent) -> Self {
        LooEvaluator {
            is_bounded: is_bounded && rounds.first().are_whole(),
            changes_once: extent.start == extent.largest && extent.steps == 1,
            tries_once: extent.trials <= rounds.first().design.candidates().len() as f64,
            rounds,
            states: None,
            at_once: None,
            needed: 1,
            is_full: false,
        }
    }

    /// The states, created on first use.
    fn states(&mut self, subset: &[Feature]) -> &mut [LooState<'d>] {
        self.at_once = None;
        let made = || LooState::together(self.rounds.states(subset));
        self.states.get_or_insert_with(made)
    }

    /// The score and standard error of a subset without states, if one decomposition is reliable for all λ.
    fn score_by_decomposition(&self, subset: &[Feature]) -> Result<Option<SubsetScore>> {
        let rounds = &self.rounds;
        if let Some(wide) = self.wide_score(subset)? {
            let error = wide.residuals.first().and_then(|own| rounds.first().standard_error(own));
            return Ok(Some(SubsetScore { error, ..wide }));
        }
        if rounds.losses.count() < MANY || subset.is_empty() {
            return Ok(None);
        }
        let fit = rounds.first().fit(subset);
        rounds.losses.score(subset, |lambda| fit.decomposed_loss(lambda))
    }

    /// The score of a subset with at least as many columns as rows. One decomposition serves all λ of the design. Returns
    /// `None` for a smaller subset, or if a λ is unreliable.
    fn wide_score(&self, subset: &[Feature]) -> Result<Option<SubsetScore>> {
        let fits = self.rounds.first();
        let (design, data) = (fits.design, &fits.rows.data);
        if !fits.are_whole() || subset.len() < design.rows() {
            return Ok(None);
        }
        let has_intercept = design.has_intercept();
        // The last such subset; the flag is the intercept.
        let cache = design.session::<Cache<(bool, Vec<usize>, RowSpectrum)>>();
        let wide = cache.get_or_try_make(
            |known| known.0 == has_intercept && known.1 == subset,
            || Ok((has_intercept, subset.to_vec(), RowSpectrum::new(data, subset).map_err(fit_error)?)),
        )?;
        let mut is_reliable = true;
        let scored = SubsetScore::lowest(design, |lambda| {
            let (residuals, conditioning) = wide.2.residuals(lambda);
            is_reliable &= !is_unreliable(conditioning);
            // The loss is not asked for residuals that are not numbers.
            let loss = if is_reliable { fits.scorer.loss(&residuals) } else { f64::INFINITY };
            Ok((loss, vec![residuals]))
        })?;
        Ok(is_reliable.then_some(scored))
    }

    /// The score of a subset whose states are new.
    fn score_of(rounds: &Rounds<'d>, states: &[LooState<'d>]) -> Result<Score> {
        let trials: Vec<Vec<Trial>> =
            states.iter().zip(rounds.scorers()).map(|(state, scorer)| vec![state.score(scorer)]).collect();
        Ok(rounds.scores_of_changes(states, &trials, &[ColumnChange::None])?[0])
    }

    /// The best addition by bounds; `None` if they ruled out too few candidates in the last step.
    ///
    /// Data-free bounds come first; the others follow if many candidates remain. Earlier trials tighten the bounds, but
    /// a resumed run has not seen them. Therefore nothing stored or noted may depend on which losing candidates were
    /// tried. Steps with unreliable trials share their refits, so they use the bounds of the state alone.
    fn best_by_bounds(
        &mut self,
        subset: &[Feature],
        candidates: &[Feature],
    ) -> Result<Option<(Vec<Feature>, Vec<Score>)>> {
        if self.is_full {
            return Ok(None);
        }
        let rounds = Arc::clone(&self.rounds);
        let active = &rounds.data().candidates;
        let places: Vec<usize> =
            candidates.iter().filter_map(|candidate| active.binary_search(candidate).ok()).collect();
        let most_near = (candidates.len() / NEAR_OF).max(MOST_NEAR);
        let mut plain = None;
        for (is_near, most) in [(true, most_near), (false, usize::MAX)] {
            let Some(bounded) = self.bounds(subset, is_near) else { continue };
            let scored = self.best_in_order(subset, &places, &bounded, most)?;
            let plain: &Vec<Vec<f64>> = plain.get_or_insert(bounded);
            if let Some(scored) = scored {
                let best = scored.1.first().map_or(f64::INFINITY, |score| score.loss);
                let left = lowest(plain, &places).filter(|(bound, _)| *bound <= best).count();
                self.is_full = left > (candidates.len() / FULL_OF).max(LEAST_BOUNDED);
                return Ok(Some(scored));
            }
        }
        Ok(None)
    }

    /// Lower bounds of all active columns for each state, from the data or without them; `None` if a state has none.
    fn bounds(&mut self, subset: &[Feature], is_near: bool) -> Option<Vec<Vec<f64>>> {
        let rounds = Arc::clone(&self.rounds);
        self.states(subset).iter_mut().map(|state| state.bounds(&rounds.first().scorer, is_near)).collect()
    }

    /// The best candidates, tried in the order of their bounds, with their equal scores. Candidates are given by their
    /// places among the active columns. Notes their diagnostics. `None` if more than `most` would be tried.
    fn best_in_order(
        &mut self,
        subset: &[Feature],
        places: &[usize],
        bounded: &[Vec<f64>],
        most: usize,
    ) -> Result<Option<(Vec<Feature>, Vec<Score>)>> {
        let rounds = Arc::clone(&self.rounds);
        let mut refined = bounded.to_vec();
        for (state, bounds) in self.states(subset).iter().zip(&mut refined) {
            bounds.iter_mut().zip(state.refinements(&rounds.first().scorer)).for_each(|(bound, by)| *bound += by);
        }
        let first = self.needed;
        let diagnostics = Recorder::new();
        let mut in_order = |bounds: &[Vec<f64>], most: usize, first: usize| {
            let exact = |batch: &[usize], best: f64| {
                let (scored, own) = self.exact(subset, bounds, batch, best)?;
                diagnostics.note(own);
                Ok(scored)
            };
            in_order_of_bounds(lowest(bounds, places).collect(), most, first, exact)
        };
        let mut found = in_order(&refined, most, first)?;
        if found.is_some() && diagnostics.take().is_some_and(|noted| noted.remade > 0) {
            found = in_order(bounded, usize::MAX, 1)?;
        }
        let Some((tried, mut scored)) = found else { return Ok(None) };
        tracing::trace!(tried = tried.len(), of = places.len(), "bounded step");
        let best = minimum(scored.iter().map(|scored| scored.score.loss));
        self.needed = lowest(&refined, places).filter(|(bound, _)| *bound <= best).count();
        let is_best = |scored: &SubsetScore| scored.score.loss <= best;
        let tried = tried.into_iter().zip(&scored).filter(|(_, scored)| is_best(scored));
        let features = tried.map(|(place, _)| rounds.data().candidates[place]).collect();
        scored.retain(is_best);
        let conditioning = lowest_conditioning(&scored);
        let refits = diagnostics.take().filter(|_| is_unreliable(conditioning)).unwrap_or_default();
        rounds.recorder.note(Diagnostics { conditioning, ..refits });
        Ok(Some((features, scores(&scored))))
    }

    /// Exact scores of a batch. Skips a λ with a bound above `best`, since it cannot win.
    fn exact(
        &mut self,
        subset: &[Feature],
        bounds: &[Vec<f64>],
        batch: &[usize],
        best: f64,
    ) -> Result<(Vec<SubsetScore>, Diagnostics)> {
        let rounds = Arc::clone(&self.rounds);
        let states = self.states(subset);
        let skipped = Trial::new(f64::INFINITY, 1.0);
        let mut trials = vec![vec![skipped; batch.len()]; states.len()];
        for (index, state) in states.iter_mut().enumerate() {
            let able: Vec<usize> = (0..batch.len()).filter(|&k| bounds[index][batch[k]] <= best).collect();
            let positions = gather(batch, &able);
            for (k, trial) in able.into_iter().zip(state.bounded_trials(&rounds.first().scorer, &positions)) {
                trials[index][k] = trial;
            }
        }
        let change = |&place: &usize| ColumnChange::Add(rounds.data().candidates[place]);
        let changes: Vec<ColumnChange> = batch.iter().map(change).collect();
        rounds.score_changes(states, &trials, &changes)
    }

    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let (rounds, tries_once) = (Arc::clone(&self.rounds), self.tries_once);
        let states = self.states(subset).iter_mut().zip(rounds.scorers());
        let tried = states.map(|(state, scorer)| match tries_once {
            true => state.trials_once(scorer, candidates),
            false => state.trials(scorer, candidates),
        });
        let trials: Vec<Vec<Trial>> = tried.collect();
        let changes: Vec<ColumnChange> = candidates.iter().copied().map(ColumnChange::Add).collect();
        let mut scores = rounds.scores_of_changes(self.states(subset), &trials, &changes)?;
        // States do not cover constant columns.
        for (candidate, score) in candidates.iter().zip(&mut scores).filter(|(c, _)| !rounds.data().is_active(**c)) {
            *score = Self::score_of(&rounds, &rounds.states(&Action::Add.apply_to(subset, *candidate)))?;
        }
        Ok(scores)
    }

    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let rounds = Arc::clone(&self.rounds);
        // States for a single question are not kept.
        let mut alone: Option<Vec<LooState<'_>>> = (self.states.is_none() && self.changes_once)
            .then(|| rounds.each(|data, lambda| LooState::for_removals(data, lambda, subset.to_vec())));
        let states = match &mut alone {
            Some(states) => &mut states[..],
            None => self.states(subset),
        };
        let tried = states.iter_mut().zip(rounds.scorers());
        let trials: Vec<Vec<Trial>> = tried.map(|(state, scorer)| state.removals(scorer, candidates)).collect();
        let changes: Vec<ColumnChange> = candidates.iter().copied().map(ColumnChange::Remove).collect();
        rounds.scores_of_changes(states, &trials, &changes)
    }
}

impl<'d> Evaluator for LooEvaluator<'d> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        if self.states.is_none() && self.at_once.is_none() {
            self.at_once = self.score_by_decomposition(subset)?;
        }
        if let Some(at_once) = &self.at_once {
            return Ok(at_once.score);
        }
        Self::score_of(&Arc::clone(&self.rounds), self.states(subset))
    }

    fn reset(&mut self, _: &[Feature]) -> Result<()> {
        (self.states, self.at_once, self.is_full) = (None, None, false);
        Ok(())
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        match change {
            Action::Add => self.additions(subset, candidates),
            Action::Remove => self.removals(subset, candidates),
        }
    }

    fn trace(&self, change: Action) -> CacheEffect {
        // Trials by bounds may have made the next ones full passes.
        if change == Action::Remove || self.is_full { CacheEffect::Lasting } else { CacheEffect::Begun }
    }

    fn apply(&mut self, change: Action, subset: &[Feature], feature: Feature) -> Result<()> {
        let states = self.states(subset);
        let is_rebuilt = match change {
            Action::Add => states.iter_mut().fold(false, |rebuilt, state| rebuilt | state.add(feature)),
            Action::Remove => !states.iter_mut().all(|state| state.remove(feature)),
        };
        if is_rebuilt {
            self.rounds.recorder.note(Diagnostics { rebuilt: 1, ..Diagnostics::default() });
        }
        if is_rebuilt && change == Action::Remove {
            (self.states, self.is_full) = (None, false);
        }
        Ok(())
    }

    fn best(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        if change == Action::Add
            && self.is_bounded
            && let Some(scored) = self.best_by_bounds(subset, candidates)?
        {
            return Ok(Winner::among(&scored.0, &scored.1));
        }
        Ok(Winner::among(candidates, &self.scores(change, subset, candidates)?))
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let score = self.score(subset)?;
        if let Some(at_once) = &self.at_once {
            return Ok(at_once.error);
        }
        let rounds = Arc::clone(&self.rounds);
        let states = self.states(subset);
        let first = states.iter().position(|state| Some(state.lambda()) == score.lambda);
        let Some(first) = first else { return Ok(None) };
        let (residuals, _) = rounds.residuals_after(&states[first..], &[ColumnChange::None]);
        Ok(residuals.first().and_then(|residuals| rounds.first().standard_error(residuals)))
    }

    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        let rounds = Arc::clone(&self.rounds);
        if rounds.data().rows().saturating_mul(candidates.len()).saturating_mul(rounds.lambdas().len()) > MOST {
            return Ok(None);
        }
        let states = self.states(subset).iter_mut().map(|state| state.fork(candidates)).collect();
        Ok(Some(Box::new(LooEvaluator { rounds, states: Some(states), at_once: None, ..*self })))
    }
}
