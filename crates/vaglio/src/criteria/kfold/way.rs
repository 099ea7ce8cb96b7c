//! The ways to the scores, behind one face.

use std::sync::Arc;
use vaglio_core::{Error, Feature, Result};
use vaglio_kernels::Scorer;
use vaglio_kernels::kfold::Rows;
use vaglio_kernels::kfold::hold_out::{self, HoldOut, HoldOutRows};

/// The outcome of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    /// The mean loss.
    pub loss: f64,
    /// Whether it has lost so many digits that the folds are to be refitted from the rows.
    pub is_weak: bool,
}

impl Tried {
    /// Nothing is known.
    pub const UNKNOWN: Tried = Tried { loss: f64::INFINITY, is_weak: true };
}

/// One way to compute scores: a current subset, and the mean losses of every change of it for each λ.
pub(super) trait Way: Send {
    /// The losses of the subset: one trial for each λ.
    fn current(&mut self) -> Result<Vec<Tried>>;

    /// The losses with each candidate added: λ × candidates.
    fn additions(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>>;

    /// The losses with each candidate removed: λ × candidates.
    fn removals(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>>;

    fn add(&mut self, feature: Feature) -> Result<()>;

    fn remove(&mut self, feature: Feature) -> Result<()>;

    fn reset(&mut self, subset: &[Feature]) -> Result<()>;

    /// What tells how the loss spreads over folds, for the λ of that place.
    fn spread(&mut self, lambda: usize) -> Result<Spread>;

    /// The same with one column more, for additions of `later` columns alone.
    fn branch(&self, feature: Feature, later: &[Feature]) -> Result<Box<dyn Way + '_>>;

    /// The word for it in `selection.json`.
    fn engine(&self) -> &'static str;
}

/// From what the spread of a loss over folds is computed.
pub(super) enum Spread {
    /// Sums of squared errors of each fold.
    Folds(Vec<f64>),
    /// Residuals held out, scaled: outputs × rows as given.
    Residuals(Vec<Vec<f64>>),
    /// Nothing: the subset is to be refitted.
    Unknown,
}

/// Rows held out: one state for each λ.
pub(super) struct Dual<'d> {
    states: Vec<HoldOut<'d>>,
    /// Of residuals whose rows stand fold after fold.
    scorer: Arc<Scorer>,
}

impl<'d> Dual<'d> {
    pub(super) fn new(rows: &Arc<Rows<'d>>, scorer: Scorer, lambdas: &[f64]) -> Self {
        let rows = Arc::new(HoldOutRows::new(Arc::clone(rows)));
        let states = lambdas.iter().map(|&lambda| HoldOut::new(Arc::clone(&rows), lambda)).collect();
        Dual { states, scorer: Arc::new(scorer) }
    }
}

fn tried(trial: hold_out::Trial) -> Tried {
    Tried { loss: trial.loss, is_weak: hold_out::is_weak(trial.low) }
}

fn all_tried(trials: Vec<hold_out::Trial>) -> Vec<Tried> {
    trials.into_iter().map(tried).collect()
}

impl Way for Dual<'_> {
    fn current(&mut self) -> Result<Vec<Tried>> {
        Ok(self.states.iter_mut().map(|state| tried(state.score(&self.scorer))).collect())
    }

    fn additions(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        Ok(self.states.iter_mut().map(|state| all_tried(state.additions(&self.scorer, candidates))).collect())
    }

    fn removals(&mut self, candidates: &[Feature]) -> Result<Vec<Vec<Tried>>> {
        Ok(self.states.iter_mut().map(|state| all_tried(state.removals(&self.scorer, candidates))).collect())
    }

    fn add(&mut self, feature: Feature) -> Result<()> {
        self.states.iter_mut().for_each(|state| state.add(feature));
        Ok(())
    }

    fn remove(&mut self, feature: Feature) -> Result<()> {
        self.states.iter_mut().for_each(|state| state.remove(feature));
        Ok(())
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.states.iter_mut().for_each(|state| state.reset(subset));
        Ok(())
    }

    fn spread(&mut self, lambda: usize) -> Result<Spread> {
        Ok(self.states.get_mut(lambda).map_or(Spread::Unknown, |state| Spread::Residuals(state.residuals())))
    }

    fn branch(&self, feature: Feature, later: &[Feature]) -> Result<Box<dyn Way + '_>> {
        let states = self.states.iter().map(|state| state.branch(feature, later)).collect();
        Ok(Box::new(Dual { states, scorer: Arc::clone(&self.scorer) }))
    }

    fn engine(&self) -> &'static str {
        "dual"
    }
}

/// What a branch cannot do.
pub(super) fn later_only() -> Error {
    Error::Numerical("a branch of a search of all subsets scores additions of later columns alone".into())
}
