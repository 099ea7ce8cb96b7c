//! A search from its start to its path.

use crate::polish::polish;
use crate::settings::Polish;
use crate::space::Space;
use crate::walk::{End, Flow, Walk};
use vaglio_core::{Error, Outline, Path, PathEntry, Result, SearchContext, StopReason};

/// Walks the space as `steps` says until it ends, chooses the result, and polishes it where the settings ask for that
/// and nobody has stopped the search.
///
/// `outline` is that of the search; the observer learns its number of steps. The path holds every step, and for each
/// size the best subset that a step reached. Where none of them beats the empty subset, from which the walk began, and
/// the criterion compares with it, no feature is taken.
///
/// # Errors
/// Those of the criterion's scores, and what else `steps` fails of.
///
/// # Example
/// The whole of a greedy search:
/// ```
/// use vaglio_core::{Path, Result, SearchContext, SearchStrategy};
/// use vaglio_search::{Greedy, Patience, Space, run};
///
/// fn greedy(search: &Greedy, context: &mut SearchContext<'_>) -> Result<Path> {
///     let space = Space::new(search.settings(), context.design())?;
///     let outline = search.outline(context.design())?;
///     run(&space, context, &outline, |walk| {
///         walk.enter_forced()?;
///         let mut patience = Patience::new(&space.settings);
///         loop {
///             let best = walk.best_addition()?;
///             patience.allow(walk.lowest() - best.score.loss, walk.has_least())?;
///             walk.add(best)?;
///         }
///     })
/// }
/// ```
pub fn run<'c>(
    space: &Space<'_>,
    context: &mut SearchContext<'c>,
    outline: &Outline,
    steps: impl FnOnce(&mut Walk<'_, 'c>) -> Flow<StopReason>,
) -> Result<Path> {
    if space.settings.polish != Polish::None {
        // Exchanges follow the end of the walk.
        context.pause_at(None);
    }
    context.begin(outline.steps);
    let mut walk = Walk::new(space, context)?;
    let stop = walk.context.parts().1.stop.clone();
    let mut stop_reason = stopped(stop.ends(|| Ok(steps(&mut walk))).unwrap_or_else(|error| Err(error.into())))?;
    let last = walk.entries.partition_point(|entry| entry.subset.len() < walk.size());
    let allowed = space.allowed();
    let empty = (walk.began_empty && walk.context.criterion().compares_with_empty()).then_some(walk.empty);
    let chosen = space.result(empty, &walk.entries, last);
    let chosen = chosen.map(|entry| walk.entries[entry].clone());
    // Under constraints the subset that a walk began with may have others of its size, and no step leads to it.
    let is_start = |entry: &PathEntry| !walk.began_empty && walk.entries.last().is_some_and(|last| last == entry);
    let is_polished = !stop_reason.is_partial() && space.settings.polish == Polish::Swaps;
    if let Some(entry) = chosen.as_ref().filter(|entry| is_polished && !is_start(entry)) {
        let polished = stop.ends(|| Ok(polish(&mut walk, entry))).unwrap_or_else(|error| Err(error.into()));
        stop_reason = stopped(polished.map(|()| stop_reason))?;
    }
    // An exchange can pass through a size that had no entry.
    let is_result = |size: usize| walk.entries.iter().position(|entry| entry.subset.len() == size);
    let chosen = chosen.and_then(|entry| is_result(entry.subset.len()));
    let Walk { empty, steps, entries, .. } = walk;
    let mut path = Path::stopped(empty, stop_reason);
    (path.steps, path.entries, path.chosen, path.allowed) = (steps, entries, chosen, allowed);
    Ok(path)
}

fn stopped(end: Flow<StopReason>) -> Result<StopReason> {
    match end {
        Ok(reason) | Err(End::Stop(reason) | End::Failure(Error::Stopped(reason))) => Ok(reason),
        Err(End::Failure(error)) => Err(error),
    }
}
