//! The sign that ends work in the middle of a step.

use crate::apart::Apart;
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
#[derive(Clone, Default)]
pub struct StopSign {
    reason: Option<Arc<Reason>>,
    /// When it first said so.
    since: Arc<OnceLock<Instant>>,
    /// The question of loops that cannot ask a sign.
    halt: Halt,
    /// How work is left that does not ask.
    pub(crate) apart: Option<Apart>,
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
        StopSign { reason: Some(reason), since, halt: Halt::new(move || of_loops().is_some()), apart: None }
    }

    /// The same, which also gives this reason.
    #[must_use]
    pub fn or(self, reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        let (first, apart) = (self.reason, self.apart);
        let first = move || first.as_ref().and_then(|first| first());
        StopSign { apart, ..StopSign::new(move || first().or_else(&reason)) }
    }

    /// The same, which also says so once `most` is over from `start` on.
    #[must_use]
    pub fn or_after(self, start: Instant, most: Duration) -> Self {
        self.or(move || (start.elapsed() >= most).then_some(StopReason::Limit))
    }

    /// The same for parts that may not ask it: a trial by a criterion's definition, or by training a learner anew, is then made
    /// on a thread of its own, and where it goes on for longer than `grace` after the sign it is left there, so that the work
    /// ends with what it has. What is left keeps its thread for as long as it goes on.
    ///
    /// `report` is given a sentence that names part and columns where a trial has taken `slow`, at each doubling of that, and where it
    /// is left. A trial costs a change of threads more, some 10 µs.
    #[must_use]
    pub fn leaving(self, slow: Duration, grace: Duration, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        StopSign { apart: Some(Apart::new(slow, grace, report)), ..self }
    }

    /// A sign for the work that is left to be done when this one says so, such as the final fit: it says so a second later.
    #[must_use]
    pub fn at_the_end(&self) -> Self {
        let (Some(first), since) = (self.reason.clone(), Arc::clone(&self.since)) else { return self.clone() };
        let is_late = move || since.get().is_some_and(|since| since.elapsed() >= END);
        let late = move || first().filter(|_| is_late());
        StopSign { apart: self.apart.clone(), ..StopSign::noting(Arc::clone(&self.since), late) }
    }

    /// Does work whose loops end once the sign says so.
    ///
    /// # Errors
    /// Those of the work; [`Error::Stopped`].
    pub fn ends<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let stopped = || Err(Error::Stopped(self.reason().unwrap_or(StopReason::Interrupted)));
        self.halt.within(work).unwrap_or_else(stopped)
    }

    /// A sign for a last piece of work after this one has said so: it says so when `most` is over. Parts that do not ask it are left as
    /// under this one.
    #[must_use]
    pub fn renewed(&self, most: Duration) -> Self {
        StopSign { apart: self.apart.clone(), ..StopSign::default().or_after(Instant::now(), most) }
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
