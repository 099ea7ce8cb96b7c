//! The sign that ends work in the middle of a step.

use crate::{Error, Result, StopReason};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use vaglio_columns::Halt;

/// Time that the final fit and the figures have after the sign to stop.
const END: Duration = Duration::from_millis(1000);

/// Why work is to end, if it is.
type Reason = dyn Fn() -> Option<StopReason> + Send + Sync;

/// Whether a run is to end, for work that cannot ask the observer. The default never says so.
///
/// Work is asked to end, and never ended from outside: a part in this process that neither asks the sign nor calls
/// [`checkpoint`](crate::checkpoint) is waited for, and one that never returns keeps the run. Programs that parts start are ended.
#[derive(Clone, Default)]
pub struct StopSign {
    reason: Option<Arc<Reason>>,
    /// When it first said so.
    since: Arc<OnceLock<Instant>>,
    /// The question of loops that cannot ask a sign.
    halt: Halt,
}

impl StopSign {
    /// The sign that `reason` gives; once it gave a reason it keeps giving one.
    pub fn new(reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        StopSign::noting(Arc::default(), reason)
    }

    fn noting(since: Arc<OnceLock<Instant>>, reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        let first = Arc::clone(&since);
        let reason: Arc<Reason> = Arc::new(move || reason().inspect(|_| _ = first.set(Instant::now())));
        let of_loops = Arc::clone(&reason);
        StopSign { reason: Some(reason), since, halt: Halt::new(move || of_loops().is_some()) }
    }

    /// Gives this reason as well.
    #[must_use]
    pub fn or(self, reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        let first = self.reason;
        let first = move || first.as_ref().and_then(|first| first());
        StopSign::new(move || first().or_else(&reason))
    }

    /// Says so as well once `most` is over from `start` on.
    #[must_use]
    pub fn or_after(self, start: Instant, most: Duration) -> Self {
        self.or(move || (start.elapsed() >= most).then_some(StopReason::Limit))
    }

    /// A sign for the work that is left to be done when this one says so, such as the final fit: it says so a second later.
    #[must_use]
    pub fn at_the_end(&self) -> Self {
        let (Some(first), since) = (self.reason.clone(), Arc::clone(&self.since)) else { return self.clone() };
        let is_late = move || since.get().is_some_and(|since| since.elapsed() >= END);
        let late = move || first().filter(|_| is_late());
        StopSign::noting(Arc::clone(&self.since), late)
    }

    /// Does work whose loops end once the sign says so.
    ///
    /// # Errors
    /// Those of the work; [`Error::Stopped`].
    pub fn ends<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let stopped = || Err(Error::Stopped(self.reason().unwrap_or(StopReason::Interrupted)));
        self.halt.within(work).unwrap_or_else(stopped)
    }

    /// Why the run is to end, if it is.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.as_ref().and_then(|reason| reason())
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
