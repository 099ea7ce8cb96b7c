//! Rows held out as a way to the scores.

use super::evaluator::failed;
use super::way::{Spread, Tried, Way};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};
use vaglio_core::{Feature, Result};
use vaglio_kernels::kfold::hold_out::{HoldOut, HoldOutRows};
use vaglio_kernels::kfold::{AllLambdas, Rows};
use vaglio_kernels::{Scorer, Trial, is_unreliable};

/// Folds that are held out of the same states.
pub(super) struct Part<'d> {
    /// Weighed as in training without these folds.
    pub rows: Arc<Rows<'d>>,
    /// Of the rows of these folds alone, scaled as in `rows`, in the order as given and fold after fold.
    pub scorer: Scorer,
    pub permuted: Scorer,
    pub folds: Vec<usize>,
    /// Copies of the columns, made when a column is first tried.
    pub copies: OnceLock<Arc<HoldOutRows<'d>>>,
}

/// The rows of a design in parts, and the loss.
pub(super) struct Parts<'d> {
    pub parts: Vec<Part<'d>>,
    /// Of residuals of all rows, in the order as given and fold after fold.
    pub scorer: Scorer,
    pub permuted: Scorer,
    pub lambdas: Vec<f64>,
    pub outputs: usize,
    /// Whether states are made; otherwise trials are refitted from the rows.
    pub has_states: bool,
}

impl<'d> Parts<'d> {
    /// The states of a subset, for each λ one of every part.
    fn states(&self, subset: &[Feature]) -> Vec<HoldOut<'d>> {
        let copies: Vec<Arc<HoldOutRows<'d>>> = self
            .parts
            .iter()
            .map(|part| Arc::clone(part.copies.get_or_init(|| Arc::new(HoldOutRows::new(Arc::clone(&part.rows))))))
            .collect();
        let state = |&lambda: &f64| {
            copies.iter().map(move |rows| {
                let mut state = HoldOut::new(Arc::clone(rows), lambda);
                state.reset(subset);
                state
            })
        };
        self.lambdas.iter().flat_map(state).collect()
    }

    /// The outcome of each change from those of the parts, given for every state: λ × changes.
    fn join(&self, trials: &[Vec<Trial>]) -> Vec<Vec<Tried>> {
        let of_lambda = |trials: &[Vec<Trial>]| -> Vec<Tried> {
            let tried = |k: usize| {
                let parts = trials.iter().map(|of_part| (of_part[k].loss, &*of_part[k].whole));
                Tried::new(self.permuted.join(parts), trials.iter().any(|of_part| of_part[k].is_unreliable()))
            };
            (0..trials.first().map_or(0, Vec::len)).into_par_iter().map(tried).collect()
        };
        trials.chunks(self.parts.len().max(1)).map(of_lambda).collect()
    }

    /// The residuals of all rows from those of the parts, as given and scaled by √r_j.
    fn placed(&self, of_parts: impl Iterator<Item = Vec<Vec<f64>>>) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = Vec::new();
        for (part, residuals) in self.parts.iter().zip(of_parts) {
            if all.is_empty() {
                all = vec![vec![0.0; residuals.first().map_or(0, Vec::len)]; self.outputs];
            }
            part.scorer.place(&residuals, &mut all);
        }
        all
    }
}

/// One state for each λ and part of the folds, from the first trial on.
pub(super) struct Dual<'d> {
    parts: Arc<Parts<'d>>,
    states: Vec<HoldOut<'d>>,
    selected: Vec<Feature>,
    /// The subset for each λ, where there is no state of it, or one that has lost its digits.
    current: Option<Vec<AtOnce>>,
}

/// A subset for one λ without a state.
#[derive(Clone, Default)]
struct AtOnce {
    /// Held out, scaled by √r_j: outputs × rows as given.
    residuals: Vec<Vec<f64>>,
    is_weak: bool,
}

/// Doubles beyond which the states of several parts are not made, and subsets are refitted from the rows.
const MOST: f64 = (1u64 << 28) as f64;

/// Whether states are made for so many parts, λ and entries of the columns.
pub(super) fn has_states(parts: f64, lambdas: f64, entries: f64) -> bool {
    parts <= 1.0 || parts * (1.0 + lambdas) * entries <= MOST
}

impl<'d> Dual<'d> {
    pub(super) fn new(parts: Parts<'d>) -> Self {
        Dual { parts: Arc::new(parts), states: Vec::new(), selected: Vec::new(), current: None }
    }

    fn build(&mut self) {
        if self.states.is_empty() {
            self.states = self.parts.states(&self.selected);
            self.current = None;
        }
    }

    /// Trials that are to be refitted from the rows.
    fn unknown(&self, candidates: &[Feature]) -> Vec<Vec<Tried>> {
        vec![vec![Tried::UNKNOWN; candidates.len()]; self.parts.lambdas.len()]
    }

    fn scored(&mut self, mut trials: impl FnMut(&mut HoldOut<'d>, &Scorer) -> Vec<Trial>) -> Vec<Vec<Tried>> {
        let parts = Arc::clone(&self.parts);
        let scorers = parts.parts.iter().map(|part| &part.permuted).cycle();
        let of_states: Vec<Vec<Trial>> =
            self.states.iter_mut().zip(scorers).map(|(state, scorer)| trials(state, scorer)).collect();
        parts.join(&of_states)
    }

    /// All λ of the subset from one decomposition of each part.
    fn at_once(&mut self) -> Result<&[AtOnce]> {
        if self.current.is_none() {
            let parts = &self.parts;
            let mut of_lambdas = vec![AtOnce::default(); parts.lambdas.len()];
            for part in &parts.parts {
                let all = AllLambdas::new(&part.rows, &self.selected).map_err(failed)?;
                let found: Vec<(Vec<Vec<f64>>, f64)> =
                    parts.lambdas.par_iter().map(|&lambda| all.residuals(lambda, &part.folds)).collect();
                for (AtOnce { residuals, is_weak: weak }, (own, low)) in of_lambdas.iter_mut().zip(found) {
                    if residuals.is_empty() {
                        *residuals = vec![vec![0.0; own.first().map_or(0, Vec::len)]; parts.outputs];
                    }
                    part.scorer.place(&own, residuals);
                    *weak |= is_unreliable(low);
                }
            }
            self.current = Some(of_lambdas);
        }
        Ok(self.current.as_deref().unwrap_or_default())
    }
}

impl Way for Dual<'_> {
    fn current(&mut self) -> Result<Vec<Tried>> {
        // One decomposition for all λ, where the states would make one each.
        if self.states.is_empty() || !self.states.iter_mut().all(HoldOut::is_settled) {
            let parts = Arc::clone(&self.parts);
            let score = |AtOnce { residuals, is_weak }: &AtOnce| {
                Tried::new(if *is_weak { f64::NAN } else { parts.scorer.loss(residuals) }, *is_weak)
            };
            return Ok(self.at_once()?.par_iter().map(score).collect());
        }
        Ok(self.scored(|state, scorer| vec![state.score(scorer)]).into_iter().flatten().collect())
    }

    fn additions(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        if !self.parts.has_states {
            return Ok(self.unknown(candidates));
        }
        self.build();
        Ok(self.scored(|state, scorer| state.additions(scorer, candidates)))
    }

    fn removals(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        if !self.parts.has_states {
            return Ok(self.unknown(candidates));
        }
        self.build();
        Ok(self.scored(|state, scorer| state.removals(scorer, candidates)))
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        self.selected.push(feature);
        self.current = None;
        self.states.iter_mut().for_each(|state| state.add(feature));
        Ok(())
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.selected.retain(|&f| f != feature);
        self.current = None;
        self.states.iter_mut().for_each(|state| state.remove(feature));
        Ok(())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.selected = subset.to_vec();
        (self.states, self.current) = (Vec::new(), None);
        Ok(())
    }

    fn spread(&mut self, lambda: usize) -> Result<Spread> {
        if self.states.is_empty() || self.current.is_some() {
            let AtOnce { residuals, is_weak } = &self.at_once()?[lambda];
            return Ok(if *is_weak { Spread::Unknown } else { Spread::Residuals(residuals.clone()) });
        }
        let (parts, count) = (Arc::clone(&self.parts), self.parts.parts.len());
        let of_parts = self.states[lambda * count..][..count].iter_mut().map(|state| state.residuals());
        Ok(Spread::Residuals(parts.placed(of_parts)))
    }

    fn branch(&self, feature: Feature, later: &[Feature]) -> Result<Box<dyn Way + '_>> {
        let built;
        let states = if self.states.is_empty() && self.parts.has_states {
            built = self.parts.states(&self.selected);
            &built
        } else {
            &self.states
        };
        let states = states.iter().map(|state| state.branch(feature, later)).collect();
        let selected = self.selected.iter().copied().chain([feature]).collect();
        Ok(Box::new(Dual { parts: Arc::clone(&self.parts), states, selected, current: None }))
    }

    fn engine(&self) -> &'static str {
        "dual"
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::KFold;
    use super::super::evaluator::{KFoldEvaluator, Shared};
    use super::*;
    use crate::criteria::balance;
    use crate::criteria::kernel::{kernel_data, scorer};
    use crate::criteria::kfold::any_lambda::AnyLambda;
    use vaglio_core::{Criterion, Evaluator, Loss, Score};
    use vaglio_kernels::kfold::Folds;
    use vaglio_testkit::data;

    #[test]
    fn without_states_every_subset_is_refitted() {
        let design = data::binary(24, 6, 3).skewed().balanced().design(&[0.1, 1.0], true);
        let kfold = KFold { folds: Some(3), stratified: true, loss: Loss::Absolute, ..KFold::default() };
        let folds = Folds::new(&kfold.folds_of(&design).unwrap());
        let rows = Rows::new(kernel_data(&design, true).unwrap(), folds, true, false);
        let rows = Arc::new(rows.balancing(balance::classes_of(&design).unwrap().of_row));
        let scorer = scorer(&design, Arc::clone(rows.targets()), Loss::Absolute, None);
        let mut parts = kfold.parts(&design, &rows, &scorer).unwrap().unwrap();
        assert!(parts.has_states);
        parts.has_states = false;
        let shared = Shared { fits: AnyLambda { rows, scorer }, lambdas: vec![0.1, 1.0] };
        let mut evaluator = KFoldEvaluator::new(shared, Box::new(Dual::new(parts)));
        let near = |subset: &[Feature], found: Score| {
            let defined = kfold.evaluate(&design, subset).unwrap();
            assert!(
                (defined.loss - found.loss).abs() < 1e-10 * defined.loss,
                "{subset:?}: {found:?} is not {defined:?}"
            );
        };
        evaluator.reset(&[4, 1]).unwrap();
        let mut scores = [Score::WORST; 2];
        evaluator.score_additions(&[0, 5], &mut scores).unwrap();
        near(&[4, 1, 0], scores[0]);
        near(&[4, 1, 5], scores[1]);
        evaluator.score_removals(&[4, 1], &mut scores).unwrap();
        near(&[1], scores[0]);
        near(&[4], scores[1]);
        evaluator.add(5).unwrap();
        near(&[4, 1, 5], evaluator.score().unwrap());
        assert!(evaluator.standard_error().unwrap().unwrap() > 0.0);
        let mut child = evaluator.branch(0, &[2, 3]).unwrap().unwrap();
        near(&[4, 1, 5, 0], child.score().unwrap());
        child.score_additions(&[2, 3], &mut scores).unwrap();
        near(&[4, 1, 5, 0, 3], scores[1]);
    }
}
