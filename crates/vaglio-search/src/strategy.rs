//! Strategies of searches, and the run of a strategy in steps, from its start to its path.

use crate::polish::polish;
use crate::settings::{Polish, SearchSettings};
use crate::{Path, PathEntry, SearchContext, Space, Walk};
use std::any::Any;
use std::fmt::Debug;
use vaglio_core::{Error, Result, SearchExtent, StopReason};

/// A strategy of walking subsets; the fields are its own settings.
///
/// [`Search`](crate::Search) checks the shared settings, creates the [`Space`] from them and chooses the result.
///
/// # Example
/// The whole of a greedy search:
/// ```
/// use vaglio_core::{Result, SearchExtent, StopReason, part};
/// use vaglio_search::{SearchStrategy, Space, Walk};
///
/// /// Adds the best column at each step.
/// #[part(SearchStrategy, "plain_greedy")]
/// struct PlainGreedy {}
///
/// impl SearchStrategy for PlainGreedy {
///     fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
///         walk.enter_forced()?;
///         loop {
///             let best = walk.best_addition()?;
///             walk.allow(best.score)?;
///             walk.add(best)?;
///         }
///     }
///
///     fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
///         Ok(space.forward())
///     }
/// }
/// ```
pub trait SearchStrategy: registered::SearchStrategy + Any + Debug + Send + Sync {
    /// Walks from the empty subset by steps until it ends; returns why. [`Search`](crate::Search) records the path,
    /// chooses the result and polishes it.
    fn walk(&self, _walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        Ok(StopReason::NoCandidates)
    }

    /// The extent of the search in a space. Criteria choose their engine by it; `plan` and progress use it too.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] for settings that the space or the shared settings do not allow.
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent>;

    /// Refuses settings that are invalid for every data set: the strategy's own, or shared ones that do not apply to it
    /// ([`SearchSettings::refuse`]).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] with the field.
    fn check_settings(&self, _shared: &SearchSettings) -> Result<()> {
        Ok(())
    }

    /// The default of the setting `tolerance`.
    fn tolerance(&self) -> Option<f64> {
        None
    }

    /// Limits the space where the settings leave it open, as by [`Space::limit_to_rows`].
    fn limit(&self, _space: &mut Space<'_>) {}

    /// Searches the space from the context's subset, which is empty. By default, [`walk`](SearchStrategy::walk) makes the
    /// steps; only a search that has no steps needs more.
    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        run(space, context, |walk| self.walk(walk))
    }
}

/// Walks the space by `steps` until it ends, and chooses the result. Polishes it if the settings ask for that and the
/// search was not stopped.
///
/// The path holds every step, and for each size the best subset that a step reached. No feature is taken if no subset
/// beats the empty one, from which the walk began and with which the criterion compares.
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

/// Registry of strategies by word; [`part`](vaglio_core::part) and [`saved`](vaglio_core::saved) implement it.
#[doc(hidden)]
pub mod registered {
    use vaglio_core::typetag;

    #[typetag::serde(tag = "kind")]
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is a search without a word in pipeline files",
        label = "has no word",
        note = "put `#[vaglio_core::part(SearchStrategy, \"its_word\")]` on the struct"
    )]
    pub trait SearchStrategy: Send + Sync {
        fn part(self: Box<Self>) -> Box<dyn crate::SearchStrategy>;
    }
}
