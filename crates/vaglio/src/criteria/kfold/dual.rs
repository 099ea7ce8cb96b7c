//! Rows held out as a way to the scores.

use super::evaluator::failed;
use super::way::{Node, Spread, Tried, Way};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};
use vaglio_core::{Feature, Result, larger};
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

    /// The outcomes of changes from the trials of all states: λ × changes.
    fn scored(
        &self,
        states: &mut [HoldOut<'d>],
        mut trials: impl FnMut(&mut HoldOut<'d>, &Scorer) -> Vec<Trial>,
    ) -> Vec<Vec<Tried>> {
        let scorers = self.parts.iter().map(|part| &part.permuted).cycle();
        let of_states: Vec<Vec<Trial>> =
            states.iter_mut().zip(scorers).map(|(state, scorer)| trials(state, scorer)).collect();
        self.join(&of_states)
    }

    /// All λ of a subset from one decomposition of each part.
    fn at_once(&self, subset: &[Feature]) -> Result<Vec<AtOnce>> {
        let mut of_lambdas = vec![AtOnce::default(); self.lambdas.len()];
        for part in &self.parts {
            let all = AllLambdas::new(&part.rows, subset).map_err(failed)?;
            let found: Vec<(Vec<Vec<f64>>, f64)> =
                self.lambdas.par_iter().map(|&lambda| all.residuals(lambda, &part.folds)).collect();
            for (AtOnce { residuals, is_weak: weak }, (own, low)) in of_lambdas.iter_mut().zip(found) {
                if residuals.is_empty() {
                    *residuals = vec![vec![0.0; own.first().map_or(0, Vec::len)]; self.outputs];
                }
                part.scorer.place(&own, residuals);
                *weak |= is_unreliable(low);
            }
        }
        Ok(of_lambdas)
    }

    /// The losses of subsets without a state, for each λ.
    fn losses(&self, at_once: &[AtOnce]) -> Vec<Tried> {
        let score = |AtOnce { residuals, is_weak }: &AtOnce| {
            Tried::new(if *is_weak { f64::NAN } else { self.scorer.loss(residuals) }, *is_weak)
        };
        at_once.par_iter().map(score).collect()
    }

    /// Trials that are to be refitted from the rows.
    fn unknown(&self, count: usize) -> Vec<Vec<Tried>> {
        vec![vec![Tried::UNKNOWN; count]; self.lambdas.len()]
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

    /// All λ of the subset from one decomposition of each part.
    fn at_once(&mut self) -> Result<&[AtOnce]> {
        if self.current.is_none() {
            self.current = Some(self.parts.at_once(&self.selected)?);
        }
        Ok(self.current.as_deref().unwrap_or_default())
    }
}

impl Way for Dual<'_> {
    fn current(&mut self) -> Result<Vec<Tried>> {
        let parts = Arc::clone(&self.parts);
        // One decomposition for all λ, where the states would make one each.
        if self.states.is_empty() || !self.states.iter_mut().all(HoldOut::is_settled) {
            return Ok(parts.losses(self.at_once()?));
        }
        Ok(parts.scored(&mut self.states, |state, scorer| vec![state.score(scorer)]).into_iter().flatten().collect())
    }

    fn additions(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        if !self.parts.has_states {
            return Ok(self.parts.unknown(candidates.len()));
        }
        self.build();
        Ok(self.parts.scored(&mut self.states, |state, scorer| state.additions(scorer, candidates)))
    }

    fn removals(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        if !self.parts.has_states {
            return Ok(self.parts.unknown(candidates.len()));
        }
        self.build();
        Ok(self.parts.scored(&mut self.states, |state, scorer| state.removals(scorer, candidates)))
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

    fn tree(&mut self, later: &[Feature]) -> Result<Box<dyn Node + '_>> {
        if self.parts.has_states {
            self.build();
        }
        let states = self.states.iter().map(|state| state.among(later)).collect();
        Ok(Box::new(DualNode { parts: &self.parts, states, selected: self.selected.clone(), later: later.to_vec() }))
    }
}

/// A node of a depth-first search, with states of its own for the columns that may follow.
struct DualNode<'p, 'd> {
    parts: &'p Parts<'d>,
    states: Vec<HoldOut<'d>>,
    selected: Vec<Feature>,
    later: Vec<Feature>,
}

impl Node for DualNode<'_, '_> {
    fn current(&mut self) -> Result<Vec<Tried>> {
        if self.states.is_empty() || !self.states.iter_mut().all(HoldOut::is_settled) {
            return Ok(self.parts.losses(&self.parts.at_once(&self.selected)?));
        }
        let trials = self.parts.scored(&mut self.states, |state, scorer| vec![state.score(scorer)]);
        Ok(trials.into_iter().flatten().collect())
    }

    fn additions(&mut self, places: &[usize]) -> Result<Vec<Vec<Tried>>> {
        if !self.parts.has_states {
            return Ok(self.parts.unknown(places.len()));
        }
        let candidates: Vec<Feature> = places.iter().map(|&place| self.later[place]).collect();
        Ok(self.parts.scored(&mut self.states, |state, scorer| state.additions(scorer, &candidates)))
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn Node + '_>> {
        let (feature, later) = (self.later[place], self.later[place + 1..].to_vec());
        let mut states: Vec<HoldOut<'_>> = self.states.iter().map(|state| state.among(&later)).collect();
        states.iter_mut().for_each(|state| state.add(feature));
        Ok(Box::new(DualNode { parts: self.parts, states, selected: larger(&self.selected, feature), later }))
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
    use vaglio_core::{Criterion, Loss, Score, Shortcut, Subset};
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
        let mut evaluator = Subset::new(Shortcut::new("dual", KFoldEvaluator::new(shared, Box::new(Dual::new(parts)))));
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
        let mut root = evaluator.tree(&[0, 2, 3]).unwrap();
        let mut child = root.child(0).unwrap();
        near(&[4, 1, 5, 0], child.score().unwrap());
        child.score_additions(&[0, 1], &mut scores).unwrap();
        near(&[4, 1, 5, 0, 3], scores[1]);
    }
}
