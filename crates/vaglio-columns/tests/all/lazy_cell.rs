//! Cells that are made on first use.

use std::sync::OnceLock;
use vaglio_columns::{get_or_make, get_or_try_make};

/// Asks the cell again during initialization, as does a job that a waiting worker picks up.
#[test]
fn a_cell_that_is_asked_while_it_is_made_keeps_the_first() {
    let cell = OnceLock::new();
    assert_eq!(get_or_try_make(&cell, || Err::<u8, &str>("no")), Err("no"));
    assert_eq!(*get_or_make(&cell, || 1 + *get_or_make(&cell, || 1)), 1);
}
