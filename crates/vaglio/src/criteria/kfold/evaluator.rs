//! The evaluator of k-fold cross-validation: a way to the scores, and refitting where it has lost its digits.

use super::way::{Spread, Tried, Way};
use crate::criteria::kernel::lowest;
use rayon::prelude::*;
use std::sync::Arc;
use vaglio_core::{Error, Evaluator, Feature, Result, Score};
use vaglio_kernels::Scorer;
use vaglio_kernels::kfold::{Refitted, Rows};
use vaglio_kernels::linalg::Failure;

/// What all evaluators of a design share.
pub(super) struct Shared<'d> {
    pub rows: Arc<Rows<'d>>,
    /// Of residuals in the order of the rows as given.
    pub scorer: Scorer,
    pub lambdas: Vec<f64>,
}

/// A subset's score is its lowest over λ.
pub(super) struct KFoldEvaluator<'e, 'd> {
    shared: Arc<Shared<'d>>,
    way: Box<dyn Way + 'e>,
    selected: Vec<Feature>,
    /// For additions of later columns alone.
    is_branch: bool,
}

impl<'e, 'd> KFoldEvaluator<'e, 'd> {
    pub(super) fn new(shared: Shared<'d>, way: Box<dyn Way + 'e>) -> Self {
        KFoldEvaluator { shared: Arc::new(shared), way, selected: Vec::new(), is_branch: false }
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
        let is_odd = self.selected.iter().any(|&f| !self.shared.rows.is_active(f));
        let weak = |k: usize| (0..trials.len()).filter(|&l| is_odd || trials[l][k].is_weak).collect::<Vec<usize>>();
        let is_concerned = |k: &usize| is_odd || trials.iter().any(|of_lambda| of_lambda[*k].is_weak);
        let concerned: Vec<(usize, Vec<usize>, Vec<Feature>)> =
            (0..count).filter(is_concerned).map(|k| (k, weak(k), subset(k))).collect();
        if !concerned.is_empty() {
            tracing::trace!(subsets = concerned.len(), "refitted from the rows");
        }
        let shared = &*self.shared;
        let refit = |(_, weak, subset): &(usize, Vec<usize>, Vec<Feature>)| -> Result<Vec<f64>> {
            let refitted = Refitted::new(&shared.rows, subset).map_err(failed)?;
            let loss =
                |&l: &usize| refitted.residuals(shared.lambdas[l]).map(|r| shared.scorer.loss(&r)).map_err(failed);
            weak.iter().map(loss).collect()
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
        let trials = self.way.current()?.into_iter().map(|trial| vec![trial]).collect();
        Ok(self.settle(trials, 1, |_| self.selected.clone())?[0])
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.selected = subset.to_vec();
        self.way.reset(subset)
    }

    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let mut trials = self.way.additions(candidates)?;
        for (k, _) in candidates.iter().enumerate().filter(|(_, f)| !self.shared.rows.is_active(**f)) {
            trials.iter_mut().for_each(|of_lambda| of_lambda[k] = Tried::UNKNOWN);
        }
        scores.copy_from_slice(&self.settle(trials, candidates.len(), |k| self.larger(candidates[k]))?);
        Ok(())
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
        self.selected.push(feature);
        self.way.add(feature)
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.selected.retain(|&f| f != feature);
        self.way.remove(feature)
    }

    fn standard_error(&mut self) -> Result<Option<f64>> {
        let current = self.way.current()?;
        let score = self.settle(current.iter().map(|tried| vec![*tried]).collect(), 1, |_| self.selected.clone())?[0];
        let Some(place) = self.shared.lambdas.iter().position(|&l| Some(l) == score.lambda) else { return Ok(None) };
        let is_odd = self.selected.iter().any(|&f| !self.shared.rows.is_active(f));
        let weak = is_odd || current.get(place).is_none_or(|tried| tried.is_weak);
        let Shared { rows, scorer, lambdas, .. } = &*self.shared;
        Ok(match if weak { Spread::Unknown } else { self.way.spread(place)? } {
            Spread::Folds(sums) => Some(scorer.error_over_folds(&sums, rows.folds())),
            Spread::Residuals(residuals) => scorer.standard_error_over(rows.folds(), &residuals),
            Spread::Unknown => {
                let refitted = Refitted::new(rows, &self.selected).map_err(failed)?;
                scorer.standard_error_over(rows.folds(), &refitted.residuals(lambdas[place]).map_err(failed)?)
            }
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
        })))
    }
}
