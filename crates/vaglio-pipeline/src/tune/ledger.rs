//! Cached scores of settings, within a budget.

use std::cell::RefCell;
use std::collections::HashMap;
use vaglio_core::{Error, Result};
use vaglio_report::record::{Bounds, ScoredSettings};

/// The criterion as a cached function on \[0, 1\]ᵈ.
pub(super) struct CachedCriterion<'a, F> {
    paths: &'a [&'a str],
    /// Range of every parameter.
    pub bounds: &'a [Bounds],
    /// Number of evaluations allowed.
    pub budget: usize,
    book: RefCell<TuningLog<F>>,
}

struct TuningLog<F> {
    /// Scores settings; `None` if the user stopped the run.
    evaluate: F,
    trials: Vec<ScoredSettings>,
    /// Lowest score so far with its point; the first of ties.
    lowest: Option<(f64, Vec<f64>)>,
    scores: HashMap<Vec<u64>, f64>,
    failure: Option<Error>,
    stopped: bool,
}

impl<'a, F: FnMut(&[f64]) -> Result<Option<f64>>> CachedCriterion<'a, F> {
    pub fn new(paths: &'a [&'a str], bounds: &'a [Bounds], budget: usize, evaluate: F) -> Self {
        let (trials, scores) = (Vec::new(), HashMap::new());
        let book = TuningLog { evaluate, trials, lowest: None, scores, failure: None, stopped: false };
        CachedCriterion { paths, bounds, budget, book: RefCell::new(book) }
    }

    /// Scores a point. Returns `None` if the budget is used up or the user stopped.
    pub fn score(&self, point: &[f64]) -> Option<f64> {
        let values: Vec<f64> = self.bounds.iter().zip(point).map(|(bounds, &place)| bounds.at(place)).collect();
        let key: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
        let book = &mut *self.book.borrow_mut();
        if let Some(known) = book.scores.get(&key) {
            return Some(*known);
        }
        if book.stopped || book.trials.len() >= self.budget {
            return None;
        }
        let span = tracing::debug_span!("evaluation", number = book.trials.len() + 1);
        let score = match span.in_scope(|| (book.evaluate)(&values)) {
            Ok(Some(score)) => score,
            Err(failure) => {
                tracing::debug!(%failure, "refused");
                book.failure.get_or_insert(failure);
                f64::INFINITY
            }
            Ok(None) => {
                book.stopped = true;
                return None;
            }
        };
        let parameters = self.paths.iter().zip(&values).map(|(path, value)| format!("{path} = {value}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        tracing::debug!(evaluation = book.trials.len() + 1, score, parameters, "tried");
        if book.lowest.as_ref().is_none_or(|(lowest, _)| score < *lowest) {
            book.lowest = Some((score, point.to_vec()));
        }
        book.trials.push(ScoredSettings { values, score });
        book.scores.insert(key, score);
        Some(score)
    }

    /// The point with the lowest score so far, clamped to the cube; the first of ties.
    pub fn best(&self) -> Option<Vec<f64>> {
        let book = self.book.borrow();
        book.lowest.as_ref().map(|(_, point)| point.iter().map(|place| place.clamp(0.0, 1.0)).collect())
    }

    /// Whether no further point will be scored.
    pub fn is_closed(&self) -> bool {
        let book = self.book.borrow();
        book.stopped || book.trials.len() >= self.budget
    }

    /// All scored settings, in order, and the first failure.
    pub fn into_trials(self) -> (Vec<ScoredSettings>, Option<Error>) {
        let book = self.book.into_inner();
        (book.trials, book.failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_scored_once_and_counts_once() {
        let calls = RefCell::new(0);
        let evaluate = |values: &[f64]| {
            *calls.borrow_mut() += 1;
            if values[0] == 3.0 { Err(Error::Numerical("three".into())) } else { Ok(Some(values[0])) }
        };
        let bounds = [Bounds::linear(0.0, 4.0).integer()];
        let ledger = CachedCriterion::new(&["learner.units"], &bounds, 3, evaluate);
        for (place, expected) in [(0.5, Some(2.0)), (0.52, Some(2.0)), (0.75, Some(f64::INFINITY)), (-1.0, Some(0.0))] {
            assert_eq!(ledger.score(&[place]), expected);
        }
        assert!(ledger.is_closed());
        assert_eq!(ledger.score(&[0.25]), None);
        assert_eq!(ledger.score(&[0.0]), Some(0.0));
        assert_eq!(ledger.best(), Some(vec![0.0]));
        let (trials, failure) = ledger.into_trials();
        assert_eq!((trials.len(), *calls.borrow()), (3, 3));
        assert_eq!(failure.unwrap().to_string(), "three");
    }
}
