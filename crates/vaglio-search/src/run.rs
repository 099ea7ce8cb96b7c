//! Run of a strategy in steps, from its start to its path.

use crate::polish::polish;
use crate::settings::Polish;
use crate::space::Space;
use crate::walk::Walk;
use crate::{Path, PathEntry, SearchContext};
use vaglio_core::{Error, Result, StopReason};

/// Walks the space by `steps` until it ends, and chooses the result. Polishes it if the settings ask for that and the
/// search was not stopped.
///
/// The path holds every step, and for each size the best subset that a step reached. No feature is taken if no subset
/// beats the empty one, from which the walk began and with which the criterion compares.
///
/// # Errors
/// Errors of the criterion's scores and of `steps`.
pub(crate) fn run<'c>(
    space: &Space<'_>,
    context: &mut SearchContext<'c>,
    steps: impl FnOnce(&mut Walk<'_, 'c>) -> Result<StopReason>,
) -> Result<Path> {
    if space.settings.polish != Polish::None {
        // Exchanges come after the whole walk.
        context.until = None;
    }
    let mut walk = Walk::new(space, context)?;
    let stop = walk.context.monitor.stop.clone();
    let mut stop_reason = end_reason(stop.ends(|| steps(&mut walk)))?;
    let last = walk.entries.partition_point(|entry| entry.subset.len() < walk.size());
    let allowed = space.allowed_sizes();
    let empty = (walk.began_empty && walk.context.subset.criterion.traits().compares_with_empty).then_some(walk.empty);
    let chosen = space.result(empty, &walk.entries, last);
    let chosen = chosen.map(|entry| walk.entries[entry].clone());
    // The start of a backward walk has no step that leads to it.
    let is_start = |entry: &PathEntry| !walk.began_empty && walk.entries.last().is_some_and(|last| last == entry);
    let is_polished = !stop_reason.is_partial() && space.settings.polish == Polish::Swaps;
    if let Some(entry) = chosen.as_ref().filter(|entry| is_polished && !is_start(entry)) {
        stop_reason = end_reason(stop.ends(|| polish(&mut walk, entry)).map(|()| stop_reason))?;
    }
    // An exchange may add an entry of a new size.
    let is_result = |size: usize| walk.entries.iter().position(|entry| entry.subset.len() == size);
    let chosen = chosen.and_then(|entry| is_result(entry.subset.len()));
    let Walk { empty, steps, entries, .. } = walk;
    Ok(Path { steps, entries, chosen, allowed, ..Path::stopped(empty, stop_reason) })
}

fn end_reason(end: Result<StopReason>) -> Result<StopReason> {
    if let Err(Error::Stopped(reason)) = end { Ok(reason) } else { end }
}
