//! Observer and limits of a pipeline's fits, as a setting.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vaglio_core::{Answer, Event, Journal, Monitor, Observer, StopSign};

/// Observer and stop sign of a pipeline's fits, shared by clones; the observer is locked for each event.
#[derive(Clone, Default)]
pub(crate) struct SharedMonitor {
    pub observer: Option<Arc<Mutex<dyn Observer>>>,
    pub stop: StopSign,
}

impl Observer for SharedMonitor {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        let observer = self.observer.as_ref();
        observer.map_or(Answer::Continue, |o| o.lock().unwrap_or_else(PoisonError::into_inner).observe(event))
    }
}

impl SharedMonitor {
    /// Calls `work` with the monitor of one fit, which ends after `most`.
    pub fn during<T>(&self, most: Option<Duration>, work: impl FnOnce(&mut Monitor<'_>) -> T) -> T {
        let stop = self.stop.clone();
        let stop = stop.or_after(Instant::now(), most);
        work(&mut Monitor { observer: &mut self.clone(), journal: Journal::default(), stop })
    }
}

impl fmt::Debug for SharedMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.observer.is_some() { "an observer" } else { "no observer" })
    }
}
