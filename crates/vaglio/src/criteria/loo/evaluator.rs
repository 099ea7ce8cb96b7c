//! The evaluator of leave-one-out.

use super::branch::{LooBranch, Within};
use super::common::Common;
use super::settle::{careful, settle};
use std::sync::Arc;
use vaglio_core::{Evaluator, Feature, Result, Score, Winner};
use vaglio_kernels::loo::{Basis, Bounded, Change, Full, Trial};

/// What is kept of the columns that are not selected: nothing, bounds, or G x of each.
enum States<'d> {
    Basis(Vec<Basis<'d>>),
    Bounded(Vec<Bounded<'d>>),
    Full(Vec<Full<'d>>),
}

/// For each λ one state of every part of the rows; a subset's score is its lowest over λ.
pub(super) struct LooEvaluator<'d> {
    common: Arc<Common<'d>>,
    states: States<'d>,
    selected: Vec<Feature>,
    within: Within<'static>,
}

/// Candidates are tried in rounds of 1, 2, 4, … up to this many.
const ROUND: usize = 32;
/// Doubles beyond which a branch does not keep the columns that may follow.
const MOST: usize = 1 << 27;

impl<'d> LooEvaluator<'d> {
    /// The empty subset.
    pub fn new(common: Arc<Common<'d>>) -> Self {
        let states = States::Basis(common.bases(&[]));
        LooEvaluator { common, states, selected: Vec::new(), within: Within::all() }
    }

    fn bases(&self) -> Vec<&Basis<'d>> {
        match &self.states {
            States::Basis(all) => all.iter().collect(),
            States::Bounded(all) => all.iter().map(Bounded::basis).collect(),
            States::Full(all) => all.iter().map(Full::basis).collect(),
        }
    }

    fn take(&mut self) -> States<'d> {
        std::mem::replace(&mut self.states, States::Basis(Vec::new()))
    }

    /// Keeps G x of every column from here on.
    fn keep_all(&mut self) {
        self.states = States::Full(match self.take() {
            States::Basis(all) => all.into_iter().map(Full::new).collect(),
            States::Bounded(all) => all.into_iter().map(Bounded::into_full).collect(),
            States::Full(all) => all,
        });
    }

    /// The score of a subset that was just built.
    fn score_of(&self, bases: &[&Basis<'d>]) -> Result<Score> {
        let trials: Vec<Vec<Trial>> =
            bases.iter().zip(self.common.scorers()).map(|(basis, scorer)| vec![basis.score(scorer)]).collect();
        Ok(settle(&self.common, bases, &trials, &[Change::None])?[0])
    }

    /// The best addition by bounds; `None` when they tell too few candidates apart.
    fn best_by_bounds(&mut self, candidates: &[Feature]) -> Result<Option<Vec<(Feature, Score)>>> {
        let mut states = match self.take() {
            States::Basis(all) => all.into_iter().map(Bounded::new).collect(),
            States::Bounded(all) => all,
            full @ States::Full(_) => {
                self.states = full;
                return Ok(None);
            }
        };
        let bounds: Vec<Vec<f64>> = states.iter_mut().map(|s| s.bounds(&self.common.scorer)).collect();
        let features = states.first().map(|s| s.features().to_vec()).unwrap_or_default();
        self.states = States::Bounded(states);

        let mut wanted = vec![false; self.common.data().columns()];
        candidates.iter().for_each(|&c| wanted[c] = true);
        let mut order: Vec<usize> = (0..features.len()).filter(|&p| wanted[features[p]]).collect();
        let lowest = |p: usize| bounds.iter().map(|b| b[p]).fold(f64::INFINITY, f64::min);
        order.sort_by(|&p, &q| lowest(p).total_cmp(&lowest(q)).then(p.cmp(&q)));

        let allowance = (order.len() / 4).max(ROUND);
        let mut scored: Vec<(Feature, Score)> = Vec::new();
        let (mut best, mut next, mut round) = (f64::INFINITY, 0, 1);
        while next < order.len() && lowest(order[next]) <= best {
            if next >= allowance {
                return Ok(None);
            }
            let batch: Vec<usize> =
                order[next..].iter().copied().take(round).take_while(|&p| lowest(p) <= best).collect();
            for (position, score) in batch.iter().zip(self.exact(&bounds, &batch, best, &features)?) {
                best = best.min(score.loss);
                scored.push((features[*position], score));
            }
            next += batch.len();
            round = (2 * round).min(ROUND);
        }
        tracing::trace!(tried = next, of = order.len(), "bounded step");
        Ok(Some(scored))
    }

    /// Exact scores of a batch; a λ whose bound is above `best` cannot win and is left out.
    fn exact(&mut self, bounds: &[Vec<f64>], batch: &[usize], best: f64, features: &[Feature]) -> Result<Vec<Score>> {
        let States::Bounded(states) = &mut self.states else { return Ok(Vec::new()) };
        let skipped = Trial::of(f64::INFINITY, 1.0);
        let mut trials = vec![vec![skipped; batch.len()]; states.len()];
        for (index, state) in states.iter_mut().enumerate() {
            let able: Vec<usize> = (0..batch.len()).filter(|&k| bounds[index][batch[k]] <= best).collect();
            let positions: Vec<usize> = able.iter().map(|&k| batch[k]).collect();
            for (k, trial) in able.into_iter().zip(state.trials(&self.common.scorer, &positions)) {
                trials[index][k] = trial;
            }
        }
        let changes: Vec<Change> = batch.iter().map(|&position| Change::Add(features[position])).collect();
        settle(&self.common, &self.bases(), &trials, &changes)
    }
}

impl Evaluator for LooEvaluator<'_> {
    fn selected(&self) -> &[Feature] {
        &self.selected
    }

    fn score(&mut self) -> Result<Score> {
        self.score_of(&self.bases())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.states = States::Basis(self.common.bases(subset));
        self.selected = subset.to_vec();
        Ok(())
    }

    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.keep_all();
        let States::Full(states) = &mut self.states else { return Ok(()) };
        let trials: Vec<Vec<Trial>> =
            states.iter_mut().zip(self.common.scorers()).map(|(s, scorer)| s.trials(scorer, candidates)).collect();
        let changes: Vec<Change> = candidates.iter().copied().map(Change::Add).collect();
        scores.copy_from_slice(&settle(&self.common, &self.bases(), &trials, &changes)?);
        // A constant column has no state of its own.
        for (candidate, score) in candidates.iter().zip(scores).filter(|(c, _)| !self.common.data().is_active(**c)) {
            let larger: Vec<Feature> = self.selected.iter().chain([candidate]).copied().collect();
            *score = self.score_of(&self.common.bases(&larger).iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let scorers = self.common.scorers();
        let trials: Vec<Vec<Trial>> = match &mut self.states {
            States::Basis(all) => all.iter_mut().zip(scorers).map(|(s, of)| s.removals(of, candidates)).collect(),
            States::Bounded(all) => all.iter_mut().zip(scorers).map(|(s, of)| s.removals(of, candidates)).collect(),
            States::Full(all) => all.iter_mut().zip(scorers).map(|(s, of)| s.removals(of, candidates)).collect(),
        };
        let changes: Vec<Change> = candidates.iter().copied().map(Change::Remove).collect();
        scores.copy_from_slice(&settle(&self.common, &self.bases(), &trials, &changes)?);
        Ok(())
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        match &mut self.states {
            States::Basis(all) => all.iter_mut().for_each(|s| s.add(feature)),
            States::Bounded(all) => all.iter_mut().for_each(|s| s.add(feature)),
            States::Full(all) => all.iter_mut().for_each(|s| s.add(feature)),
        }
        self.selected.push(feature);
        Ok(())
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        let goes_on = match &mut self.states {
            States::Basis(all) => all.iter_mut().all(|s| s.remove(feature)),
            States::Bounded(all) => all.iter_mut().all(|s| s.remove(feature)),
            States::Full(all) => all.iter_mut().all(|s| s.remove(feature)),
        };
        self.selected.retain(|&f| f != feature);
        if !goes_on {
            self.states = States::Basis(self.common.bases(&self.selected));
        }
        Ok(())
    }

    fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        if self.common.bounded
            && let Some(scored) = self.best_by_bounds(candidates)?
        {
            let (tried, scores): (Vec<Feature>, Vec<Score>) = scored.into_iter().unzip();
            return Ok(Winner::among(&tried, &scores));
        }
        let mut scores = vec![Score::WORST; candidates.len()];
        self.score_additions(candidates, &mut scores)?;
        Ok(Winner::among(candidates, &scores))
    }

    fn standard_error(&mut self) -> Result<Option<f64>> {
        let score = self.score()?;
        let bases = self.bases();
        let Some(first) = bases.iter().position(|b| Some(b.lambda()) == score.lambda) else { return Ok(None) };
        let residuals = careful(&self.common, &bases[first..], &[Change::None]);
        Ok(residuals.first().and_then(|residuals| self.common.scorer.standard_error(residuals)))
    }

    fn branch(&self, feature: Feature, later: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        let size = self.common.data().rows().saturating_mul(later.len()).saturating_mul(self.common.lambdas.len());
        if !self.common.is_whole || size > MOST {
            return Ok(None);
        }
        let larger: Vec<Feature> = self.selected.iter().chain([&feature]).copied().collect();
        let bases = self.common.bases(&larger);
        Ok(Some(Box::new(LooBranch::new(Arc::clone(&self.common), &bases, later, &self.within))))
    }

    fn bound(&mut self, later: &[Feature]) -> Result<f64> {
        if !self.common.is_whole {
            return Ok(f64::NEG_INFINITY);
        }
        let least_weight = self.bases().iter().map(|b| b.least_weight()).fold(f64::INFINITY, f64::min);
        let members: Vec<Feature> = self.selected.iter().chain(later).copied().collect();
        let fit = self.within.part(self.common.data(), &members);
        Ok(fit.map_or(f64::NEG_INFINITY, |fit| fit.bound(&self.common.scorer, least_weight)))
    }

    fn engine(&self) -> &'static str {
        "dual"
    }
}
