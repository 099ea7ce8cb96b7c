//! Selections that may be stopped before their first score.

use super::choice::{self, ChosenSearch};
use super::sample::Sample;
use super::scored::by_score;
use crate::selector::{SearchResult, ValidSelector};
use std::time::Instant;
use vaglio_core::{Design, Error, Monitor, Result, Rule};
use vaglio_report::record::{Warning, WarningKind};

/// Like [`choice::select`], but a search that is stopped before its first score takes no columns.
///
/// # Errors
/// Returns the errors of [`choice::select`].
pub fn select(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    start: Instant,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    match choice::select(selector, sample, design, start, monitor) {
        Err(Error::Stopped(reason)) => {
            let searched = SearchResult::stopped(reason, start);
            let chosen = by_score(&searched.path, Rule::Best);
            let message = "the run was stopped before the search had a score, so no column is taken";
            let warnings = vec![Warning::new(WarningKind::Interrupted, message)];
            Ok(ChosenSearch { searched, chosen, warnings, seconds: 0.0, searches: Vec::new() })
        }
        picked => picked,
    }
}
