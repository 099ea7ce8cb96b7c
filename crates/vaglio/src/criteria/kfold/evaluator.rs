//! The evaluator of k-fold cross-validation: a way to the scores, and refitting where it has lost its digits.

use super::any_lambda::AnyLambda;
use super::way::{Spread, Tried, Way};
use crate::criteria::kernel::lowest;
use crate::criteria::refined::Fits;
use rayon::prelude::*;
use std::sync::Arc;
use vaglio_core::{Error, Evaluator, Feature, Result, Score, Winner};
use vaglio_kernels::linalg::Failure;

/// What all evaluators of a design share.
pub(super) struct Shared<'d> {
    /// For what has lost its digits.
    pub fits: AnyLambda<'d>,
    pub lambdas: Vec<f64>,
}

/// A subset's score is its lowest over λ.
pub(super) struct KFoldEvaluator<'e, 'd> {
    shared: Arc<Shared<'d>>,
    way: Box<dyn Way + 'e>,
    selected: Vec<Feature>,
    /// For additions of later columns alone.
    is_branch: bool,
    /// The score of the current subset, once it is known.
    settled: Option<Score>,
}

impl<'e, 'd> KFoldEvaluator<'e, 'd> {
    pub(super) fn new(shared: Shared<'d>, way: Box<dyn Way + 'e>) -> Self {
        KFoldEvaluator { shared: Arc::new(shared), way, selected: Vec::new(), is_branch: false, settled: None }
    }

    /// Scores from the trials of subsets, given for each λ: those that have lost their digits are refitted, then the
    /// lowest over λ is taken.
    fn settle(
        &self,
        mut trials: Vec<Vec<Tried>>,
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature>,
    ) -> Result<Vec<Score>> {
        // A column that is constant has no part in any state.
        let is_odd = self.selected.iter().any(|&f| !self.shared.fits.rows.is_active(f));
        // A weak trial that cannot be the lowest over λ, whatever was rounded, need not be made again.
        let lowest_sound = |k: usize| {
            let sound = trials.iter().map(|of_lambda| of_lambda[k]).filter(|tried| !tried.is_weak && !is_odd);
            sound.map(|tried| tried.loss).fold(f64::INFINITY, f64::min)
        };
        let weak = |k: usize| {
            let lowest = lowest_sound(k);
            let counts = |tried: Tried| is_odd || tried.is_weak && tried.floor <= lowest;
            (0..trials.len()).filter(|&l| counts(trials[l][k])).collect::<Vec<usize>>()
        };
        let concerned: Vec<(usize, Vec<usize>, Vec<Feature>)> = (0..count)
            .map(|k| (k, weak(k)))
            .filter(|(_, weak)| !weak.is_empty())
            .map(|(k, weak)| (k, weak, subset(k)))
            .collect();
        if !concerned.is_empty() {
            tracing::trace!(subsets = concerned.len(), "refitted from the rows");
        }
        let shared = &*self.shared;
        let refit = |(k, weak, subset): &(usize, Vec<usize>, Vec<Feature>)| {
            let lambdas: Vec<f64> = weak.iter().map(|&l| shared.lambdas[l]).collect();
            shared.fits.losses(subset, &lambdas, lowest_sound(*k))
        };
        let losses: Vec<Vec<f64>> = concerned.par_iter().map(refit).collect::<Result<_>>()?;
        for ((k, weak, _), losses) in concerned.iter().zip(losses) {
            weak.iter().zip(losses).for_each(|(&l, loss)| trials[l][*k].loss = loss);
        }
        let of_subset = |k: usize| self.shared.lambdas.iter().zip(&trials).map(move |(&l, trials)| (l, trials[k].loss));
        (0..count).map(|k| lowest(of_subset(k))).collect()
    }

    fn larger(&self, feature: Feature) -> Vec<Feature> {
        self.selected.iter().copied().chain([feature]).collect()
    }

    fn smaller(&self, feature: Feature) -> Vec<Feature> {
        self.selected.iter().copied().filter(|&f| f != feature).collect()
    }

    /// A branch scores additions alone; for anything else its subset is evaluated by refitting.
    fn refitted(&self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let trials = vec![vec![Tried::UNKNOWN; candidates.len()]; self.shared.lambdas.len()];
        scores.copy_from_slice(&self.settle(trials, candidates.len(), |k| self.smaller(candidates[k]))?);
        Ok(())
    }
}

pub(super) fn failed(failure: Failure) -> Error {
    Error::Numerical(format!("a fold cannot be fitted: {failure}; rescale or standardize the columns"))
}

impl<'d> Evaluator for KFoldEvaluator<'_, 'd> {
    fn selected(&self) -> &[Feature] {
        &self.selected
    }

    fn score(&mut self) -> Result<Score> {
        if let Some(score) = self.settled {
            return Ok(score);
        }
        let trials = self.way.current()?.into_iter().map(|trial| vec![trial]).collect();
        let score = self.settle(trials, 1, |_| self.selected.clone())?[0];
        Ok(*self.settled.insert(score))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.settled = None;
        self.selected = subset.to_vec();
        self.way.reset(subset)
    }

    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let mut trials = self.way.additions(candidates)?;
        for (k, _) in candidates.iter().enumerate().filter(|(_, f)| !self.shared.fits.rows.is_active(**f)) {
            trials.iter_mut().for_each(|of_lambda| of_lambda[k] = Tried::UNKNOWN);
        }
        scores.copy_from_slice(&self.settle(trials, candidates.len(), |k| self.larger(candidates[k]))?);
        Ok(())
    }

    /// Candidates are settled in the order of what their scores are not below, until the next is above the best.
    fn best_addition(&mut self, candidates: &[Feature]) -> Result<Option<Winner>> {
        let trials = self.way.additions(candidates)?;
        let floor = |k: usize| trials.iter().map(|of_lambda| of_lambda[k].floor).fold(f64::INFINITY, f64::min);
        let is_known = |&feature: &Feature| self.shared.fits.rows.is_active(feature);
        if trials.iter().flatten().all(|tried| !tried.is_weak) || !candidates.iter().chain(&self.selected).all(is_known)
        {
            let mut scores = vec![Score::WORST; candidates.len()];
            self.score_additions(candidates, &mut scores)?;
            return Ok(Winner::among(candidates, &scores));
        }
        let mut order: Vec<(f64, usize)> = (0..candidates.len()).map(|k| (floor(k), k)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut tried, mut scores, mut best) = (Vec::new(), Vec::new(), f64::INFINITY);
        for (floor, k) in order {
            if floor > best {
                break;
            }
            let of_candidate = trials.iter().map(|of_lambda| vec![of_lambda[k]]).collect();
            let score = self.settle(of_candidate, 1, |_| self.larger(candidates[k]))?[0];
            best = best.min(score.loss);
            tried.push(candidates[k]);
            scores.push(score);
        }
        Ok(Winner::among(&tried, &scores))
    }

    fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        if self.is_branch {
            return self.refitted(candidates, scores);
        }
        let trials = self.way.removals(candidates)?;
        scores.copy_from_slice(&self.settle(trials, candidates.len(), |k| self.smaller(candidates[k]))?);
        Ok(())
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        self.settled = None;
        self.selected.push(feature);
        self.way.add(feature)
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.settled = None;
        self.selected.retain(|&f| f != feature);
        self.way.remove(feature)
    }

    fn standard_error(&mut self) -> Result<Option<f64>> {
        let current = self.way.current()?;
        let score = self.score()?;
        let Some(place) = self.shared.lambdas.iter().position(|&l| Some(l) == score.lambda) else { return Ok(None) };
        let is_odd = self.selected.iter().any(|&f| !self.shared.fits.rows.is_active(f));
        let weak = is_odd || current.get(place).is_none_or(|tried| tried.is_weak);
        let Shared { fits, lambdas } = &*self.shared;
        let AnyLambda { rows, scorer } = fits;
        Ok(match if weak { Spread::Unknown } else { self.way.spread(place)? } {
            Spread::Folds(sums) => Some(scorer.error_over_folds(&sums, rows.folds())),
            Spread::Residuals(residuals) => scorer.standard_error_over(rows.folds(), &residuals),
            Spread::Unknown => fits.standard_error(&self.selected, lambdas[place])?,
        })
    }

    fn engine(&self) -> &'static str {
        self.way.engine()
    }

    fn branch(&self, feature: Feature, later: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        Ok(Some(Box::new(KFoldEvaluator {
            shared: Arc::clone(&self.shared),
            way: self.way.branch(feature, later)?,
            selected: self.larger(feature),
            is_branch: true,
            settled: None,
        })))
    }
}
