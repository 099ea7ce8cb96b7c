//! Lazily initialized values shared by threads, without locks.

use std::sync::OnceLock;

/// Returns the value of a cell, computing it if empty. Threads that arrive together each compute one, and the first is
/// kept.
///
/// Unlike `OnceLock::get_or_init`, this holds no lock meanwhile. With a lock, a rayon worker that waits could take up a
/// job that needs this cell, and wait for itself.
///
/// # Errors
/// Errors of `make`; the cell then stays empty.
pub fn get_or_try_make<T, E>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}

/// Like [`get_or_try_make`], for a computation that cannot fail.
pub fn get_or_make<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    let Ok(value) = get_or_try_make(cell, || Ok::<T, std::convert::Infallible>(make()));
    value
}
