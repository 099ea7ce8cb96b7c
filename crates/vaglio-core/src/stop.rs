//! The sign that ends work in the middle of a step.

use crate::{Error, Result, StopReason};
use std::fmt;
use std::sync::Arc;

/// Whether a run is to end, for work that cannot ask the observer. The default never says so.
#[derive(Clone, Default)]
pub struct StopSign(Option<Arc<dyn Fn() -> Option<StopReason> + Send + Sync>>);

impl StopSign {
    /// The sign that `reason` gives; once it gave a reason it keeps giving one.
    pub fn new(reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        StopSign(Some(Arc::new(reason)))
    }

    /// Why the run is to end, if it is.
    pub fn reason(&self) -> Option<StopReason> {
        self.0.as_ref().and_then(|reason| reason())
    }

    /// Ends work that has far to go when the run is to end.
    ///
    /// # Errors
    /// [`Error::Stopped`], of which searches make the end of their path.
    pub fn check(&self) -> Result<()> {
        self.reason().map_or(Ok(()), |reason| Err(Error::Stopped(reason)))
    }
}

impl fmt::Debug for StopSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopSign").field(&self.reason()).finish()
    }
}
