//! The search on all rows in a worker process that shares its trials with the main process.

use super::sample::Sample;
use super::validation::{all_repeats, shared_design};
use crate::selector::resumable_search::ResumableSearch;
use crate::selector::{ValidSelector, walk_lambdas};
use std::time::Instant;
use vaglio_core::{Design, Monitor, Result};
use vaglio_search::Choose;

/// Whether [`super::select`] makes a single search on all rows whose trials can be divided among processes by columns.
pub fn is_in_parts(selector: &ValidSelector, design: &Design) -> bool {
    let is_validated = selector.cross_validation().is_some();
    let is_one = walk_lambdas(design, is_validated).len() == 1;
    let is_plain = !matches!(selector.search.size_choice(), Choose::FalseDiscoveries(_));
    is_one && is_plain && selector.criterion.is_in_parts(design)
}

/// Runs the search on all rows to its end.
///
/// # Errors
/// Returns the errors of [`super::select`].
pub fn accompany(selector: &ValidSelector, sample: &Sample, design: &Design, monitor: &mut Monitor<'_>) -> Result<()> {
    let how = selector.cross_validation();
    let design = &match &how {
        Some((how, is_written)) => shared_design(design, all_repeats(selector, sample, how, *is_written).as_ref().ok()),
        None => design.clone(),
    };
    let fitted = if how.is_some() { selector.at_penalties(design)? } else { None };
    let selector = fitted.as_ref().unwrap_or(selector);
    let lambda = walk_lambdas(design, how.is_some())[0];
    let alone = selector.only_search(design, lambda, &monitor.stop, &monitor.journal)?;
    let journal = monitor.journal.under("walk/0");
    ResumableSearch::open(selector, &alone, Instant::now(), monitor.with_journal(journal))?.to(None).map(drop)
}
