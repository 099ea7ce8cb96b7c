//! Cached scores of settings, within a budget.

use super::Tune;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use vaglio_core::{Error, Result};

/// Scores settings; `None` if the user stopped the run.
pub type Evaluate<'t> = dyn FnMut(&[f64]) -> Result<Option<f64>> + 't;

/// The criterion as a cached function on \[0, 1\]ᵈ.
pub struct CachedCriterion<'t> {
    /// Parameters with their bounds, and the number of evaluations allowed.
    pub tune: &'t Tune,
    evaluate: RefCell<&'t mut Evaluate<'t>>,
    /// Scores, by the bits of the values.
    scores: RefCell<HashMap<Vec<u64>, f64>>,
    /// The point with the lowest score, the first of ties, and that score; +∞ where settings were refused.
    best: RefCell<Option<(Vec<f64>, f64)>>,
    failure: RefCell<Option<Error>>,
    stopped: Cell<bool>,
}

impl<'t> CachedCriterion<'t> {
    pub fn new(tune: &'t Tune, evaluate: &'t mut Evaluate<'t>) -> Self {
        let (scores, best, failure) = Default::default();
        CachedCriterion { tune, evaluate: RefCell::new(evaluate), scores, best, failure, stopped: Cell::new(false) }
    }

    /// The value of every parameter at a point, in the order of their paths.
    fn values(&self, point: &[f64]) -> Vec<f64> {
        self.tune.parameters.values().zip(point).map(|(bounds, &place)| bounds.at(place)).collect()
    }

    /// Scores a point. Returns `None` if the budget is used up or the user stopped.
    pub fn score(&self, point: &[f64]) -> Option<f64> {
        let values = self.values(point);
        let key: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
        if let Some(known) = self.scores.borrow().get(&key) {
            return Some(*known);
        }
        if self.is_closed() {
            return None;
        }
        let evaluation = self.scores.borrow().len() + 1;
        let span = tracing::debug_span!("evaluation", number = evaluation);
        let evaluate = &mut *self.evaluate.borrow_mut();
        let score = match span.in_scope(|| evaluate(&values)) {
            Ok(Some(score)) => score,
            Err(failure) => {
                tracing::debug!(%failure, "refused");
                self.failure.borrow_mut().get_or_insert(failure);
                f64::INFINITY
            }
            Ok(None) => {
                self.stopped.set(true);
                return None;
            }
        };
        let parameters = self.tune.parameters.keys().zip(&values).map(|(path, value)| format!("{path} = {value}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        tracing::debug!(evaluation, score, parameters, "tried");
        self.scores.borrow_mut().insert(key, score);
        let mut best = self.best.borrow_mut();
        if best.as_ref().is_none_or(|(_, lowest)| score < *lowest) {
            *best = Some((point.to_vec(), score));
        }
        Some(score)
    }

    /// The point with the lowest score so far, clamped to the cube; the first of ties.
    pub fn best(&self) -> Option<Vec<f64>> {
        let best = self.best.borrow();
        Some(best.as_ref()?.0.iter().map(|place| place.clamp(0.0, 1.0)).collect())
    }

    /// Whether no further point will be scored.
    pub fn is_closed(&self) -> bool {
        self.stopped.get() || self.scores.borrow().len() >= self.tune.budget
    }

    /// Values with the lowest score, and that score.
    pub fn best_values(&self) -> Option<(Vec<f64>, f64)> {
        self.best.borrow().as_ref().map(|(point, score)| (self.values(point), *score))
    }

    /// Number of evaluations, and the first failure.
    pub fn into_counts(self) -> (usize, Option<Error>) {
        (self.scores.into_inner().len(), self.failure.into_inner())
    }
}
