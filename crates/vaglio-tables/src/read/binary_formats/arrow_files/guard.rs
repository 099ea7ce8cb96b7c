//! Conversion of panics in decoders to errors.

use crate::read::unreadable;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;
use vaglio_core::Result;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read` and turns a panic inside it into an error.
///
/// The decoders of Parquet and Arrow check most lengths that a file claims, and panic on others. Nothing the closure
/// used is used afterwards. The panic's own message is not printed.
pub(super) fn catch_panics<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let printing = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                printing(panic);
            }
        }));
    });
    GUARDED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(false);
    outcome.unwrap_or_else(|_| Err(unreadable(path, "is damaged: a length or offset in it is impossible")))
}
