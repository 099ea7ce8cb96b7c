//! What a search keeps of a subset for one λ: its basis, and of the candidates nothing, bounds or everything.

use super::Basis;
use super::candidate_bounds::CandidateBounds;
use super::candidate_cache::{CandidateCache, trials_alone};
use crate::{Data, Scorer, Trial};
use std::sync::Arc;

/// The state of the selected columns with caches of the candidates, each from the first time that it is asked for: lower
/// bounds of every trial, and G x of every candidate, which takes their place.
#[derive(Debug)]
pub struct LooState<'d> {
    basis: Basis<'d>,
    bounds: Option<CandidateBounds>,
    all: Option<CandidateCache>,
    /// How many states share the memory for G x of candidates.
    together: usize,
}

impl<'d> LooState<'d> {
    /// The subset of a basis, with nothing of the candidates yet.
    pub fn new(basis: Basis<'d>) -> Self {
        LooState { basis, bounds: None, all: None, together: 1 }
    }

    /// The states of some bases, as [`LooState::new`] has each: they share the memory for G x of columns that are made when they are
    /// read.
    pub fn together(bases: Vec<Basis<'d>>) -> Vec<Self> {
        let together = bases.len();
        bases.into_iter().map(|basis| LooState { together, ..LooState::new(basis) }).collect()
    }

    /// Some columns for trials of removals alone, in half of the memory. Cost O(m·s² + s³).
    pub fn of_removals(data: Arc<Data<'d>>, lambda: f64, features: Vec<usize>) -> Self {
        LooState::new(Basis::of_removals(data, lambda, features))
    }

    /// The state of the selected columns.
    pub fn basis(&self) -> &Basis<'d> {
        &self.basis
    }

    /// Adds a column. Cost O(m·s), or O(m) for one whose G x is known; for a nearly dependent one the state is rebuilt
    /// at O(m·s²), and that is said.
    pub fn add(&mut self, feature: usize) -> bool {
        let of_bounds = self.bounds.as_mut().and_then(|bounds| bounds.take(&self.basis, feature));
        let known = self.all.as_mut().and_then(|all| all.take(&self.basis, feature)).or(of_bounds);
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
    /// False where the state is to be rebuilt, as in [`Basis::remove`].
    #[must_use]
    pub fn remove(&mut self, feature: usize) -> bool {
        let goes_on = self.basis.remove(feature);
        if let Some(all) = self.all.as_mut().filter(|_| goes_on) {
            all.readmit(&self.basis, feature);
        }
        goes_on
    }

    /// The trials of removing some selected columns, as [`Basis::removals`].
    pub fn removals(&mut self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        self.basis.removals(scorer, features)
    }

    /// All columns in increasing order, and for each candidate a lower bound of its mean loss; `None` where G x of every
    /// candidate is cached.
    ///
    /// −∞ for a nearly dependent column. One read of X per step. Cost O(m·n·outputs), at first O(m·n·(s + outputs)).
    pub fn bounds(&mut self, scorer: &Scorer) -> Option<(&[usize], Vec<f64>)> {
        if self.all.is_some() {
            return None;
        }
        let bounds = self.bounds.get_or_insert_with(|| CandidateBounds::new(&self.basis, self.together));
        let found = bounds.bounds(&self.basis, scorer);
        Some((bounds.features(), found))
    }

    /// Bounds as of [`LooState::bounds`] that read nothing of X, and are somewhat lower; `None` where they would tell too
    /// little, or G x of every candidate is cached. Cost O(n·(s + outputs)), and one read of X for each column that entered
    /// and whose inner products no state of these rows knows.
    pub fn near_bounds(&mut self, scorer: &Scorer) -> Option<(&[usize], Vec<f64>)> {
        if self.all.is_some() {
            return None;
        }
        let bounds = self.bounds.get_or_insert_with(|| CandidateBounds::new(&self.basis, self.together));
        let found = bounds.near(&self.basis, scorer)?;
        Some((bounds.features(), found))
    }

    /// How much higher the bounds of the candidates are by what trials of steps before gave, which depends on which of them
    /// were tried. Cost O(n + m).
    pub fn sharper(&self, scorer: &Scorer) -> Vec<f64> {
        self.bounds.as_ref().map_or_else(Vec::new, |bounds| bounds.sharper(&self.basis, scorer))
    }

    /// Whether nothing but bounds is cached of the candidates.
    pub fn is_bounded(&self) -> bool {
        self.bounds.is_some() && self.all.is_none()
    }

    /// Brings bounds up to date, as asking for them does. Cost: that of [`LooState::near_bounds`].
    pub fn follow(&mut self) {
        if self.all.is_none() {
            self.bounds.get_or_insert_with(|| CandidateBounds::new(&self.basis, self.together)).refresh(&self.basis);
        }
    }

    /// Exact trials of some candidates, by their places in [`LooState::bounds`]. Cost O(m·(s + outputs)) each, O(m) for one
    /// that was tried in the step before.
    pub fn bounded_trials(&mut self, scorer: &Scorer, places: &[usize]) -> Vec<Trial> {
        self.bounds.as_mut().map_or_else(Vec::new, |bounds| bounds.trials(&self.basis, scorer, places))
    }

    /// The trial of adding each of some columns; inactive or selected ones get an infinite loss. G x of every candidate
    /// is cached from here on, 8·m·n bytes.
    ///
    /// One read and one write of these. Cost O(m·n·outputs), at first O(m·n·(s + outputs)). Of columns that are made when they are
    /// read, and too many for that, nothing is cached, and each trial costs O(m·(s + outputs)).
    pub fn trials(&mut self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        let basis = &self.basis;
        if self.all.is_none() && !basis.data.caches_candidates() {
            return self.trials_once(scorer, features);
        }
        self.bounds = None;
        self.all.get_or_insert_with(|| CandidateCache::new(basis)).trials(basis, scorer, features)
    }

    /// The same, and nothing is cached for trials of later steps, of which there are none. Cost O(m·(s + outputs)) each.
    pub fn trials_once(&self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        trials_alone(&self.basis, scorer, features)
    }
}
