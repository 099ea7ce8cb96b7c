//! The nodes of leave-one-out in depth-first search.

use super::common::Common;
use super::settle::settle;
use crate::criteria::kernel::lowest;
use std::sync::{Mutex, OnceLock, PoisonError};
use vaglio_core::{Feature, Result, Score, larger};
use vaglio_kernels::loo::{Basis, Branch, Change, Possible};
use vaglio_kernels::{Data, Trial};

/// A subset and the columns that may follow, with one state per λ.
pub(super) struct LooNode<'p, 'd> {
    common: &'p Common<'d>,
    selected: Vec<Feature>,
    later: Vec<Feature>,
    states: Vec<Branch<'p>>,
    within: Within<'p>,
    least_weight: Option<f64>,
}

impl<'p, 'd> LooNode<'p, 'd> {
    /// The root of a search, from the states of its subset.
    pub fn root(
        common: &'p Common<'d>,
        bases: &[Basis<'d>],
        subset: &[Feature],
        later: &[Feature],
        above: &'p Within<'p>,
    ) -> Self {
        let within = Within::below(above, subset.iter().chain(later));
        let states = bases.iter().map(|basis| Branch::new(basis, later)).collect();
        LooNode { common, selected: subset.to_vec(), later: later.to_vec(), states, within, least_weight: None }
    }

    /// A score from the trials of each λ, made with care where one has lost its digits.
    fn settled(&self, trials: Vec<Trial>, change: Change) -> Result<Score> {
        if !trials.iter().any(|trial| trial.is_unreliable()) {
            return lowest(self.states.iter().zip(&trials).map(|(state, trial)| (state.lambda(), trial.loss)));
        }
        let bases = self.common.bases(&self.selected);
        let trials: Vec<Vec<Trial>> = trials.into_iter().map(|trial| vec![trial]).collect();
        let scores = settle(self.common, &bases.iter().collect::<Vec<_>>(), &trials, &[change])?;
        Ok(scores.first().copied().unwrap_or(Score::WORST))
    }
}

impl vaglio_core::Branch for LooNode<'_, '_> {
    fn score(&mut self) -> Result<Score> {
        self.settled(self.states.iter().map(|state| state.score(&self.common.scorer)).collect(), Change::None)
    }

    fn score_additions(&mut self, places: &[usize], scores: &mut [Score]) -> Result<()> {
        for (&place, score) in places.iter().zip(scores) {
            if let [state] = &mut *self.states {
                let trial = state.trial(&self.common.scorer, place);
                if !trial.is_unreliable() {
                    *score = lowest(std::iter::once((state.lambda(), trial.loss)))?;
                    continue;
                }
            }
            let trials = self.states.iter_mut().map(|state| state.trial(&self.common.scorer, place)).collect();
            *score = self.settled(trials, Change::Add(self.later[place]))?;
        }
        Ok(())
    }

    fn child(&mut self, place: usize) -> Result<Box<dyn vaglio_core::Branch + '_>> {
        let (selected, later) = (larger(&self.selected, self.later[place]), self.later[place + 1..].to_vec());
        let keep: Vec<usize> = (place + 1..self.later.len()).collect();
        Ok(Box::new(LooNode {
            common: self.common,
            within: Within::below(&self.within, selected.iter().chain(&later)),
            states: self.states.iter().map(|state| state.child(place, &keep)).collect(),
            selected,
            later,
            least_weight: None,
        }))
    }

    fn bound(&mut self, place: usize) -> Result<f64> {
        let states = &self.states;
        let least = || states.iter().map(Branch::least_weight).fold(f64::INFINITY, f64::min);
        let least_weight = *self.least_weight.get_or_insert_with(least);
        let (data, scorer) = (self.common.data(), &self.common.scorer);
        if place == 0 {
            return Ok(self.within.whole(data).map_or(f64::NEG_INFINITY, |p| p.bound(scorer, least_weight)));
        }
        let members: Vec<Feature> = self.selected.iter().chain(&self.later[place..]).copied().collect();
        let fit = self.within.part(data, &members);
        Ok(fit.map_or(f64::NEG_INFINITY, |p| p.bound(scorer, least_weight)))
    }
}

/// The columns that a branch and everything below it can hold, with their fit as soon as a bound is asked for.
pub(super) struct Within<'p> {
    above: Option<&'p Within<'p>>,
    members: Vec<Feature>,
    fit: OnceLock<Option<Possible>>,
    /// The fit that the last child was given: the next one has a column less.
    last: Mutex<Option<Possible>>,
}

impl<'p> Within<'p> {
    /// Any columns.
    pub fn all() -> Self {
        Within { above: None, members: Vec::new(), fit: OnceLock::new(), last: Mutex::new(None) }
    }

    fn below<'f>(above: &'p Within<'p>, members: impl Iterator<Item = &'f Feature>) -> Self {
        let members = members.copied().collect();
        Within { above: Some(above), members, fit: OnceLock::new(), last: Mutex::new(None) }
    }

    /// The fit of all members.
    fn whole(&self, data: &Data<'_>) -> Option<&Possible> {
        self.fit.get_or_init(|| self.above.and_then(|above| above.part(data, &self.members))).as_ref()
    }

    /// The fit of some members, a column less at a time from the one before. Cost O(|U|²) for each.
    pub fn part(&self, data: &Data<'_>, members: &[Feature]) -> Option<Possible> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !last.as_ref().is_some_and(|fit| fit.covers(members)) {
            *last = match self.above {
                None => Possible::new(data, members),
                Some(_) => self.whole(data).filter(|fit| fit.covers(members)).cloned(),
            };
        }
        let fit = last.as_mut()?;
        fit.keep(members);
        Some(fit.clone())
    }
}
