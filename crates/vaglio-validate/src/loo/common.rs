//! What all evaluators of one search share.

use crate::balance;
use crate::fits::{self, FOLDS_A_PART, Fits};
use crate::round::Round;
use std::sync::Arc;
use vaglio_core::{AnyLoss, Design, Measure, Recorder};
use vaglio_kernels::loo::Basis;
use vaglio_kernels::{Data, Scorer};

/// Rows that are left out of the same states.
pub(super) struct Part<'d> {
    pub data: Arc<Data<'d>>,
    /// Of these rows alone, from residuals that are scaled as in `data`.
    pub scorer: Scorer,
}

/// The rows, in parts that have states of their own, and the loss.
pub(super) struct Common<'d> {
    pub parts: Vec<Part<'d>>,
    /// Of all rows.
    pub scorer: Scorer,
    pub lambdas: Vec<f64>,
    /// Whether all rows are left out of one state, whose weights are those of the loss.
    pub is_whole: bool,
    /// Whether bounds may leave candidates untried.
    pub bounded: bool,
    /// Whether a subset is asked for one change alone, so that what others need is not kept.
    pub changes_once: bool,
    /// Subsets by themselves.
    pub fits: Fits<'d>,
    pub recorder: Recorder,
}

/// Parts beyond which leaving rows out one by one is not worth states of their own.
pub(super) const MOST_PARTS: usize = 32;
/// Doubles of weights beyond which parts are not decomposed, and every row is refitted.
const MOST: usize = 1 << 23;

/// The parts of the rows, where these are few enough for states, or for a decomposition of each.
pub(super) fn parts_of(design: &Design) -> Option<Vec<balance::Part>> {
    let rows = design.rows().max(1);
    let decomposed = (rows / FOLDS_A_PART).min(MOST / rows);
    balance::parts(design, &Round::single(design.rows()), decomposed.max(MOST_PARTS))
}

impl<'d> Common<'d> {
    /// What evaluators with states of the parts of `fits` share.
    pub fn new(design: &Design, loss: &AnyLoss, fits: Fits<'d>, lambdas: &[f64]) -> Self {
        let part = |part: &fits::Part<'d>| Part { data: Arc::clone(part.rows.data()), scorer: part.scorer.clone() };
        let parts = fits.parts.iter().map(part).collect();
        let is_whole = fits.are_whole();
        let bounded = is_whole && loss.measure() == Measure::Squared && design.decisions().is_none();
        Common {
            parts,
            scorer: fits.scorer.clone(),
            lambdas: lambdas.to_vec(),
            is_whole,
            bounded,
            changes_once: false,
            fits,
            recorder: Recorder::new(),
        }
    }

    /// The states of a subset as if they had just been built, for each λ one of every part.
    pub fn bases(&self, subset: &[usize]) -> Vec<Basis<'d>> {
        self.each(|data, lambda| Basis::of(data, lambda, subset.iter().copied()))
    }

    /// What `make` makes for each λ of every part.
    pub fn each<T>(&self, make: impl Fn(Arc<Data<'d>>, f64) -> T) -> Vec<T> {
        let of_lambda = |&lambda: &f64| self.parts.iter().map(move |part| (Arc::clone(&part.data), lambda));
        self.lambdas.iter().flat_map(of_lambda).map(|(data, lambda)| make(data, lambda)).collect()
    }

    /// The columns and targets; their weights are those of the first part.
    pub fn data(&self) -> &Data<'d> {
        &self.parts[0].data
    }

    /// The scorer of every state, in their order.
    pub fn scorers(&self) -> impl Iterator<Item = &Scorer> {
        self.parts.iter().map(|part| &part.scorer).cycle()
    }
}
