//! How a criterion computes on a design: decided once, told by `vaglio plan` and followed by the run.

use crate::{Result, Shortcut};

/// The engine of a search with its cost, and what starts it.
pub struct Plan<'d> {
    /// What the search uses and costs.
    pub estimate: Estimate,
    has_engine: bool,
    start: Start<'d>,
}

type Start<'d> = Box<dyn FnOnce() -> Result<Option<Shortcut<'d>>> + 'd>;

impl<'d> Plan<'d> {
    /// Every trial by the criterion's definition.
    pub fn by_definition(estimate: Estimate) -> Self {
        Plan { estimate, has_engine: false, start: Box::new(|| Ok(None)) }
    }

    /// Trials by an evaluator, which `start` makes under the engine of the estimate.
    pub fn by_engine(estimate: Estimate, start: impl FnOnce() -> Result<Shortcut<'d>> + 'd) -> Self {
        Plan { estimate, has_engine: true, start: Box::new(|| start().map(Some)) }
    }

    /// A plan that is refused at its start where `check` fails.
    #[must_use]
    pub fn checked_by(self, check: impl FnOnce() -> Result<()> + 'd) -> Self {
        let start = self.start;
        Plan { start: Box::new(|| check().and_then(|()| start())), ..self }
    }

    /// Whether trials are made by an evaluator.
    pub fn has_engine(&self) -> bool {
        self.has_engine
    }

    /// The evaluator at the empty subset; `None` where every trial is made by the definition.
    ///
    /// # Errors
    /// [`crate::Error::Numerical`] when the columns over- or underflow.
    pub fn start(self) -> Result<Option<Shortcut<'d>>> {
        (self.start)()
    }
}

/// The engine that a criterion chooses, and its cost.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// Its identifier in `selection.json`.
    pub engine: &'static str,
    /// Why it was chosen.
    pub reason: String,
    /// Floating-point operations of the search; NaN, as bytes are, where nothing is known.
    pub flops: f64,
    /// Bytes beside the data.
    pub bytes: f64,
}

impl Estimate {
    /// Of work of which nothing is known.
    pub fn unknown(engine: &'static str, reason: impl Into<String>) -> Self {
        Estimate { engine, reason: reason.into(), flops: f64::NAN, bytes: f64::NAN }
    }

    /// Whether anything is known of the work.
    pub fn is_known(&self) -> bool {
        !(self.flops.is_nan() && self.bytes.is_nan())
    }

    /// The same work so many times.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Estimate { flops: times as f64 * self.flops, bytes: times as f64 * self.bytes, ..self }
    }
}
