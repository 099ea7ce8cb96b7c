//! Replacement for `.npz` support in builds without the feature `parquet`.

use super::Triplets;
use crate::budget::Budget;
use crate::read::unreadable;
use std::path::Path;
use vaglio_core::Result;

/// Refuses a file.
///
/// # Errors
/// Always, with the remedy.
pub(super) fn read(path: &Path, _bytes: &[u8], _budget: Budget) -> Result<Triplets> {
    Err(unreadable(path, "this program was built without .npz; build with the feature `parquet`"))
}
