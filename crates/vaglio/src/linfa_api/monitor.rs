//! What watches the fits of a pipeline, as a setting.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use vaglio_core::{Journal, Monitor, Observer, Silent, StopSign};

/// The observer of a pipeline's fits, if it has one, which clones share, and what ends them.
#[derive(Clone, Default)]
pub(crate) struct SharedMonitor {
    pub observer: Option<Arc<Mutex<dyn Observer>>>,
    pub stop: StopSign,
}

impl SharedMonitor {
    /// Calls `work` with the monitor, alone.
    pub fn during<T>(&self, work: impl FnOnce(&mut Monitor<'_>) -> T) -> T {
        let (journal, stop) = (Journal::default(), self.stop.clone());
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
