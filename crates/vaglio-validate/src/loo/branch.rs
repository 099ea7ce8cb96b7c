//! The nodes of leave-one-out in depth-first search.
//!
//! A node's scores come from the states of [`Branch`], its lower bound from the fit of [`SubtreeBound`].

use super::shared::LooShared;
use crate::mean::lowest;
use vaglio_core::{Feature, Result, Score, larger};
use vaglio_kernels::Trial;
use vaglio_kernels::loo::{Basis, Branch, Change, SubtreeBound};

/// A subset and the columns that may follow, with one state per λ.
pub(super) struct LooNode<'p, 'd> {
    shared: &'p LooShared<'d>,
    selected: Vec<Feature>,
    later: Vec<Feature>,
    states: Vec<Branch<'p>>,
    fits: NodeFits,
}

impl<'p, 'd> LooNode<'p, 'd> {
    /// The root of a search, from the states of its subset.
    pub fn root(shared: &'p LooShared<'d>, bases: &[Basis<'d>], subset: &[Feature], later: &[Feature]) -> Self {
        let states = bases.iter().map(|basis| Branch::new(basis, later)).collect();
        LooNode { shared, selected: subset.to_vec(), later: later.to_vec(), states, fits: NodeFits::default() }
    }

    /// A score from the trials of each λ, from exact residuals where one is unreliable.
    fn settled(&self, trials: Vec<Trial>, change: Change) -> Result<Score> {
        trials.iter().for_each(|trial| self.shared.recorder.met(trial.conditioning));
        if !trials.iter().any(|trial| trial.is_unreliable()) {
            return lowest(self.states.iter().zip(&trials).map(|(state, trial)| (state.lambda(), trial.loss)));
        }
        let bases = self.shared.bases(&self.selected);
        let trials: Vec<Vec<Trial>> = trials.into_iter().map(|trial| vec![trial]).collect();
        let scores = self.shared.scores(&bases.iter().collect::<Vec<_>>(), &trials, &[change])?;
        Ok(scores.first().copied().unwrap_or(Score::WORST))
    }

    /// The fit of the subset and the later columns from `place` on.
    fn fit(&mut self, place: usize) -> Option<&SubtreeBound> {
        let members: Vec<Feature> = self.selected.iter().chain(&self.later).copied().collect();
        let dropped = &members[self.selected.len()..][..place];
        let (data, states) = (self.shared.data(), &self.states);
        self.fits.without(&members, dropped, || {
            let mut weights = vec![f64::INFINITY; data.rows()];
            states.iter().for_each(|state| state.lower_weights(&mut weights));
            SubtreeBound::new(data, &members, &weights)
        })
    }
}

impl vaglio_core::Branch for LooNode<'_, '_> {
    fn score(&mut self) -> Result<Score> {
        self.settled(self.states.iter().map(|state| state.score(self.shared.scorer())).collect(), Change::None)
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        for (&place, score) in places.iter().zip(scores) {
            if let [state] = &mut *self.states {
                let trial = state.trial(self.shared.scorer(), place);
                if !trial.is_unreliable() {
                    self.shared.recorder.met(trial.conditioning);
                    *score = lowest(std::iter::once((state.lambda(), trial.loss)))?;
                    continue;
                }
            }
            let trials = self.states.iter_mut().map(|state| state.trial(self.shared.scorer(), place)).collect();
            *score = self.settled(trials, Change::Add(self.later[place]))?;
        }
        Ok(())
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn vaglio_core::Branch + '_>> {
        // Without bounds so far there is nothing to hand on. Weights only grow, so those of this subset serve larger ones.
        let is_made = self.fits.is_made;
        let whole = if is_made { self.fit(place).cloned() } else { None };
        let (selected, later) = (larger(&self.selected, self.later[place]), self.later[place + 1..].to_vec());
        let mut states: Vec<Branch<'_>> = self.states.iter_mut().map(|state| state.child(place)).collect();
        if states.iter().any(Branch::is_dependent) {
            self.shared.recorder.rebuilt();
            states = self.shared.bases(&selected).iter().map(|basis| Branch::new(basis, &later)).collect();
        }
        Ok(Box::new(LooNode {
            shared: self.shared,
            selected,
            later,
            states,
            fits: NodeFits { is_made, whole, rest: None, is_own: false },
        }))
    }

    /// From place 0 on by a fit with the weights of this subset, where there are columns enough below to pay for it.
    fn bound(&mut self, place: usize, most: usize) -> Result<f64> {
        if place == 0 && !self.fits.is_own && self.later.len() >= WORTH_A_FIT {
            self.fits = NodeFits::default();
        }
        let (scorer, selected) = (self.shared.scorer(), self.selected.clone());
        Ok(self.fit(place).map_or(f64::NEG_INFINITY, |fit| fit.bound(scorer, &selected, most)))
    }
}

/// The fit of all columns that a node and everything below it can hold, from the first bound on.
#[derive(Default)]
struct NodeFits {
    is_made: bool,
    /// `None` before it is made, and where there is no such fit.
    whole: Option<SubtreeBound>,
    /// What the last child was given: the next one has a column less.
    rest: Option<SubtreeBound>,
    /// Whether the weights are those of the subset, or of one that it holds.
    is_own: bool,
}

/// Later columns from which on a subset has a fit with weights of its own.
const WORTH_A_FIT: usize = 6;

impl NodeFits {
    /// The fit of `members` without some of them. Cost O(|U|²) for each that the last one still had.
    fn without(
        &mut self,
        members: &[Feature],
        dropped: &[Feature],
        own: impl FnOnce() -> Option<SubtreeBound>,
    ) -> Option<&SubtreeBound> {
        if !self.is_made {
            (self.is_made, self.whole, self.is_own) = (true, own(), true);
        }
        let whole = self.whole.as_ref()?;
        if dropped.is_empty() {
            return Some(whole);
        }
        let kept: Vec<Feature> = members.iter().copied().filter(|f| !dropped.contains(f)).collect();
        if !self.rest.as_ref().is_some_and(|rest| rest.covers(&kept)) {
            self.rest = Some(whole.clone());
        }
        let rest = self.rest.as_mut()?;
        rest.keep(&kept);
        Some(rest)
    }
}
