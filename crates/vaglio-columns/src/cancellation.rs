//! Cooperative cancellation: long loops call [`checkpoint`], which unwinds to [`CancelToken::within`] once cancelled.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

thread_local! {
    /// Cancellation token of this thread.
    static CURRENT: RefCell<CancelToken> = const { RefCell::new(CancelToken(None)) };
}

/// Cancellation token: a function that returns true from cancellation on. The default never cancels.
#[derive(Clone, Default)]
pub struct CancelToken(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

/// Payload of the unwinding.
struct CancelledPanic;

impl CancelToken {
    /// Creates a token that asks `is_due`, from any thread.
    pub fn new(is_due: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        CancelToken(Some(Arc::new(is_due)))
    }

    /// The current token of this thread.
    pub fn current() -> Self {
        CURRENT.with_borrow(CancelToken::clone)
    }

    /// Runs `work` under this token. Returns `None` if `work` was cancelled and ended at a [`checkpoint`].
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let entered = self.enter();
        let done = catch_unwind(AssertUnwindSafe(work));
        drop(entered);
        match done {
            Ok(done) => Some(done),
            Err(payload) if payload.is::<CancelledPanic>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Makes this the token of the thread while the guard lives. A parallel loop enters the token of the thread that
    /// started it.
    pub fn enter(&self) -> impl Drop + use<> {
        CancelGuard(CURRENT.replace(self.clone()))
    }

    /// Whether the token is cancelled.
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|is_due| is_due())
    }

    /// Unwinds to the enclosing [`CancelToken::within`] if this token is cancelled.
    pub fn check(&self) {
        if self.is_due() {
            resume_unwind(Box::new(CancelledPanic));
        }
    }

    /// Whether the token can cancel at all.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.is_due()).finish()
    }
}

/// Guard of [`CancelToken::enter`]: restores the previous token.
struct CancelGuard(CancelToken);

impl Drop for CancelGuard {
    fn drop(&mut self) {
        CURRENT.set(std::mem::take(&mut self.0));
    }
}

/// Unwinds to the enclosing [`CancelToken::within`] if this thread's token is cancelled. Takes under a microsecond.
pub fn checkpoint() {
    CURRENT.with_borrow(CancelToken::check);
}
