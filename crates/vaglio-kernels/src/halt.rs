//! The end of work that takes long, from outside.

use crate::linalg::Failure;
use std::fmt;
use std::sync::Arc;

/// Asked between pieces of long work: whether it is to stop. Once it says so, it keeps saying so. The default never does.
#[derive(Clone, Default)]
pub struct Halt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Halt {
    /// By a function that any thread may ask.
    pub fn new(is_due: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Halt(Some(Arc::new(is_due)))
    }

    /// Goes on, or not.
    ///
    /// # Errors
    /// [`Failure::Stopped`].
    pub fn check(&self) -> Result<(), Failure> {
        match &self.0 {
            Some(is_due) if is_due() => Err(Failure::Stopped),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Halt").field(&self.check().is_err()).finish()
    }
}
