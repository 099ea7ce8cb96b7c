//! Observer and limits of a pipeline's fits, as a setting.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vaglio_core::{Answer, Event, Journal, Monitor, Observer, Silent, StopSign};

/// Observer of a pipeline's fits, shared by clones, and their stop sign.
#[derive(Clone, Default)]
pub(crate) struct SharedMonitor {
    pub observer: Option<SharedObserver>,
    pub stop: StopSign,
}

/// An observer shared by several fits, locked for each event.
#[derive(Clone)]
pub(crate) struct SharedObserver(Arc<Mutex<dyn Observer>>);

impl SharedObserver {
    pub fn new(observer: impl Observer + 'static) -> Self {
        SharedObserver(Arc::new(Mutex::new(observer)))
    }
}

impl Observer for SharedObserver {
    fn observe(&mut self, event: &Event<'_>) -> Answer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).observe(event)
    }
}

impl SharedMonitor {
    /// Calls `work` with the monitor of one fit, which ends after `most`.
    pub fn during<T>(&self, most: Option<Duration>, work: impl FnOnce(&mut Monitor<'_>) -> T) -> T {
        let stop = self.stop.clone();
        let stop = if let Some(most) = most { stop.or_after(Instant::now(), most) } else { stop };
        let (mut shared, mut silent) = (self.observer.clone(), Silent);
        let observer: &mut dyn Observer = match &mut shared {
            Some(shared) => shared,
            None => &mut silent,
        };
        work(&mut Monitor { observer, journal: Journal::default(), stop })
    }
}

impl fmt::Debug for SharedMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.observer.is_some() { "an observer" } else { "no observer" })
    }
}
