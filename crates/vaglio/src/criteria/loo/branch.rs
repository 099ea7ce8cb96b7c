//! The evaluator of leave-one-out in depth-first search.

use super::common::Common;
use super::evaluator::LooEvaluator;
use super::settle::settle;
use crate::criteria::kernel::lowest;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use vaglio_core::{Evaluator, Feature, Result, Score};
use vaglio_kernels::loo::{Basis, Branch, Change, Possible};
use vaglio_kernels::{Data, Trial};

/// A subset and the columns that may follow, with one state per λ.
pub(super) struct LooBranch<'p, 'd> {
    common: Arc<Common<'d>>,
    selected: Vec<Feature>,
    later: Vec<Feature>,
    states: Vec<Branch<'p>>,
    within: Within<'p>,
    least_weight: Option<f64>,
    /// The evaluator that takes over when the subset is changed.
    plain: Option<LooEvaluator<'d>>,
}

impl<'p, 'd> LooBranch<'p, 'd> {
    /// The first branch of a search, from the states of its subset.
    pub fn new(common: Arc<Common<'d>>, bases: &[Basis<'d>], later: &[Feature], above: &'p Within<'p>) -> Self {
        let selected: Vec<Feature> = bases.first().map(|b| b.selected().collect()).unwrap_or_default();
        let within = Within::below(above, selected.iter().chain(later));
        let states = bases.iter().map(|basis| Branch::new(basis, later)).collect();
        LooBranch { common, selected, later: later.to_vec(), states, within, least_weight: None, plain: None }
    }

    fn place(&self, feature: Feature) -> Option<usize> {
        self.later.iter().position(|f| *f == feature)
    }

    /// An evaluator of its own for the subset.
    fn on_its_own(&self) -> Result<LooEvaluator<'d>> {
        let mut plain = LooEvaluator::new(Arc::clone(&self.common));
        plain.reset(&self.selected)?;
        Ok(plain)
    }

    fn plain(&mut self) -> Result<&mut LooEvaluator<'d>> {
        let plain = match self.plain.take() {
            Some(plain) => plain,
            None => self.on_its_own()?,
        };
        Ok(self.plain.insert(plain))
    }

    /// A score from the trials of each λ, made with care where one has lost its digits.
    fn settled(&self, trials: Vec<Trial>, change: Change) -> Result<Score> {
        if !trials.iter().any(|trial| trial.is_unreliable()) {
            return lowest(self.states.iter().zip(&trials).map(|(state, trial)| (state.lambda(), trial.loss)));
        }
        let bases = self.common.bases(&self.selected);
        let trials: Vec<Vec<Trial>> = trials.into_iter().map(|trial| vec![trial]).collect();
        let scores = settle(&self.common, &bases.iter().collect::<Vec<_>>(), &trials, &[change])?;
        Ok(scores.first().copied().unwrap_or(Score::WORST))
    }
}

impl Evaluator for LooBranch<'_, '_> {
    fn selected(&self) -> &[Feature] {
        self.plain.as_ref().map_or(&self.selected, |plain| plain.selected())
    }

    fn score(&mut self) -> Result<Score> {
        if let Some(plain) = &mut self.plain {
            return plain.score();
        }
        self.settled(self.states.iter().map(|state| state.score(&self.common.scorer)).collect(), Change::None)
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.plain()?.reset(subset)
    }

    fn score_additions(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        if let Some(plain) = &mut self.plain {
            return plain.score_additions(candidates, scores);
        }
        for (at, (&candidate, score)) in candidates.iter().zip(scores.iter_mut()).enumerate() {
            let place = if self.later.get(at) == Some(&candidate) { Some(at) } else { self.place(candidate) };
            let Some(place) = place else {
                self.on_its_own()?.score_additions(&[candidate], std::slice::from_mut(score))?;
                continue;
            };
            if let [state] = &mut *self.states {
                let trial = state.trial(&self.common.scorer, place);
                if !trial.is_unreliable() {
                    *score = lowest(std::iter::once((state.lambda(), trial.loss)))?;
                    continue;
                }
            }
            let trials = self.states.iter_mut().map(|state| state.trial(&self.common.scorer, place)).collect();
            *score = self.settled(trials, Change::Add(candidate))?;
        }
        Ok(())
    }

    fn score_removals(&mut self, candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.plain()?.score_removals(candidates, scores)
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        self.plain()?.add(feature)
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.plain()?.remove(feature)
    }

    fn standard_error(&mut self) -> Result<Option<f64>> {
        match &mut self.plain {
            Some(plain) => plain.standard_error(),
            None => self.on_its_own()?.standard_error(),
        }
    }

    fn engine(&self) -> &'static str {
        "dual"
    }

    fn branch(&self, feature: Feature, later: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        if let Some(plain) = &self.plain {
            return plain.branch(feature, later);
        }
        let mut selected = Vec::with_capacity(self.selected.len() + 1);
        selected.extend(&self.selected);
        selected.push(feature);
        let place = self.place(feature);
        let keep: Option<Vec<usize>> = match place {
            Some(place) if self.later.get(place + 1..) == Some(later) => Some((place + 1..self.later.len()).collect()),
            _ => later.iter().map(|f| self.place(*f)).collect(),
        };
        let (Some(place), Some(keep)) = (place, keep) else {
            return Ok(Some(Box::new(LooBranch::new(
                Arc::clone(&self.common),
                &self.common.bases(&selected),
                later,
                &self.within,
            ))));
        };
        Ok(Some(Box::new(LooBranch {
            common: Arc::clone(&self.common),
            within: Within::below(&self.within, selected.iter().chain(later)),
            selected,
            later: later.to_vec(),
            states: self.states.iter().map(|state| state.child(place, &keep)).collect(),
            least_weight: None,
            plain: None,
        })))
    }

    fn bound(&mut self, later: &[Feature]) -> Result<f64> {
        if let Some(plain) = &mut self.plain {
            return plain.bound(later);
        }
        let states = &self.states;
        let least = || states.iter().map(Branch::least_weight).fold(f64::INFINITY, f64::min);
        let least_weight = *self.least_weight.get_or_insert_with(least);
        let (data, scorer) = (self.common.data(), &self.common.scorer);
        if later == self.later {
            return Ok(self.within.whole(data).map_or(f64::NEG_INFINITY, |p| p.bound(scorer, least_weight)));
        }
        let members: Vec<Feature> = self.selected.iter().chain(later).copied().collect();
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
