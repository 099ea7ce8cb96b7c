//! Observers as settings.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use vaglio_core::{Observer, Silent};

/// The observer of a pipeline's fits, if it has one; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Watched(Option<Arc<Mutex<dyn Observer>>>);

impl Watched {
    pub fn by(observer: impl Observer + 'static) -> Self {
        Watched(Some(Arc::new(Mutex::new(observer))))
    }

    /// Calls `work` with the observer, alone.
    pub fn during<T>(&self, work: impl FnOnce(&mut dyn Observer) -> T) -> T {
        match &self.0 {
            Some(observer) => work(&mut *observer.lock().unwrap_or_else(PoisonError::into_inner)),
            None => work(&mut Silent),
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "an observer" } else { "no observer" })
    }
}
