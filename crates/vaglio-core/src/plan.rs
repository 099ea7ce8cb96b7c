//! Plans: how a criterion computes on a design, decided once; `vaglio plan` prints the plan and the run follows it.

use crate::{EngineEvaluator, Geometry, Result};
use std::sync::Arc;

/// The engine of a search with its cost, and a closure that starts it.
pub struct Plan<'d> {
    /// Engine and cost of the search.
    pub estimate: Estimate,
    /// Whether most of the work goes through the process group of [`Design::run`](crate::Design::run), so that
    /// other processes can assist the search.
    pub is_in_parts: bool,
    /// Relevance and Gram columns for least-angle searches; `None` for linear correlation.
    pub geometry: Option<Arc<dyn Geometry + 'd>>,
    /// Whether an evaluator is expected to run the trials.
    pub has_engine: bool,
    start: Start<'d>,
}

type Start<'d> = Box<dyn FnOnce() -> Result<Option<EngineEvaluator<'d>>> + 'd>;

impl<'d> Plan<'d> {
    /// Plans every trial by the criterion's definition.
    pub fn by_definition(estimate: Estimate) -> Self {
        Plan::new(estimate, false, || Ok(None))
    }

    /// Plans trials by the evaluator that `start` creates, at the empty subset.
    pub fn by_engine<E: Into<EngineEvaluator<'d>>>(estimate: Estimate, start: impl FnOnce() -> Result<E> + 'd) -> Self {
        Plan::new(estimate, true, || Ok(Some(start()?.into())))
    }

    /// Plans trials by the evaluator that `start` creates, or by the definition if it returns `None`. `has_engine` says
    /// whether an evaluator is expected. With or without one, `start` may fail.
    pub fn new(
        estimate: Estimate,
        has_engine: bool,
        start: impl FnOnce() -> Result<Option<EngineEvaluator<'d>>> + 'd,
    ) -> Self {
        Plan { estimate, is_in_parts: false, geometry: None, has_engine, start: Box::new(start) }
    }

    /// Sets the geometry of least-angle searches, which computes nothing before it is asked.
    #[must_use]
    pub fn with_geometry(self, geometry: impl Geometry + 'd) -> Self {
        Plan { geometry: Some(Arc::new(geometry)), ..self }
    }

    /// Starts the evaluator at the empty subset; `None` if every trial uses the definition.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] when the columns over- or underflow.
    pub fn start(self) -> Result<Option<EngineEvaluator<'d>>> {
        (self.start)()
    }
}

/// The engine that a criterion chooses, and its cost.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The engine's identifier in `selection.json`.
    pub engine: &'static str,
    /// The reason for the choice.
    pub reason: String,
    /// Floating-point operations of the search; NaN if unknown.
    pub flops: f64,
    /// Memory in bytes in addition to the data; NaN if unknown.
    pub bytes: f64,
}

impl Estimate {
    /// An estimate of unknown cost.
    pub fn unknown(engine: &'static str, reason: impl Into<String>) -> Self {
        Estimate { engine, reason: reason.into(), flops: f64::NAN, bytes: f64::NAN }
    }

    /// Whether flops or bytes are known.
    pub fn is_known(&self) -> bool {
        !(self.flops.is_nan() && self.bytes.is_nan())
    }

    /// The estimate of `times` repetitions of the work.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Estimate { flops: times as f64 * self.flops, bytes: times as f64 * self.bytes, ..self }
    }
}
