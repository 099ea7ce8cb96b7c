//! What watches the fits of a pipeline, as a setting.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vaglio_core::{Journal, Monitor, Observer, Silent, StopSign};

/// What a trial of a part takes before it is reported, and after the limit of time before it is left.
const SLOW: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(2);

/// The observer of a pipeline's fits, if it has one, which clones share, and what ends them.
#[derive(Clone, Default)]
pub(crate) struct SharedMonitor {
    pub observer: Option<Arc<Mutex<dyn Observer>>>,
    pub stop: StopSign,
}

impl SharedMonitor {
    /// Calls `work` with the monitor, alone, for as long as `most`.
    pub fn during<T>(&self, most: Option<Duration>, work: impl FnOnce(&mut Monitor<'_>) -> T) -> T {
        let journal = Journal::default();
        let stop = most.map_or_else(
            || self.stop.clone(),
            |most| {
                self.stop.clone().or_after(Instant::now(), most).leaving(SLOW, GRACE, |line| tracing::warn!("{line}"))
            },
        );
        match &self.observer {
            Some(observer) => {
                let observer = &mut *observer.lock().unwrap_or_else(PoisonError::into_inner);
                work(&mut Monitor { observer, journal, stop })
            }
            None => work(&mut Monitor { observer: &mut Silent, journal, stop }),
        }
    }
}

impl fmt::Debug for SharedMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.observer.is_some() { "an observer" } else { "no observer" })
    }
}
