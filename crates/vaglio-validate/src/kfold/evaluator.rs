//! The evaluator of rounds of held-out rows: trials by an engine, with refits of unreliable ones.
//!
//! Without an engine, each subset is decomposed by itself. This serves all cases without a state: λ searched for every
//! subset, columns standardized in each fold, weights that differ between folds. See *Cross-validation without
//! refitting* in the book.

use crate::fits::SubsetFits;
use crate::mean::{mean, mean_squares, over_rounds};
use crate::refits::{Refit, SubsetScore, in_order_of_bounds, scores, settle};
use crate::rounds::Rounds;
use crate::trial_loss::TrialLoss;
use std::sync::Arc;
use vaglio_core::{
    Action, BoundBySquares, CacheEffect, Diagnostics, Evaluator, Feature, Result, Score, ScoreDetails, Winner, gather,
    minimum,
};
use vaglio_kernels::parallel;

/// The λ at which the trial of a subset is unreliable and may still be the lowest, in the order of their lower bounds.
fn unreliable_lambdas(trials: &[Vec<TrialLoss>], place: usize) -> Vec<usize> {
    let lowest = lowest_reliable(trials, place);
    let bound = |l: usize| trials[l][place].lower_bound;
    let may_win = |&l: &usize| trials[l][place].is_unreliable && bound(l) <= lowest;
    let mut lambdas: Vec<usize> = (0..trials.len()).filter(may_win).collect();
    lambdas.sort_by(|&a, &b| bound(a).total_cmp(&bound(b)));
    lambdas
}

/// The lowest reliable loss of a subset over λ.
fn lowest_reliable(trials: &[Vec<TrialLoss>], place: usize) -> f64 {
    let own = trials.iter().map(|lambda_trials| lambda_trials[place]);
    minimum(own.filter(|trial| !trial.is_unreliable).map(|trial| trial.loss))
}

impl Rounds<'_> {
    /// Scores subsets from their trials at each λ and records the diagnostics. Refits unreliable trials; a single subset
    /// keeps the residuals of these.
    fn settle(
        &self,
        trials: Vec<Vec<TrialLoss>>,
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature> + Sync,
    ) -> Result<Vec<SubsetScore>> {
        let unreliable: Vec<usize> =
            (0..count).filter(|&place| !unreliable_lambdas(&trials, place).is_empty()).collect();
        if !unreliable.is_empty() {
            tracing::trace!(subsets = unreliable.len(), "refitted from the rows");
        }
        let refit = |&place: &usize| {
            if count > 1 {
                self.sign().check()?;
            }
            self.refit(&trials, place, &subset(place))
        };
        let refits = parallel::map_slice(&unreliable, refit).into_iter().collect::<Result<Vec<_>>>()?;
        let (scored, diagnostics) = settle(self.lambdas(), trials, refits.into_iter().flatten().collect())?;
        self.recorder.note(diagnostics);
        Ok(scored)
    }

    /// Refits λ by λ until the next bound is above the lowest loss; the remaining λ cannot be best.
    fn refit(&self, trials: &[Vec<TrialLoss>], place: usize, subset: &[Feature]) -> Result<Vec<Refit>> {
        let (fits, mut refits) = (self.fit(subset), Vec::new());
        let mut lowest = lowest_reliable(trials, place);
        for lambda in unreliable_lambdas(trials, place) {
            if trials[lambda][place].lower_bound > lowest {
                break;
            }
            let (loss, residuals) = self.loss_and_residuals(&fits, self.lambdas()[lambda], lowest)?;
            lowest = lowest.min(loss);
            let residuals = if trials[lambda].len() == 1 { residuals } else { Vec::new() };
            refits.push(Refit { lambda, place, loss, residuals, rows_kept_out: 0 });
        }
        Ok(refits)
    }

    /// Whether a column is constant; states do not cover such columns.
    fn has_constant(&self, subset: &[Feature]) -> bool {
        subset.iter().any(|&f| !self.is_active(f))
    }

    /// Improves trials of removals; if several need a refit, one decomposition of the subset gives them.
    fn removals(
        &self,
        mut trials: Vec<Vec<TrialLoss>>,
        subset: &[Feature],
        candidates: &[Feature],
    ) -> Result<Vec<Vec<TrialLoss>>> {
        // One decomposition of the subset costs about as much as one refit without a column.
        let is_unreliable = |place: &usize| !unreliable_lambdas(&trials, *place).is_empty();
        let are_many = (0..candidates.len()).filter(is_unreliable).nth(1).is_some();
        if are_many && let Some(fits) = self.only().filter(|fits| fits.are_whole()) {
            let fit = fits.fit(subset);
            let unreliable = |lambda_trials: &Vec<TrialLoss>| lambda_trials.iter().any(|trial| trial.is_unreliable);
            let concerned =
                trials.iter_mut().zip(self.lambdas()).filter(|(lambda_trials, _)| unreliable(lambda_trials));
            for (lambda_trials, &lambda) in concerned {
                if let Some(found) = fit.removals(candidates, lambda)? {
                    *lambda_trials = found;
                }
            }
        }
        Ok(trials)
    }

    /// The best of the candidates, refitted if necessary in the order of their lower bounds.
    fn best(
        &self,
        trials: &[Vec<TrialLoss>],
        candidates: &[Feature],
        subset: impl Fn(Feature) -> Vec<Feature> + Sync,
    ) -> Result<Option<Winner>> {
        let bound = |k: usize| minimum(trials.iter().map(|lambda_trials| lambda_trials[k].lower_bound));
        let bounds = (0..candidates.len()).map(|k| (bound(k), k)).collect();
        let scored = in_order_of_bounds(bounds, usize::MAX, 1, |places, _| {
            let batch_trials = trials.iter().map(|lambda_trials| gather(lambda_trials, places)).collect();
            self.settle(batch_trials, places.len(), |k| subset(candidates[places[k]]))
        })?;
        let (places, scored) = scored.unwrap_or_default();
        Ok(Winner::among(&gather(candidates, &places), &scores(&scored)))
    }
}

/// States of a subset, each created on first use, and trials of its changes. Columns must not be constant.
pub(crate) trait FoldEngine<'d>: Send {
    /// The losses of the subset, one for each λ; `None` if the state does not determine them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<TrialLoss>>>;

    /// The losses with each candidate added or removed: λ × candidates.
    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<TrialLoss>>;

    /// Updates the states for a change; returns whether one was rebuilt.
    fn apply(&mut self, change: Action, feature: Feature) -> bool;

    /// Drops all states.
    fn reset(&mut self);

    /// The standard error at the λ of index `lambda`, if the state determines the loss.
    fn standard_error(&mut self, fits: &SubsetFits<'_>, subset: &[Feature], lambda: usize) -> Result<Option<f64>>;

    /// A copy that expects `candidates` to be added in this order. Without candidates, the copy is asked for losses
    /// only.
    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Box<dyn FoldEngine<'d> + 'd>;
}

/// Evaluator that scores a subset by the lowest mean over rounds among all λ.
pub(crate) struct KFoldEvaluator<'d> {
    rounds: Arc<Rounds<'d>>,
    /// The engine of each round; empty if subsets share no state.
    engines: Vec<Box<dyn FoldEngine<'d> + 'd>>,
    /// The score of the current subset once known; with its residuals unless it came from a state.
    scored: Option<SubsetScore>,
}

impl<'d> KFoldEvaluator<'d> {
    pub fn new(rounds: Rounds<'d>, engines: Vec<Box<dyn FoldEngine<'d> + 'd>>) -> Self {
        KFoldEvaluator { rounds: Arc::new(rounds), engines, scored: None }
    }

    /// Bounds of the scores of all subsets of some columns, for means of held-out squares.
    pub fn squares(&self) -> Option<BoundBySquares<'d>> {
        let rounds = Arc::clone(&self.rounds);
        let first = rounds.iter().next().filter(|_| !self.engines.is_empty())?;
        let is_bounded =
            |fits: &SubsetFits<'_>| fits.are_whole() && fits.rows.folds.is_of_others() && fits.scorer.is_of_squares();
        let (rows, scorer) = rounds.iter().all(is_bounded).then(|| (Arc::clone(&first.rows), first.scorer.clone()))?;
        Some(Box::new(move |columns: &[Feature]| {
            // The mean over several rounds is at least the squares that any fit leaves.
            let folds = rounds.only().map(|fits| &fits.rows.folds);
            mean_squares(&rows.data, &scorer, rounds.lambdas(), columns, folds)
        }))
    }

    /// The losses of the current subset, one for each λ; `None` if the state does not determine them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Vec<TrialLoss>>>> {
        if self.engines.is_empty() || self.rounds.has_constant(subset) {
            return Ok(None);
        }
        let all_rounds = self.engines.iter_mut().map(|engine| engine.current(subset));
        let all_rounds = all_rounds.collect::<Result<Option<Vec<_>>>>()?;
        let alone = |losses: Vec<TrialLoss>| losses.into_iter().map(|loss| vec![loss]).collect();
        let shares = self.rounds.shares();
        Ok(all_rounds.map(|all_rounds| over_rounds(all_rounds.into_iter().map(alone).collect(), shares)))
    }

    /// Trials of each λ; unknown if the subset or a candidate has a constant column.
    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Vec<TrialLoss>>> {
        let rounds = &*self.rounds;
        let trials = if rounds.has_constant(subset) {
            vec![vec![TrialLoss::UNKNOWN; candidates.len()]; rounds.lambdas().len()]
        } else {
            let all_rounds = self.engines.iter_mut().map(|engine| engine.trials(change, subset, candidates));
            let mut trials = over_rounds(all_rounds.collect(), rounds.shares());
            for (k, _) in candidates.iter().enumerate().filter(|(_, f)| !rounds.is_active(**f)) {
                trials.iter_mut().for_each(|lambda_trials| lambda_trials[k] = TrialLoss::UNKNOWN);
            }
            trials
        };
        match change {
            Action::Add => Ok(trials),
            Action::Remove => rounds.removals(trials, subset, candidates),
        }
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let score = self.score(subset)?;
        let known = self.scored.as_ref().and_then(|scored| self.rounds.error_of(scored));
        if known.is_some() || self.engines.is_empty() {
            return Ok(known);
        }
        let Some(place) = self.rounds.lambdas().iter().position(|&l| Some(l) == score.lambda) else {
            return Ok(None);
        };
        let is_reliable = self.current(subset)?.is_some_and(|trials| !trials[place][0].is_unreliable);
        let rounds = &*self.rounds;
        let is_independent = |fits: &SubsetFits<'_>| fits.are_independent || fits.rows.scores_classes_alike();
        if !is_reliable || rounds.iter().any(is_independent) {
            let (fits, lambda) = (rounds.fit(subset), rounds.lambdas()[place]);
            let (_, residuals) = rounds.loss_and_residuals(&fits, lambda, f64::INFINITY)?;
            return Ok(rounds.standard_error(&residuals));
        }
        let errors = rounds.iter().zip(&mut self.engines);
        let errors = errors.map(|(fits, engine)| engine.standard_error(fits, subset, place));
        let errors = errors.collect::<Result<Option<Vec<f64>>>>()?;
        Ok(errors.map(|errors| mean(errors, None)))
    }
}

impl Evaluator for KFoldEvaluator<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        if let Some(scored) = &self.scored {
            return Ok(scored.score);
        }
        let scored = match self.current(subset)? {
            None => self.rounds.scored_together(subset)?,
            Some(trials) => self.rounds.settle(trials, 1, |_| subset.to_vec())?.remove(0),
        };
        Ok(self.scored.insert(scored).score)
    }

    fn reset(&mut self, _: &[Feature]) -> Result<()> {
        self.scored = None;
        self.engines.iter_mut().for_each(|engine| engine.reset());
        Ok(())
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        if self.engines.is_empty() {
            let score = |&candidate: &Feature| {
                self.rounds.sign().check()?;
                Ok(self.rounds.score(&change.apply_to(subset, candidate))?.score)
            };
            return parallel::map_slice(candidates, score).into_iter().collect();
        }
        let trials = self.trials(change, subset, candidates)?;
        Ok(scores(&self.rounds.settle(trials, candidates.len(), |k| change.apply_to(subset, candidates[k]))?))
    }

    fn best(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        if self.engines.is_empty() {
            return Ok(Winner::among(candidates, &self.scores(change, subset, candidates)?));
        }
        let trials = self.trials(change, subset, candidates)?;
        self.rounds.best(&trials, candidates, |feature| change.apply_to(subset, feature))
    }

    /// Trials bring candidates up to date with the selected columns. Of two candidates, one remains a candidate after
    /// the other has entered.
    fn trace(&self, change: Action) -> CacheEffect {
        match change {
            _ if self.engines.is_empty() => CacheEffect::Nothing,
            Action::Add => CacheEffect::Begun,
            Action::Remove => CacheEffect::Lasting,
        }
    }

    fn apply(&mut self, change: Action, _: &[Feature], feature: Feature) -> Result<()> {
        self.scored = None;
        if self.engines.iter_mut().fold(false, |rebuilt, engine| rebuilt | engine.apply(change, feature)) {
            self.rounds.recorder.note(Diagnostics { rebuilt: 1, ..Diagnostics::default() });
        }
        Ok(())
    }

    fn details(&mut self, subset: &[Feature]) -> Result<ScoreDetails> {
        Ok(ScoreDetails { standard_error: self.standard_error(subset)?, ..ScoreDetails::default() })
    }

    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        if self.engines.is_empty() || self.rounds.has_constant(subset) {
            return Ok(None);
        }
        let candidates: Vec<Feature> = candidates.iter().copied().filter(|&f| self.rounds.is_active(f)).collect();
        let engines = self.engines.iter_mut().map(|engine| engine.fork(subset, &candidates)).collect();
        Ok(Some(Box::new(KFoldEvaluator { rounds: Arc::clone(&self.rounds), engines, scored: None })))
    }
}
