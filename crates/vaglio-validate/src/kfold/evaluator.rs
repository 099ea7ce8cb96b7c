//! The evaluator of k-fold cross-validation: trials by an engine, and refitting where these are unreliable.

use super::engine::{FoldEngine, Node, Spread};
use crate::fits::{Fits, Residuals, Scored};
use crate::kernel::lowest;
use crate::round::mean_of;
use crate::rounds::Rounds;
use crate::settle::{Outcome, in_order_of_bounds};
use rayon::prelude::*;
use vaglio_core::{Branch, Evaluator, Feature, Recorder, Result, Score, Trials, Winner, larger, smaller};

/// What the nodes of a search share.
pub(super) struct Shared<'d> {
    pub rounds: Rounds<'d>,
    pub lambdas: Vec<f64>,
    pub recorder: Recorder,
}

/// A subset for which trials are unreliable: its place, the λ concerned in the order of their lower bounds, and its lowest
/// loss over the others.
struct Open {
    place: usize,
    lambdas: Vec<(usize, f64)>,
    lowest: f64,
}

/// What refitting found: the loss of each λ that was refitted, and the lowest with its λ and residuals.
struct Refit {
    losses: Vec<(usize, f64)>,
    lowest: (f64, usize, Vec<Residuals>),
}

impl Open {
    /// `None` where no unreliable trial can be the lowest over λ, whatever was rounded.
    fn new(trials: &[Vec<Outcome>], place: usize) -> Option<Self> {
        let reliable = trials.iter().map(|of_lambda| of_lambda[place]).filter(|outcome| !outcome.is_unreliable);
        let lowest = reliable.map(|outcome| outcome.loss).fold(f64::INFINITY, f64::min);
        let bounds = trials.iter().map(|of_lambda| of_lambda[place]).enumerate();
        let mut lambdas: Vec<(usize, f64)> = bounds
            .filter(|(_, outcome)| outcome.is_unreliable && outcome.lower_bound <= lowest)
            .map(|(l, outcome)| (l, outcome.lower_bound))
            .collect();
        lambdas.sort_by(|a, b| a.1.total_cmp(&b.1));
        (!lambdas.is_empty()).then_some(Open { place, lambdas, lowest })
    }

    /// Refits until the next bound is above what was found: of the others the loss is known not to be lowest.
    fn refit(&self, shared: &Shared<'_>, subset: &[Feature]) -> Result<Refit> {
        let fits = shared.rounds.fit(subset);
        let mut found = Refit { losses: Vec::new(), lowest: (f64::INFINITY, usize::MAX, Vec::new()) };
        for &(l, bound) in &self.lambdas {
            let lowest = self.lowest.min(found.lowest.0);
            if bound > lowest {
                break;
            }
            let (loss, residuals) = shared.rounds.settled(&fits, shared.lambdas[l], lowest)?;
            found.losses.push((l, loss));
            if (loss, l) < (found.lowest.0, found.lowest.1) {
                found.lowest = (loss, l, residuals);
            }
        }
        Ok(found)
    }
}

impl Shared<'_> {
    /// Scores from the trials of subsets, given for each λ: the unreliable are refitted, then the lowest over λ is taken.
    fn settle(
        &self,
        trials: Vec<Vec<Outcome>>,
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature> + Sync,
    ) -> Result<Vec<Score>> {
        Ok(self.settled(trials, count, subset)?.into_iter().map(|scored| scored.score).collect())
    }

    /// The same with the residuals of those whose λ was refitted.
    fn settled(
        &self,
        mut trials: Vec<Vec<Outcome>>,
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature> + Sync,
    ) -> Result<Vec<Scored<Vec<Residuals>>>> {
        trials.iter().flatten().for_each(|outcome| self.recorder.met(outcome.conditioning));
        let open: Vec<Open> = (0..count).filter_map(|place| Open::new(&trials, place)).collect();
        let refit = |open: &Open| -> Result<Refit> {
            if count > 1 {
                self.rounds.sign().check()?;
            }
            open.refit(self, &subset(open.place))
        };
        let refits: Vec<Refit> = open.par_iter().map(refit).collect::<Result<_>>()?;
        if !open.is_empty() {
            tracing::trace!(subsets = open.len(), "refitted from the rows");
            self.recorder.remade(refits.iter().map(|refit| refit.losses.len()).sum(), 0);
        }
        let mut known: Vec<(usize, Vec<Residuals>)> = (0..count).map(|_| (usize::MAX, Vec::new())).collect();
        for (open, Refit { losses, lowest: (_, l, residuals) }) in open.iter().zip(refits) {
            losses.iter().for_each(|&(l, loss)| trials[l][open.place].loss = loss);
            known[open.place] = (l, residuals);
        }
        let scored = |(k, (l, residuals)): (usize, (usize, Vec<Residuals>))| {
            let score = lowest(self.lambdas.iter().zip(&trials).map(|(&l, trials)| (l, trials[k].loss)))?;
            let is_own = self.lambdas.get(l).copied() == score.lambda;
            Ok(Scored { score, residuals: if is_own { residuals } else { Vec::new() } })
        };
        known.into_iter().enumerate().map(scored).collect()
    }

    /// A constant column has no part in any state.
    fn has_constant(&self, subset: &[Feature]) -> bool {
        subset.iter().any(|&f| !self.rounds.is_active(f))
    }

    /// What is known of `candidates` where an engine tries those of `subset` that are not constant.
    fn tried(
        &self,
        subset: &[Feature],
        candidates: &[Feature],
        outcomes: impl FnOnce() -> Vec<Vec<Outcome>>,
    ) -> Vec<Vec<Outcome>> {
        if self.has_constant(subset) {
            return vec![vec![Outcome::UNKNOWN; candidates.len()]; self.lambdas.len()];
        }
        let mut trials = outcomes();
        for (k, _) in candidates.iter().enumerate().filter(|(_, f)| !self.rounds.is_active(**f)) {
            trials.iter_mut().for_each(|of_lambda| of_lambda[k] = Outcome::UNKNOWN);
        }
        trials
    }

    /// The trials of removals; where several are to be refitted, from one decomposition of the subset.
    fn removals(
        &self,
        engine: &mut dyn FoldEngine,
        subset: &[Feature],
        candidates: &[Feature],
    ) -> Result<Vec<Vec<Outcome>>> {
        let mut trials = self.tried(subset, candidates, || engine.removals(subset, candidates));
        // One decomposition of the subset costs about as much as refitting without one of its columns.
        let are_many = (0..candidates.len()).filter_map(|place| Open::new(&trials, place)).nth(1).is_some();
        if are_many && let Some(fits) = self.rounds.only().filter(|fits| fits.are_whole()) {
            let fit = fits.fit(subset);
            let unreliable = |of_lambda: &Vec<Outcome>| of_lambda.iter().any(|outcome| outcome.is_unreliable);
            let concerned = trials.iter_mut().zip(&self.lambdas).filter(|(of_lambda, _)| unreliable(of_lambda));
            for (of_lambda, &lambda) in concerned {
                if let Some(found) = fit.removals(candidates, lambda)? {
                    *of_lambda = found;
                }
            }
        }
        Ok(trials)
    }

    /// The best of the candidates, settled in the order of their lower bounds.
    fn best(
        &self,
        trials: &[Vec<Outcome>],
        candidates: &[Feature],
        subset: impl Fn(Feature) -> Vec<Feature> + Sync,
    ) -> Result<Option<Winner>> {
        let bound = |k: usize| trials.iter().map(|of_lambda| of_lambda[k].lower_bound).fold(f64::INFINITY, f64::min);
        let bounds = (0..candidates.len()).map(|k| (bound(k), k)).collect();
        let settled = in_order_of_bounds(bounds, usize::MAX, 1, |places, _| {
            let of_round = trials.iter().map(|of_lambda| places.iter().map(|&k| of_lambda[k]).collect()).collect();
            self.settle(of_round, places.len(), |k| subset(candidates[places[k]]))
        })?;
        let (tried, scores): (Vec<usize>, Vec<Score>) = settled.unwrap_or_default().into_iter().unzip();
        Ok(Winner::among(&tried.into_iter().map(|k| candidates[k]).collect::<Vec<_>>(), &scores))
    }
}

/// A subset's score is its lowest over λ.
pub(super) struct KFoldEvaluator<'d> {
    shared: Shared<'d>,
    engine: Box<dyn FoldEngine + 'd>,
    /// The score of the current subset once it is known, with its residuals where no state told it.
    scored: Option<Scored<Vec<Residuals>>>,
}

impl<'d> KFoldEvaluator<'d> {
    pub(super) fn new(shared: Shared<'d>, engine: Box<dyn FoldEngine + 'd>) -> Self {
        KFoldEvaluator { shared, engine, scored: None }
    }

    fn current(&mut self, subset: &[Feature]) -> Result<Option<Vec<Outcome>>> {
        if self.shared.has_constant(subset) { Ok(None) } else { self.engine.current(subset) }
    }
}

/// Trials of one subset from its outcome for each λ.
fn one_subset(outcomes: Vec<Outcome>) -> Vec<Vec<Outcome>> {
    outcomes.into_iter().map(|outcome| vec![outcome]).collect()
}

impl Evaluator for KFoldEvaluator<'_> {
    fn recorder(&self) -> Recorder {
        self.shared.recorder.clone()
    }

    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        if let Some(scored) = &self.scored {
            return Ok(scored.score);
        }
        let scored = match self.current(subset)? {
            None => self.shared.rounds.scored(subset)?,
            Some(outcomes) => self.shared.settled(one_subset(outcomes), 1, |_| subset.to_vec())?.remove(0),
        };
        Ok(self.scored.insert(scored).score)
    }

    fn reset(&mut self, _: &[Feature]) -> Result<()> {
        self.scored = None;
        self.engine.reset();
        Ok(())
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let trials = self.shared.tried(subset, candidates, || self.engine.additions(subset, candidates));
        scores.copy_from_slice(&self.shared.settle(trials, candidates.len(), |k| larger(subset, candidates[k]))?);
        Ok(())
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let trials = self.shared.removals(&mut *self.engine, subset, candidates)?;
        scores.copy_from_slice(&self.shared.settle(trials, candidates.len(), |k| smaller(subset, candidates[k]))?);
        Ok(())
    }

    fn best_addition(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let trials = self.shared.tried(subset, candidates, || self.engine.additions(subset, candidates));
        self.shared.best(&trials, candidates, |feature| larger(subset, feature))
    }

    fn best_removal(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let trials = self.shared.removals(&mut *self.engine, subset, candidates)?;
        self.shared.best(&trials, candidates, |feature| smaller(subset, feature))
    }

    fn can_skip(&self, trials: Trials<'_>) -> bool {
        matches!(trials, Trials::Additions(_) | Trials::BestAddition(_)) && self.engine.can_skip_additions()
    }

    fn skip(&mut self, subset: &[Feature], trials: Trials<'_>) -> Result<()> {
        if let Trials::Additions(candidates) | Trials::BestAddition(candidates) = trials
            && !self.shared.has_constant(subset)
        {
            // One of two is a candidate still when the other has entered.
            let few: Vec<Feature> =
                candidates.iter().copied().filter(|&f| self.shared.rounds.is_active(f)).take(2).collect();
            self.engine.skip_additions(subset, &few);
        }
        Ok(())
    }

    fn add(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.scored = None;
        self.engine.add(feature);
        Ok(())
    }

    fn remove(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.scored = None;
        if self.engine.remove(feature) {
            self.shared.recorder.rebuilt();
        }
        Ok(())
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let score = self.score(subset)?;
        if let Some(scored) = self.scored.as_ref().filter(|scored| !scored.residuals.is_empty()) {
            return Ok(self.shared.rounds.standard_error(&scored.residuals));
        }
        let Some(place) = self.shared.lambdas.iter().position(|&l| Some(l) == score.lambda) else { return Ok(None) };
        let is_reliable = self.current(subset)?.is_some_and(|outcomes| !outcomes[place].is_unreliable);
        let Shared { rounds, lambdas, .. } = &self.shared;
        if !is_reliable || rounds.iter().any(Fits::is_of_rows) {
            let residuals =
                rounds.fit(subset).iter().map(|fit| fit.residuals(lambdas[place])).collect::<Result<Vec<_>>>()?;
            return Ok(rounds.standard_error(&residuals));
        }
        let error = |(fits, spread): (&Fits<'_>, Spread)| match spread {
            Spread::Folds(sums) => Some(fits.scorer.error_over_folds(&sums, fits.rows.folds())),
            Spread::Residuals(residuals) => fits.standard_error(&residuals),
        };
        let errors = rounds.iter().zip(self.engine.spread(subset, place)?).map(error);
        Ok(errors.collect::<Option<Vec<f64>>>().and_then(|errors| mean_of(&errors)))
    }

    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        let (subset, later) = (subset.to_vec(), later.to_vec());
        let node = self.engine.tree(&subset, &later);
        Ok(Box::new(KFoldNode { shared: &self.shared, node, subset, later }))
    }
}

/// A node of a depth-first search, whose trials are settled like those of the evaluator.
struct KFoldNode<'e, 'd> {
    shared: &'e Shared<'d>,
    node: Box<dyn Node + 'e>,
    subset: Vec<Feature>,
    later: Vec<Feature>,
}

impl Branch for KFoldNode<'_, '_> {
    fn score(&mut self) -> Result<Score> {
        let current = if self.shared.has_constant(&self.subset) { None } else { self.node.current() };
        match current {
            None => Ok(self.shared.rounds.scored(&self.subset)?.score),
            Some(outcomes) => Ok(self.shared.settle(one_subset(outcomes), 1, |_| self.subset.clone())?[0]),
        }
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        let candidates: Vec<Feature> = places.iter().map(|&place| self.later[place]).collect();
        let trials = self.shared.tried(&self.subset, &candidates, || self.node.additions(places));
        let larger = |k: usize| larger(&self.subset, candidates[k]);
        scores.copy_from_slice(&self.shared.settle(trials, places.len(), larger)?);
        Ok(())
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Branch + '_>> {
        let (subset, later) = (larger(&self.subset, self.later[place]), self.later[place + 1..].to_vec());
        Ok(Box::new(KFoldNode { shared: self.shared, node: self.node.child(place), subset, later }))
    }
}
