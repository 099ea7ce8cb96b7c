//! Values that are made when they are first needed, by several threads.

use std::sync::OnceLock;

/// The value of a cell, made where it is empty. Threads that meet each make one, and the first is kept.
///
/// No lock is held meanwhile, as `OnceLock::get_or_init` does: a worker of rayon that waits for a part of what it makes may take up
/// a job that needs the same cell, and would wait for itself.
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

/// Like [`get_or_try_make`], for what cannot fail.
pub fn get_or_make<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    let Ok(value) = get_or_try_make(cell, || Ok::<T, std::convert::Infallible>(make()));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks the cell again while it is made, as a job does that a waiting worker takes up.
    #[test]
    fn a_cell_that_is_asked_while_it_is_made_keeps_the_first() {
        let cell = OnceLock::new();
        assert_eq!(get_or_try_make(&cell, || Err::<u8, &str>("no")), Err("no"));
        assert_eq!(*get_or_make(&cell, || 1 + *get_or_make(&cell, || 1)), 1);
    }
}
