//! A resumable search on one design.

use super::ValidSelector;
use crate::final_fit::has_moments;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Design, Error, ProcessGroup, Result, Score, StopReason, StopSign};
use vaglio_search::{Monitor, Path, SearchContext, SubsetScorer};

/// Result of a search, before training.
#[derive(Debug, Serialize, Deserialize)]
pub struct SearchResult {
    /// The search path.
    pub path: Path,
    pub engine: String,
    pub approximation: Option<String>,
    pub alpha: Option<Vec<f64>>,
    /// Whether the session of the design has moments that the final fit can use.
    #[serde(default)]
    pub has_moments: bool,
    #[serde(skip)]
    pub seconds: f64,
}

impl SearchResult {
    /// Empty result of a search that began at `start` and was stopped before its first score.
    pub fn empty(reason: StopReason, start: Instant) -> Self {
        let (path, seconds) = (Path::stopped(Score::WORST, reason), start.elapsed().as_secs_f64());
        SearchResult { path, engine: "none".into(), approximation: None, alpha: None, has_moments: false, seconds }
    }
}

/// A search that can pause at a size and continue without repeating trials.
pub struct ResumableSearch<'a> {
    selector: &'a ValidSelector,
    /// Design that is searched.
    pub design: &'a Design,
    context: SearchContext<'a>,
    start: Instant,
    /// Result of an earlier run, from the journal.
    known: Option<SearchResult>,
    /// Stop error raised before the search could begin.
    stopped: Option<Error>,
    path: Option<Path>,
}

impl<'a> ResumableSearch<'a> {
    /// Opens a search on a design with the monitor's stop sign; the clock began at `start`.
    ///
    /// # Errors
    /// Returns the errors of [`Search::extent`](vaglio_search::Search::extent) and of the criterion.
    pub fn open(
        selector: &'a ValidSelector,
        design: &'a Design,
        start: Instant,
        monitor: impl Into<Monitor<'a>>,
    ) -> Result<Self> {
        let monitor = monitor.into();
        let known: Option<SearchResult> = monitor.journal.recall("path");
        let known = known.filter(|known| known.path.is_among(design.features()));
        if known.as_ref().is_some_and(|known| known.has_moments) {
            // The final fit needs the moments of the search.
            selector.scorer(design)?;
        }
        let by_definition = || SubsetScorer::by_definition(&*selector.criterion, design);
        let (subset, stopped) = if known.is_some() {
            (by_definition(), None)
        } else {
            // A stop before the criterion is ready is kept for later.
            match design.problem().sign().ends(|| selector.scorer(design)) {
                Err(stopped @ Error::Stopped(_)) => (by_definition(), Some(stopped)),
                opened => (opened?, None),
            }
        };
        let context = SearchContext::new(subset, monitor, selector.seed);
        let path = known.as_ref().map(|known| known.path.clone());
        Ok(ResumableSearch { selector, design, context, start, known, stopped, path })
    }

    /// Continues to the first subset of `size` features, or to the end. Returns the path from the start.
    ///
    /// # Errors
    /// Returns the errors of the search.
    pub fn to(&mut self, size: Option<usize>) -> Result<&Path> {
        if self.path.is_none() || self.is_paused() {
            let span = tracing::info_span!("search", rows = self.design.rows(), columns = self.design.features());
            let _entered = span.enter();
            self.context.pause_at(size);
            if self.path.is_some() && !self.context.rewind() {
                let (selector, design) = (self.selector, self.design);
                self.context.restart(design.problem().sign().ends(|| selector.scorer(design))?);
            }
            self.path = Some(self.walk()?);
        }
        self.path.as_ref().ok_or_else(|| Error::Shape("a search has no path".into()))
    }

    /// Whether the search can continue.
    pub fn is_paused(&self) -> bool {
        self.context.is_paused()
    }

    fn walk(&mut self) -> Result<Path> {
        let (search, context) = (&self.selector.search, &mut self.context);
        let end = context.monitor.stop.at_the_end();
        let searched = self.stopped.take().map_or_else(|| end.ends(|| search.run(context)), Err);
        let mut path = match searched {
            Err(Error::Stopped(reason)) => {
                // An interrupted update leaves the cached state undefined, so the empty subset is scored by definition.
                let mut subset = SubsetScorer::by_definition(&*self.selector.criterion, self.design);
                Path::stopped(end.ends(|| subset.score()).unwrap_or(Score::WORST), reason)
            }
            path => path.map_err(|error| self.selector.in_search(error))?,
        };
        path.diagnostics = path.diagnostics.or(context.subset.diagnostics());
        path.found.extend(context.found.to_json().map_err(|error| self.selector.in_search(error))?);
        Ok(path)
    }

    /// The result up to now.
    ///
    /// # Errors
    /// Returns the errors of the criterion.
    pub fn so_far(self) -> Result<SearchResult> {
        let seconds = self.start.elapsed().as_secs_f64();
        if let Some(known) = self.known {
            return Ok(SearchResult { seconds, ..known });
        }
        let path = self.path.ok_or_else(|| Error::Shape("a search has no path".into()))?;
        let alpha = alpha(&path, &self.context.subset)?;
        let subset = &self.context.subset;
        let (engine, approximation) = (subset.engine().into(), subset.approximation().map(Into::into));
        Ok(SearchResult { path, engine, approximation, alpha, has_moments: false, seconds })
    }

    /// The final result, which is recorded in the journal.
    ///
    /// # Errors
    /// Returns the errors of the criterion.
    pub fn finish(self) -> Result<SearchResult> {
        let (is_known, start, design) = (self.known.is_some(), self.start, self.design);
        let journal = self.context.monitor.journal.clone();
        let mut searched = self.so_far()?;
        let is_whole = !is_known && !searched.path.stop_reason.is_partial();
        if is_whole && (journal.is_top() || journal.is_worth(start, 1)) {
            searched.has_moments = has_moments(design);
            journal.keep_of(start, "path", &searched);
        }
        Ok(searched)
    }
}

impl ValidSelector {
    /// Searches on a design whose preparation began at `start`, up to the size `until` if given.
    pub fn search_on(
        &self,
        design: &Design,
        start: Instant,
        until: Option<usize>,
        monitor: &mut Monitor<'_>,
    ) -> Result<SearchResult> {
        let design = self.at_lambda_of_all(&design.clone().with_sign(monitor.stop.clone()))?;
        let mut walking = ResumableSearch::open(self, &design, start, monitor)?;
        walking.to(until)?;
        walking.finish()
    }

    /// Design of the only search on all rows, whose criterion may divide its work on columns among processes.
    ///
    /// # Errors
    /// Returns the errors of [`ValidSelector::at_lambda_of_all`].
    pub(crate) fn only_search(
        &self,
        design: &Design,
        lambda: Option<f64>,
        stop: &StopSign,
        group: Option<Arc<dyn ProcessGroup>>,
    ) -> Result<Design> {
        let design = self.at_lambda_of_all(&design.at_lambda(lambda).with_sign(stop.clone()))?;
        Ok(design.with_run(|run| run.process_group = group))
    }

    /// The search result with another path entry chosen.
    pub(crate) fn taking(
        &self,
        mut searched: SearchResult,
        entry: Option<usize>,
        design: &Design,
    ) -> Result<SearchResult> {
        searched.path.chosen = entry;
        if searched.alpha.is_some() {
            searched.alpha = alpha(&searched.path, &self.scorer(design)?)?;
        }
        Ok(searched)
    }
}

/// The criterion's own coefficients of the result, if it has any.
fn alpha(path: &Path, subset: &SubsetScorer<'_>) -> Result<Option<Vec<f64>>> {
    path.result().map_or(Ok(None), |entry| subset.minimizer(&entry.subset))
}
