//! The engine of held-out rows, for any loss. See *Cross-validation without refitting*, "Rows held out", in the book.

use super::evaluator::FoldEngine;
use crate::fits::{Residuals, RoundFits};
use crate::fold_groups::FoldGroup;
use crate::shared_lambdas::lambdas_of;
use std::sync::{Arc, OnceLock};
use vaglio_core::{Action, Feature, Result, get_or_make};
use vaglio_kernels::kfold::HoldOut;
use vaglio_kernels::{Scorer, Trial};

/// Opens the engine on the rows of a round.
pub(super) fn open<'d>(fits: &RoundFits<'d>) -> Box<dyn FoldEngine<'d> + 'd> {
    let order = fits.rows.folds.order();
    Box::new(HoldOutEngine {
        groups: fits.groups.get().cloned().unwrap_or_default(),
        scorers: fits.groups().iter().map(|group| group.scorer.permute(order)).collect(),
        scorer: Arc::new(fits.scorer.permute(order)),
        empty: Arc::default(),
        lambdas: lambdas_of(fits.design),
        states: Vec::new(),
    })
}

/// The engine; it has a state for each λ and group of folds after the first trial. Forks share all but the states.
struct HoldOutEngine<'d> {
    groups: Arc<[FoldGroup<'d>]>,
    /// Scorer of each group's residuals, ordered by fold.
    scorers: Arc<[Scorer]>,
    /// Scorer of the residuals of all rows, ordered by fold.
    scorer: Arc<Scorer>,
    /// The empty subset of each group, created when a column is first tried; other states share its copies of columns.
    empty: Arc<OnceLock<Vec<HoldOut<'d>>>>,
    lambdas: Vec<f64>,
    states: Vec<HoldOut<'d>>,
}

impl<'d> HoldOutEngine<'d> {
    /// Creates the states of the subset, one for each λ and group, unless present.
    fn build(&mut self, subset: &[Feature]) {
        if self.states.is_empty() {
            let make = |group: &FoldGroup<'d>| HoldOut::new(Arc::clone(&group.rows));
            let empty = get_or_make(&self.empty, || self.groups.iter().map(make).collect());
            let state = |&lambda: &f64| empty.iter().map(move |empty| empty.with_subset(lambda, subset));
            self.states = self.lambdas.iter().flat_map(state).collect();
        }
    }

    /// Combines the trials of all states into losses of changes: λ × changes.
    fn losses(&mut self, mut trials: impl FnMut(&mut HoldOut<'d>, &Scorer) -> Vec<Trial>) -> Vec<Vec<Trial>> {
        let states = self.states.iter_mut().zip(self.scorers.iter().cycle());
        let state_trials: Vec<Vec<Trial>> = states.map(|(state, scorer)| trials(state, scorer)).collect();
        state_trials.chunks(self.groups.len().max(1)).map(|trials| self.scorer.join(trials)).collect()
    }
}

impl<'d> FoldEngine<'d> for HoldOutEngine<'d> {
    fn current(&mut self, _: &[Feature]) -> Result<Option<Vec<Vec<Trial>>>> {
        // One decomposition costs less than states that do not have the losses yet.
        if self.states.is_empty() || !self.states.iter_mut().all(HoldOut::is_settled) {
            return Ok(None);
        }
        Ok(Some(self.losses(|state, scorer| vec![state.score(scorer)])))
    }

    fn trials(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Vec<Vec<Trial>> {
        self.build(subset);
        self.losses(|state, scorer| match change {
            Action::Add => state.additions(scorer, candidates),
            Action::Remove => state.removals(scorer, candidates),
        })
    }

    fn apply(&mut self, change: Action, feature: Feature) -> bool {
        self.states.iter_mut().for_each(|state| match change {
            Action::Add => state.add(feature),
            Action::Remove => state.remove(feature),
        });
        false
    }

    fn reset(&mut self) {
        self.states.clear();
    }

    fn standard_error(&mut self, fits: &RoundFits<'_>, _: &[Feature], lambda: usize) -> Result<Option<f64>> {
        let (groups, targets) = (&self.groups, &self.scorer.targets);
        let mut all: Residuals = vec![vec![0.0; targets.rows()]; targets.outputs()];
        for (group, state) in groups.iter().zip(&mut self.states[lambda * groups.len()..]) {
            group.scorer.place(&state.residuals(), &mut all);
        }
        Ok(fits.standard_error(&all))
    }

    fn fork(&mut self, subset: &[Feature], candidates: &[Feature]) -> Box<dyn FoldEngine<'d> + 'd> {
        self.build(subset);
        let states = self.states.iter().map(|state| state.fork(candidates)).collect();
        let (groups, scorers) = (Arc::clone(&self.groups), Arc::clone(&self.scorers));
        let (scorer, empty) = (Arc::clone(&self.scorer), Arc::clone(&self.empty));
        Box::new(HoldOutEngine { groups, scorers, scorer, empty, lambdas: self.lambdas.clone(), states })
    }
}
