//! Cooperative cancellation: long loops call [`checkpoint`], which unwinds to [`Halt::within`] once the work is to stop.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

thread_local! {
    /// The sign that ends the work of this thread.
    static CURRENT: RefCell<Halt> = const { RefCell::new(Halt(None)) };
}

/// A function that says whether work is to stop. Once it says so, it keeps saying so. The default never does.
#[derive(Clone, Default)]
pub struct Halt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

/// The payload of the unwinding.
struct Stopped;

impl Halt {
    /// Asks `is_due`, from any thread.
    pub fn new(is_due: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Halt(Some(Arc::new(is_due)))
    }

    /// The function that ends the work of this thread.
    pub fn current() -> Self {
        CURRENT.with_borrow(Halt::clone)
    }

    /// Does work that ends at a [`checkpoint`] once the function says so, and is `None` then.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let entered = self.enter();
        let done = catch_unwind(AssertUnwindSafe(work));
        drop(entered);
        match done {
            Ok(done) => Some(done),
            Err(payload) if payload.is::<Stopped>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Ends the work of this thread at a checkpoint, as long as the guard lives. A loop over threads enters what was current where it began.
    pub fn enter(&self) -> Entered {
        Entered(CURRENT.replace(self.clone()))
    }

    /// Whether work is to stop.
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|is_due| is_due())
    }

    /// Ends the work around it if it is to stop.
    pub fn check(&self) {
        if self.is_due() {
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Whether there is a function at all.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Halt").field(&self.is_due()).finish()
    }
}

/// Guard of [`Halt::enter`]: restores the sign that held before.
pub struct Entered(Halt);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(std::mem::take(&mut self.0));
    }
}

/// Ends the work of this thread if it is to stop. Cost below a microsecond.
pub fn checkpoint() {
    if CURRENT.with_borrow(Halt::is_due) {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn work_ends_at_a_checkpoint_and_the_function_before_is_back() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let halt = Halt::new(move || count.fetch_add(1, Ordering::SeqCst) >= 3);
        let mut steps = 0;
        let done = halt.within(|| {
            loop {
                steps += 1;
                assert_eq!(Halt::default().within(|| (0..10).for_each(|_| checkpoint())), Some(()));
                checkpoint();
            }
        });
        assert!(done.is_none() && steps == 4, "{steps}");
        checkpoint();
        assert_eq!(halt.within(|| 7), Some(7), "nobody asked");
        let other = catch_unwind(AssertUnwindSafe(|| halt.within(|| -> u8 { panic!("oh") })));
        assert_eq!(other.unwrap_err().downcast_ref::<&str>(), Some(&"oh"));
    }
}
