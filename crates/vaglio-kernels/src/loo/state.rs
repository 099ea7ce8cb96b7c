//! Search state of a subset for one λ: its basis, and for the candidates nothing, bounds or products.

use super::basis::RidgeState;
use super::candidate::CandidateColumn;
use super::candidate_bounds::CandidateBounds;
use super::candidate_cache;
use crate::parallel;
use crate::{Data, Scorer, Trial};
use std::sync::Arc;

/// State of the selected columns with lazily created caches of the candidates: lower bounds of every trial, or G x of
/// every candidate, which replaces them.
#[derive(Debug)]
pub struct LooState<'d> {
    pub(super) basis: RidgeState<'d>,
    bounds: Option<CandidateBounds>,
    /// Candidates by column; `None` for those that are not cached.
    all: Option<Vec<Option<CandidateColumn>>>,
    /// Number of states that share the memory for G x of candidates.
    together: usize,
}

impl<'d> LooState<'d> {
    /// Creates the state of some columns, added in order, with nothing cached. Cost O(m·s²).
    pub fn new(data: Arc<Data<'d>>, lambda: f64, features: impl IntoIterator<Item = usize>) -> Self {
        LooState::from_basis(RidgeState::with_columns(data, lambda, features))
    }

    fn from_basis(basis: RidgeState<'d>) -> Self {
        LooState { basis, bounds: None, all: None, together: 1 }
    }

    /// Lets several states share the memory for G x of virtual columns.
    pub fn together(states: Vec<Self>) -> Vec<Self> {
        let together = states.len();
        states.into_iter().map(|state| LooState { together, ..state }).collect()
    }

    /// Creates a state for trials of removals alone, in half of the memory. Cost O(m·s² + s³).
    pub fn for_removals(data: Arc<Data<'d>>, lambda: f64, features: Vec<usize>) -> Self {
        LooState::from_basis(RidgeState::for_removals(data, lambda, features))
    }

    /// A copy that caches G x of these candidates alone. Unless there are none, this state then caches G x of all. Cost
    /// O(m · (candidates + outputs)); the first call also costs a [`LooState::trials`].
    #[must_use]
    pub fn fork(&mut self, candidates: &[usize]) -> Self {
        let basis = &self.basis;
        if !candidates.is_empty() && basis.data.caches_columns() {
            self.bounds = None;
            self.all.get_or_insert_with(|| candidate_cache::candidates(basis));
        }
        let all = self.all.as_ref().filter(|_| !candidates.is_empty()).map(|all| {
            let mut own = vec![None; all.len()];
            candidates.iter().for_each(|&column| own[column].clone_from(&all[column]));
            own
        });
        LooState { basis: basis.fork(), bounds: None, all, together: self.together }
    }

    /// The penalty.
    pub fn lambda(&self) -> f64 {
        self.basis.lambda
    }

    /// The selected columns, in order of entry.
    pub fn selected(&self) -> impl Iterator<Item = usize> {
        self.basis.features.iter().copied()
    }

    /// The loss of the selected columns. Cost O(m · outputs).
    pub fn score(&self, scorer: &Scorer) -> Trial {
        self.basis.score(scorer)
    }

    /// Adds a column. Cost O(m·s), or O(m) if its G x is cached. Returns whether a nearly dependent column made a
    /// rebuild at O(m·s²) necessary.
    pub fn add(&mut self, feature: usize) -> bool {
        let bounded = self.bounds.as_mut().and_then(|bounds| bounds.take(&self.basis, feature));
        let cached = self.all.as_mut().and_then(|all| candidate_cache::take(all, &self.basis, feature));
        let known = cached.or(bounded);
        match known {
            Some(c) => self.basis.add_residual(feature, c),
            None => self.basis.add(feature),
        }
        let is_anew = self.basis.orthogonal();
        if is_anew {
            (self.bounds, self.all) = (None, None);
        }
        is_anew
    }

    /// Removes a column, which becomes a candidate again. Cost O(m·s), and O(m · updates) at the next bounds.
    ///
    /// Returns false if the state must be rebuilt: the subset is now empty; there were many updates; or columns are
    /// nearly dependent.
    #[must_use]
    pub fn remove(&mut self, feature: usize) -> bool {
        let goes_on = self.basis.remove(feature);
        if let Some(all) = self.all.as_mut().filter(|_| goes_on) {
            candidate_cache::readmit(all, &self.basis, feature);
        }
        goes_on
    }

    /// Trials of removing some selected columns. Cost O(m · outputs) each; the first call O(m·s² + s³).
    pub fn removals(&mut self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        self.basis.removals(scorer, features)
    }

    /// Lower bound of the mean loss with each active column added, in order; `None` if G x of every candidate is cached.
    ///
    /// The bound of a nearly dependent column is −∞. One read of X per step. Cost O(m·n·outputs), at first O(m·n·(s +
    /// outputs)). With `is_near` X is not read, and bounds are somewhat lower, or `None` if they would be too loose. Cost
    /// O(n·(s + outputs)), and one read of X for each added column whose inner products are not cached.
    pub fn bounds(&mut self, scorer: &Scorer, is_near: bool) -> Option<Vec<f64>> {
        if self.all.is_some() {
            return None;
        }
        let basis = &self.basis;
        let bounds = self.bounds.get_or_insert_with(|| CandidateBounds::new(basis, self.together));
        if is_near { bounds.near(basis, scorer) } else { Some(bounds.bounds(basis, scorer)) }
    }

    /// Amounts by which earlier trials raise the bounds; depend on which candidates were tried. Cost O(n + m).
    pub fn refinements(&self, scorer: &Scorer) -> Vec<f64> {
        self.bounds.as_ref().map_or_else(Vec::new, |bounds| bounds.refinements(&self.basis, scorer))
    }

    /// Exact trials of some candidates, by their places in [`LooState::bounds`]. Cost O(m·(s + outputs)) each, O(m) if
    /// tried in the step before.
    pub fn bounded_trials(&mut self, scorer: &Scorer, places: &[usize]) -> Vec<Trial> {
        self.bounds.as_mut().map_or_else(Vec::new, |bounds| bounds.trials(&self.basis, scorer, places))
    }

    /// Trials of adding each of some columns; inactive or selected ones get an infinite loss. Caches G x of every
    /// candidate, 8·m·n bytes.
    ///
    /// Reads and writes the cache once. Cost O(m·n·outputs), at first O(m·n·(s + outputs)). If too many columns are
    /// virtual, nothing is cached, and each trial costs O(m·(s + outputs)).
    pub fn trials(&mut self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        let basis = &self.basis;
        if self.all.is_none() && !basis.data.caches_columns() {
            return self.trials_once(scorer, features);
        }
        self.bounds = None;
        let all = self.all.get_or_insert_with(|| candidate_cache::candidates(basis));
        candidate_cache::trials(all, basis, scorer, features)
    }

    /// Like [`LooState::trials`], but caches nothing, with the bits of new candidates; for a single step. Cost O(m·(s +
    /// outputs)) each, memory 8·m bytes per thread.
    pub fn trials_once(&self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        let basis = &self.basis;
        let trial = |&feature: &usize| match basis.is_candidate(feature) {
            true => CandidateColumn::new(basis, feature).trial(basis, scorer, None),
            false => Trial::IMPOSSIBLE,
        };
        parallel::map_slice(features, trial)
    }
}
