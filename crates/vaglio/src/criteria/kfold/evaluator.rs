//! The evaluator of k-fold cross-validation: a way to the scores, and refitting where it has lost its digits.

use super::any_lambda::AnyLambda;
use super::way::{Node, Spread, Tried, Way};
use crate::criteria::kernel::lowest;
use crate::criteria::refined::Fits;
use rayon::prelude::*;
use vaglio_core::{Branch, Error, Evaluator, Feature, Result, Score, Winner, larger, smaller};
use vaglio_kernels::linalg::Failure;

/// What all evaluators of a design share.
pub(super) struct Shared<'d> {
    /// For what has lost its digits.
    pub fits: AnyLambda<'d>,
    pub lambdas: Vec<f64>,
}

impl Shared<'_> {
    /// Scores from the trials of subsets, given for each λ: those that have lost their digits are refitted, then the
    /// lowest over λ is taken.
    fn settle(
        &self,
        mut trials: Vec<Vec<Tried>>,
        count: usize,
        subset: impl Fn(usize) -> Vec<Feature>,
    ) -> Result<Vec<Score>> {
        let concerned: Vec<(usize, Vec<usize>, f64, Vec<Feature>)> = (0..count)
            .map(|k| (k, open(&trials, k)))
            .filter(|(_, (open, _))| !open.is_empty())
            .map(|(k, (open, lowest))| (k, open, lowest, subset(k)))
            .collect();
        if !concerned.is_empty() {
            tracing::trace!(subsets = concerned.len(), "refitted from the rows");
        }
        let refit = |(_, open, lowest, subset): &(usize, Vec<usize>, f64, Vec<Feature>)| {
            let lambdas: Vec<f64> = open.iter().map(|&l| self.lambdas[l]).collect();
            self.fits.losses(subset, &lambdas, *lowest)
        };
        let losses: Vec<Vec<f64>> = concerned.par_iter().map(refit).collect::<Result<_>>()?;
        for ((k, open, ..), losses) in concerned.iter().zip(losses) {
            open.iter().zip(losses).for_each(|(&l, loss)| trials[l][*k].loss = loss);
        }
        let of_subset = |k: usize| self.lambdas.iter().zip(&trials).map(move |(&l, trials)| (l, trials[k].loss));
        (0..count).map(|k| lowest(of_subset(k))).collect()
    }

    /// A column that is constant has no part in any state: nothing is known of a subset with one.
    fn is_odd(&self, subset: &[Feature]) -> bool {
        subset.iter().any(|&f| !self.fits.rows.is_active(f))
    }

    fn unknown(&self, count: usize) -> Vec<Vec<Tried>> {
        vec![vec![Tried::UNKNOWN; count]; self.lambdas.len()]
    }

    fn additions(&self, way: &mut dyn Way, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        if self.is_odd(subset) {
            return Ok(self.unknown(candidates.len()));
        }
        let mut trials = way.additions(candidates)?;
        for (k, _) in candidates.iter().enumerate().filter(|(_, f)| !self.fits.rows.is_active(**f)) {
            trials.iter_mut().for_each(|of_lambda| of_lambda[k] = Tried::UNKNOWN);
        }
        Ok(trials)
    }

    /// The trial of the subset for each λ.
    fn current(&self, way: &mut dyn Way, subset: &[Feature]) -> Result<Vec<Tried>> {
        if self.is_odd(subset) { Ok(vec![Tried::UNKNOWN; self.lambdas.len()]) } else { way.current() }
    }

    fn removals(&self, way: &mut dyn Way, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        let mut trials = match self.is_odd(subset) {
            true => self.unknown(candidates.len()),
            false => way.removals(candidates)?,
        };
        let lambdas = &self.lambdas;
        // One decomposition of the subset costs about as much as refitting without one of its columns.
        let is_open = |k: usize| !open(&trials, k).0.is_empty();
        if (0..candidates.len()).filter(|&k| is_open(k)).nth(1).is_some() {
            let weak: Vec<usize> =
                (0..lambdas.len()).filter(|&l| trials[l].iter().any(|tried| tried.is_weak)).collect();
            let penalties: Vec<f64> = weak.iter().map(|&l| lambdas[l]).collect();
            if let Some(found) = self.fits.removals(subset, candidates, &penalties)? {
                weak.into_iter().zip(found).for_each(|(l, of_lambda)| trials[l] = of_lambda);
            }
        }
        Ok(trials)
    }

    /// The best of the candidates, settled in the order of what their scores are not below, in rounds of 1, 2, 4, …, until
    /// the next is above the best.
    fn best(
        &self,
        trials: &[Vec<Tried>],
        candidates: &[Feature],
        subset: impl Fn(Feature) -> Vec<Feature>,
    ) -> Result<Option<Winner>> {
        let floor = |k: usize| trials.iter().map(|of_lambda| of_lambda[k].floor).fold(f64::INFINITY, f64::min);
        let mut order: Vec<(f64, usize)> = (0..candidates.len()).map(|k| (floor(k), k)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut tried, mut scores, mut lowest, mut next) = (Vec::new(), Vec::new(), f64::INFINITY, 0);
        while next < order.len() && order[next].0 <= lowest {
            let round = order[next..].iter().take(next.max(1)).take_while(|(floor, _)| *floor <= lowest);
            let places: Vec<usize> = round.map(|&(_, k)| k).collect();
            let of_round = trials.iter().map(|of_lambda| places.iter().map(|&k| of_lambda[k]).collect()).collect();
            let settled = self.settle(of_round, places.len(), |k| subset(candidates[places[k]]))?;
            lowest = settled.iter().map(|score| score.loss).fold(lowest, f64::min);
            next += places.len();
            tried.extend(places.iter().map(|&k| candidates[k]));
            scores.extend(settled);
        }
        Ok(Winner::among(&tried, &scores))
    }
}

/// A subset's score is its lowest over λ.
pub(super) struct KFoldEvaluator<'d> {
    shared: Shared<'d>,
    way: Box<dyn Way + 'd>,
    /// The score of the current subset, once it is known.
    settled: Option<Score>,
}

impl<'d> KFoldEvaluator<'d> {
    pub(super) fn new(shared: Shared<'d>, way: Box<dyn Way + 'd>) -> Self {
        KFoldEvaluator { shared, way, settled: None }
    }
}

/// The λ, by place, for which a candidate is to be refitted, and its lowest loss over the others: a weak trial that cannot be
/// the lowest over λ, whatever was rounded, need not be made again.
fn open(trials: &[Vec<Tried>], k: usize) -> (Vec<usize>, f64) {
    let sound = trials.iter().map(|of_lambda| of_lambda[k]).filter(|tried| !tried.is_weak);
    let lowest = sound.map(|tried| tried.loss).fold(f64::INFINITY, f64::min);
    let is_open = |tried: Tried| tried.is_weak && tried.floor <= lowest;
    ((0..trials.len()).filter(|&l| is_open(trials[l][k])).collect(), lowest)
}

pub(super) fn failed(failure: Failure) -> Error {
    Error::Numerical(format!("a fold cannot be fitted: {failure}; rescale or standardize the columns"))
}

impl Evaluator for KFoldEvaluator<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        if let Some(score) = self.settled {
            return Ok(score);
        }
        let trials = self.shared.current(&mut *self.way, subset)?.into_iter().map(|trial| vec![trial]).collect();
        let score = self.shared.settle(trials, 1, |_| subset.to_vec())?[0];
        Ok(*self.settled.insert(score))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.settled = None;
        self.way.reset(subset)
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let trials = self.shared.additions(&mut *self.way, subset, candidates)?;
        scores.copy_from_slice(&self.shared.settle(trials, candidates.len(), |k| larger(subset, candidates[k]))?);
        Ok(())
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        let trials = self.shared.removals(&mut *self.way, subset, candidates)?;
        scores.copy_from_slice(&self.shared.settle(trials, candidates.len(), |k| smaller(subset, candidates[k]))?);
        Ok(())
    }

    fn best_addition(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let trials = self.shared.additions(&mut *self.way, subset, candidates)?;
        self.shared.best(&trials, candidates, |feature| larger(subset, feature))
    }

    fn best_removal(&mut self, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let trials = self.shared.removals(&mut *self.way, subset, candidates)?;
        self.shared.best(&trials, candidates, |feature| smaller(subset, feature))
    }

    fn add(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.settled = None;
        self.way.add(feature)
    }

    fn remove(&mut self, _: &[Feature], feature: Feature) -> Result<()> {
        self.settled = None;
        self.way.remove(feature)
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let current = self.shared.current(&mut *self.way, subset)?;
        let score = self.score(subset)?;
        let Some(place) = self.shared.lambdas.iter().position(|&l| Some(l) == score.lambda) else { return Ok(None) };
        let weak = current.get(place).is_none_or(|tried| tried.is_weak);
        let Shared { fits, lambdas } = &self.shared;
        let AnyLambda { rows, scorer } = fits;
        Ok(match if weak { Spread::Unknown } else { self.way.spread(place)? } {
            Spread::Folds(sums) => Some(scorer.error_over_folds(&sums, rows.folds())),
            Spread::Residuals(residuals) => scorer.standard_error_over(rows.folds(), &residuals),
            Spread::Unknown => fits.standard_error(subset, lambdas[place])?,
        })
    }

    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Result<Box<dyn Branch + '_>> {
        let node = self.way.tree(later)?;
        Ok(Box::new(KFoldNode { shared: &self.shared, node, subset: subset.to_vec(), later: later.to_vec() }))
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
        let trials = match self.shared.is_odd(&self.subset) {
            true => self.shared.unknown(1),
            false => self.node.current()?.into_iter().map(|trial| vec![trial]).collect(),
        };
        Ok(self.shared.settle(trials, 1, |_| self.subset.clone())?[0])
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        let mut trials = match self.shared.is_odd(&self.subset) {
            true => self.shared.unknown(places.len()),
            false => self.node.additions(places)?,
        };
        for (k, _) in places.iter().enumerate().filter(|(_, p)| !self.shared.fits.rows.is_active(self.later[**p])) {
            trials.iter_mut().for_each(|of_lambda| of_lambda[k] = Tried::UNKNOWN);
        }
        let larger = |k: usize| larger(&self.subset, self.later[places[k]]);
        scores.copy_from_slice(&self.shared.settle(trials, places.len(), larger)?);
        Ok(())
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Branch + '_>> {
        let (subset, later) = (larger(&self.subset, self.later[place]), self.later[place + 1..].to_vec());
        Ok(Box::new(KFoldNode { shared: self.shared, node: self.node.child(place)?, subset, later }))
    }
}
