//! Stop signs, which end work in the middle of a step.

use crate::{Error, Result, StopReason};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use vaglio_columns::CancelToken;

/// Time for the final fit and the report's values after the stop sign.
const END: Duration = Duration::from_millis(1000);

/// The question that a sign asks: the reason to end, if any.
type Reason = dyn Fn() -> Option<StopReason> + Send + Sync;

/// A sign that asks a run to end, for work that cannot ask the observer. The default never does.
///
/// Work must check the sign; it is never interrupted from outside. The run waits for parts that neither ask the sign
/// nor call [`checkpoint`](crate::checkpoint), even if they never return. External programs that parts start are
/// killed.
#[derive(Clone, Default)]
pub struct StopSign {
    reason: Option<Arc<Reason>>,
    /// Time of the first positive answer.
    since: Arc<OnceLock<Instant>>,
    /// Token for loops that cannot ask a sign.
    halt: CancelToken,
}

impl StopSign {
    /// Creates a sign from `reason`. Once it returns a reason, it must keep returning one.
    pub fn new(reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        StopSign::noting(Arc::default(), reason)
    }

    fn noting(since: Arc<OnceLock<Instant>>, reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        let first = Arc::clone(&since);
        let reason: Arc<Reason> = Arc::new(move || reason().inspect(|_| _ = first.set(Instant::now())));
        let loop_reason = Arc::clone(&reason);
        StopSign { reason: Some(reason), since, halt: CancelToken::new(move || loop_reason().is_some()) }
    }

    /// Adds another reason.
    #[must_use]
    pub fn or(self, reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        let first = self.reason;
        let first = move || first.as_ref().and_then(|first| first());
        StopSign::new(move || first().or_else(&reason))
    }

    /// Adds a time limit, if there is one: `most` after `start`.
    #[must_use]
    pub fn or_after(self, start: Instant, most: impl Into<Option<Duration>>) -> Self {
        match most.into() {
            Some(most) => self.or(move || (start.elapsed() >= most).then_some(StopReason::Limit)),
            None => self,
        }
    }

    /// A sign for the remaining work after this one, such as the final fit; it is raised a second later.
    #[must_use]
    pub fn at_the_end(&self) -> Self {
        let (Some(first), since) = (self.reason.clone(), Arc::clone(&self.since)) else { return self.clone() };
        let is_late = move || since.get().is_some_and(|since| since.elapsed() >= END);
        let late = move || first().filter(|_| is_late());
        StopSign::noting(Arc::clone(&self.since), late)
    }

    /// Runs work whose loops end once the sign is raised.
    ///
    /// # Errors
    /// Returns an error of `work`, or [`Error::Stopped`].
    pub fn ends<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let stopped = || Err(Error::Stopped(self.reason().unwrap_or(StopReason::Interrupted)));
        self.halt.within(work).unwrap_or_else(stopped)
    }

    /// The reason to end the run, if any.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.as_ref().and_then(|reason| reason())
    }

    /// Fails if the run is to end. To be called in long loops.
    ///
    /// # Errors
    /// Returns [`Error::Stopped`]; searches turn it into the end of their path.
    pub fn check(&self) -> Result<()> {
        self.reason().map_or(Ok(()), |reason| Err(Error::Stopped(reason)))
    }
}

impl fmt::Debug for StopSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopSign").field(&self.reason()).finish()
    }
}
