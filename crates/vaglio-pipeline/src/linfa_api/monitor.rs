//! What watches the fits of a pipeline, as a setting.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vaglio_core::{Answer, Event, Journal, Monitor, Observer, Silent, StopSign};

/// What a trial of a part takes before it is reported, and after the limit of time before it is left.
const SLOW: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_millis(300);

/// The observer of a pipeline's fits, if it has one, which clones share, and what ends them.
#[derive(Clone, Default)]
pub(crate) struct SharedMonitor {
    pub observer: Option<SharedObserver>,
    pub stop: StopSign,
}

/// An observer of several fits, locked for the time of one event.
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
        let stop = most.map_or_else(
            || self.stop.clone(),
            |most| {
                self.stop.clone().or_after(Instant::now(), most).leaving(SLOW, GRACE, |line| tracing::warn!("{line}"))
            },
        );
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
