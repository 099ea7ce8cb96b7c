//! Every feature, without a selection.

use crate::{Event, SearchSettings, SearchStrategy, Space, Walk};
use vaglio_core::{Result, SearchExtent, StopReason, part};

/// Keeps every feature, so that λ alone is chosen: by cross-validation, or by the criterion with `choose: best`.
///
/// The path has one entry and no step. `excluded` features stay out; the settings of a selection are refused.
#[part(
    SearchStrategy,
    "all",
    summary = "every column, without a selection; lambda alone is chosen",
    title = "all columns"
)]
pub struct All {}

/// Settings of searches that select columns.
const SELECTION_SETTINGS: [&str; 8] =
    ["max_features", "min_features", "tolerance", "patience", "forced", "blocks", "polish", "constraints"];

impl SearchStrategy for All {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Ok(SearchExtent::fixed(space.features()))
    }

    fn limit(&self, space: &mut Space<'_>) {
        space.least = Some(space.features());
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        shared.refuse(&SELECTION_SETTINGS, "every column is kept; leave it out, or take another search")
    }

    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        show_share(walk, 0.0)?;
        if !walk.space.groups().is_empty() {
            walk.fill()?;
            show_share(walk, 1.0)?;
        }
        Ok(StopReason::NoCandidates)
    }
}

/// Shows the share of the only subset that is scored.
fn show_share(walk: &mut Walk<'_, '_>, done: f64) -> Result<()> {
    let stop = walk.context.monitor.show(&Event::Visited { done, of: 1.0 });
    stop.map_or(Ok(()), |reason| Err(reason.into()))
}
