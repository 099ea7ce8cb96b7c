//! The evaluator of rounds of held-out rows: trials by an engine, with refits of unreliable ones.
//!
//! Without an engine, each subset is decomposed by itself. This serves all cases without a state: λ searched for every
//! subset, columns standardized in each fold, weights that differ between folds. See *Cross-validation without
//! refitting* in the book.

use crate::fits::RoundFits;
use crate::mean::mean;
use crate::rounds::Rounds;
use crate::subset_score::{SubsetScore, scores};
use std::sync::Arc;
use vaglio_core::{Action, CacheEffect, Diagnostics, Evaluator, Feature, Result, Score, Winner};
use vaglio_kernels::{Trial, parallel};

/// States of a subset, each created on first use, and trials of its changes. Columns must not be constant.
pub(crate) trait FoldEngine<'d>: Send {
    /// The losses of the subset, λ × 1; `None` if the state does not determine them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Vec<Trial>>>>;

    /// The losses with each candidate added or removed: λ × candidates.
    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Trial>>;

    /// Updates the states for a change; returns whether one was rebuilt.
    fn apply(&mut self, change: Action, feature: Feature) -> bool;

    /// Drops all states.
    fn reset(&mut self);

    /// The standard error at the λ of index `lambda`, if the state determines the loss.
    fn standard_error(&mut self, fits: &RoundFits<'_>, subset: &[Feature], lambda: usize) -> Result<Option<f64>>;

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
    pub fn new(rounds: Arc<Rounds<'d>>, engines: Vec<Box<dyn FoldEngine<'d> + 'd>>) -> Self {
        KFoldEvaluator { rounds, engines, scored: None }
    }

    /// The losses of the current subset, λ × 1; `None` if the state does not determine them.
    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Vec<Trial>>>> {
        if self.engines.is_empty() || self.rounds.has_constant(subset) {
            return Ok(None);
        }
        let all_rounds = self.engines.iter_mut().map(|engine| engine.current(subset));
        let all_rounds = all_rounds.collect::<Result<Option<Vec<_>>>>()?;
        Ok(all_rounds.map(|all_rounds| self.rounds.mean_trials(all_rounds)))
    }

    /// Trials of each λ; unknown if the subset or a candidate has a constant column.
    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Vec<Trial>>> {
        let rounds = &*self.rounds;
        let trials = if rounds.has_constant(subset) {
            vec![vec![Trial::UNKNOWN; candidates.len()]; rounds.lambdas().len()]
        } else {
            let all_rounds = self.engines.iter_mut().map(|engine| engine.trials(change, subset, candidates));
            let mut trials = rounds.mean_trials(all_rounds.collect());
            for (k, _) in candidates.iter().enumerate().filter(|(_, f)| !rounds.is_active(**f)) {
                trials.iter_mut().for_each(|lambda_trials| lambda_trials[k] = Trial::UNKNOWN);
            }
            trials
        };
        match change {
            Action::Add => Ok(trials),
            Action::Remove => rounds.removals(trials, subset, candidates),
        }
    }
}

impl Evaluator for KFoldEvaluator<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        if let Some(scored) = &self.scored {
            return Ok(scored.score);
        }
        let scored = match self.current(subset)? {
            None => self.rounds.scored_together(subset)?,
            Some(trials) => self.rounds.score_trials(trials, 1, |_| subset.to_vec())?.remove(0),
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
        Ok(scores(&self.rounds.score_trials(trials, candidates.len(), |k| change.apply_to(subset, candidates[k]))?))
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

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let score = self.score(subset)?;
        let known = self.scored.as_ref().and_then(|scored| match &scored.residuals[..] {
            [] => scored.error,
            residuals => scored.error.or_else(|| self.rounds.standard_error(residuals)),
        });
        if known.is_some() || self.engines.is_empty() {
            return Ok(known);
        }
        let Some(place) = self.rounds.lambdas().iter().position(|&l| Some(l) == score.lambda) else {
            return Ok(None);
        };
        let is_reliable = self.current(subset)?.is_some_and(|trials| !trials[place][0].is_unreliable);
        let rounds = &*self.rounds;
        let is_independent = |fits: &RoundFits<'_>| fits.are_independent || fits.rows.balances_losses();
        if !is_reliable || rounds.iter().any(is_independent) {
            let (fits, lambda) = (rounds.fit(subset), rounds.lambdas()[place]);
            let (_, residuals) = rounds.loss_and_residuals(&fits, lambda, f64::INFINITY)?;
            return Ok(rounds.standard_error(&residuals));
        }
        let errors = rounds.iter().zip(&mut self.engines);
        let errors = errors.map(|(fits, engine)| engine.standard_error(fits, subset, place));
        let errors = errors.collect::<Result<Option<Vec<f64>>>>()?;
        Ok(errors.map(mean))
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
