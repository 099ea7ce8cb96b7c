//! The engine of rows held out, for any loss. The book, *Cross-validation without refitting*, "Rows held out".

use super::engine::{FoldEngine, Node, Spread};
use crate::fits::{Fits, Residuals};
use crate::kernel::scorer;
use crate::settle::Outcome;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};
use vaglio_core::{AnyLoss, Design, Feature, Result};
use vaglio_kernels::kfold::FoldedRows;
use vaglio_kernels::kfold::hold_out::{HoldOut, HoldOutRows};
use vaglio_kernels::{Scorer, Trial};

/// Folds that are held out of the same states.
struct Part<'d> {
    rows: Arc<FoldedRows<'d>>,
    /// Of the rows of these folds alone, in the order as given and fold after fold.
    scorer: Scorer,
    permuted: Scorer,
    /// The columns fold after fold, copied when a column is first tried.
    copied: OnceLock<Arc<HoldOutRows<'d>>>,
}

/// The folds of a design in parts, and the loss.
struct Parts<'d> {
    parts: Vec<Part<'d>>,
    /// Of residuals of all rows, fold after fold.
    permuted: Scorer,
    lambdas: Vec<f64>,
}

impl<'d> Parts<'d> {
    fn new(design: &Design, loss: &AnyLoss, fits: &Fits<'d>, lambdas: &[f64]) -> Self {
        let order = fits.rows.folds().order();
        let permuted = scorer(design, Arc::new(fits.counted.permuted(order)), loss, Some(order));
        let parts = fits.parts.iter().map(|part| {
            let (rows, scorer) = (Arc::clone(&part.rows), part.scorer.clone());
            let permuted = part.permuted(&permuted);
            Part { rows, scorer, permuted, copied: OnceLock::new() }
        });
        Parts { parts: parts.collect(), permuted, lambdas: lambdas.to_vec() }
    }

    /// The states of a subset, for each λ one of every part.
    fn states(&self, subset: &[Feature]) -> Vec<HoldOut<'d>> {
        let copied: Vec<Arc<HoldOutRows<'d>>> = self
            .parts
            .iter()
            .map(|part| Arc::clone(part.copied.get_or_init(|| Arc::new(HoldOutRows::new(Arc::clone(&part.rows))))))
            .collect();
        let state = |&lambda: &f64| {
            copied.iter().map(move |rows| {
                let mut state = HoldOut::new(Arc::clone(rows), lambda);
                state.reset(subset);
                state
            })
        };
        self.lambdas.iter().flat_map(state).collect()
    }

    /// The outcomes of changes from the trials of all states: λ × changes.
    fn outcomes(
        &self,
        states: &mut [HoldOut<'d>],
        mut trials: impl FnMut(&mut HoldOut<'d>, &Scorer) -> Vec<Trial>,
    ) -> Vec<Vec<Outcome>> {
        let scorers = self.parts.iter().map(|part| &part.permuted).cycle();
        let of_states: Vec<Vec<Trial>> =
            states.iter_mut().zip(scorers).map(|(state, scorer)| trials(state, scorer)).collect();
        let of_lambda = |trials: &[Vec<Trial>]| -> Vec<Outcome> {
            let outcome = |k: usize| {
                let parts = trials.iter().map(|of_part| (of_part[k].loss, &*of_part[k].whole));
                let conditioning = trials.iter().map(|of_part| of_part[k].conditioning);
                // A conditioning that is not a number is that of a loss that is none.
                let least = conditioning.fold(1.0, |least, own| if own >= least { least } else { own });
                Outcome::new(self.permuted.join(parts), least)
            };
            (0..trials.first().map_or(0, Vec::len)).into_par_iter().map(outcome).collect()
        };
        of_states.chunks(self.parts.len().max(1)).map(of_lambda).collect()
    }

    /// The outcomes of the subset; `None` where its states do not tell them yet, as one decomposition costs less.
    fn current(&self, states: &mut [HoldOut<'d>]) -> Option<Vec<Outcome>> {
        if states.is_empty() || !states.iter_mut().all(HoldOut::is_settled) {
            return None;
        }
        Some(self.outcomes(states, |state, scorer| vec![state.score(scorer)]).into_iter().flatten().collect())
    }
}

/// One state for each λ and part of the folds, from the first trial on.
pub(super) struct HoldOutEngine<'d> {
    parts: Parts<'d>,
    states: Vec<HoldOut<'d>>,
}

impl<'d> HoldOutEngine<'d> {
    pub fn new(design: &Design, loss: &AnyLoss, fits: &Fits<'d>, lambdas: &[f64]) -> Self {
        HoldOutEngine { parts: Parts::new(design, loss, fits, lambdas), states: Vec::new() }
    }

    fn build(&mut self, subset: &[Feature]) {
        if self.states.is_empty() {
            self.states = self.parts.states(subset);
        }
    }
}

impl FoldEngine for HoldOutEngine<'_> {
    fn current(&mut self, _: &[Feature]) -> Result<Option<Vec<Outcome>>> {
        Ok(self.parts.current(&mut self.states))
    }

    fn additions(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>> {
        self.build(subset);
        self.parts.outcomes(&mut self.states, |state, scorer| state.additions(scorer, candidates))
    }

    fn can_skip_additions(&self) -> bool {
        true
    }

    /// A few candidates follow what has entered; the others take it in when they are tried.
    fn skip_additions(&mut self, subset: &[Feature], few: &[Feature]) {
        self.additions(subset, few);
    }

    fn removals(&mut self, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Outcome>> {
        self.build(subset);
        self.parts.outcomes(&mut self.states, |state, scorer| state.removals(scorer, candidates))
    }

    fn add(&mut self, feature: Feature) {
        self.states.iter_mut().for_each(|state| state.add(feature));
    }

    fn remove(&mut self, feature: Feature) -> bool {
        self.states.iter_mut().for_each(|state| state.remove(feature));
        false
    }

    fn reset(&mut self) {
        self.states.clear();
    }

    fn spread(&mut self, _: &[Feature], lambda: usize) -> Result<Vec<Spread>> {
        let (parts, targets) = (&self.parts.parts, self.parts.permuted.targets());
        let mut all: Residuals = vec![vec![0.0; targets.rows()]; targets.outputs()];
        for (part, state) in parts.iter().zip(&mut self.states[lambda * parts.len()..]) {
            part.scorer.place(&state.residuals(), &mut all);
        }
        Ok(vec![Spread::Residuals(all)])
    }

    fn tree(&mut self, subset: &[Feature], later: &[Feature]) -> Box<dyn Node + '_> {
        self.build(subset);
        let states = self.states.iter().map(|state| state.among(later)).collect();
        Box::new(HoldOutNode { parts: &self.parts, states, later: later.to_vec() })
    }
}

/// A node with states of its own for the columns that may follow.
struct HoldOutNode<'p, 'd> {
    parts: &'p Parts<'d>,
    states: Vec<HoldOut<'d>>,
    later: Vec<Feature>,
}

impl Node for HoldOutNode<'_, '_> {
    fn current(&mut self) -> Option<Vec<Outcome>> {
        self.parts.current(&mut self.states)
    }

    fn additions(&mut self, places: &[usize]) -> Vec<Vec<Outcome>> {
        let candidates: Vec<Feature> = places.iter().map(|&place| self.later[place]).collect();
        self.parts.outcomes(&mut self.states, |state, scorer| state.additions(scorer, &candidates))
    }

    fn child(&mut self, place: usize) -> Box<dyn Node + '_> {
        let (feature, later) = (self.later[place], self.later[place + 1..].to_vec());
        let mut states: Vec<HoldOut<'_>> = self.states.iter().map(|state| state.among(&later)).collect();
        states.iter_mut().for_each(|state| state.add(feature));
        Box::new(HoldOutNode { parts: self.parts, states, later })
    }
}
