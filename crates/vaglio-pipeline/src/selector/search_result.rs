//! Searches on one design, and their results.

use super::ValidSelector;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Action, Design, Error, ProcessGroup, Result, Score, StopReason, StopSign, rescale};
use vaglio_search::{Journal, Monitor, Path, SearchContext, SubsetScorer};
use vaglio_validate::searched_moments;

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
    /// Size at which the search would end; `None` if it was to find its own end.
    #[serde(skip)]
    pub until: Option<usize>,
    /// Whether the journal has the result.
    #[serde(skip)]
    pub is_known: bool,
}

impl SearchResult {
    /// Empty result of a search that was stopped before its first score.
    pub fn empty(reason: StopReason) -> Self {
        let (path, engine, approximation, alpha) = (Path::stopped(Score::WORST, reason), "none".into(), None, None);
        let (has_moments, seconds, until, is_known) = (false, 0.0, None, false);
        SearchResult { path, engine, approximation, alpha, has_moments, seconds, until, is_known }
    }

    /// Size at which a search up to `checkpoint` features would end: the size after the first addition that reaches it.
    /// `None` if the search ended by itself before. `checkpoint` is at most `until`.
    pub fn cut_at(&self, checkpoint: usize) -> Option<usize> {
        self.until?;
        let mut additions = self.path.steps.iter().filter(|step| step.action == Action::Add);
        additions.find(|step| step.size >= checkpoint).map(|step| step.size)
    }

    /// The final result of a search that began at `start`, which is recorded in the journal.
    pub fn finish(mut self, design: &Design, start: Instant, journal: &Journal) -> Self {
        self.seconds = start.elapsed().as_secs_f64();
        if !self.is_known && !self.path.stop_reason.is_partial() {
            self.has_moments = searched_moments(rescale(design).1).is_some();
            match journal.is_top() {
                true => journal.keep("path", &self),
                false => journal.keep_worth(start, "path", &self),
            }
        }
        self
    }
}

impl ValidSelector {
    /// Searches on a design, up to the size `until` if given.
    pub fn search_on(&self, design: &Design, until: Option<usize>, monitor: &mut Monitor<'_>) -> Result<SearchResult> {
        let start = Instant::now();
        let design = self.at_lambda_of_all(&design.clone().with_sign(monitor.stop.clone()))?;
        let journal = monitor.journal.clone();
        Ok(self.search(&design, until, 0, monitor)?.finish(&design, start, &journal))
    }

    /// Searches a design, up to the first subset of `until` features if given. A result that an earlier run finished
    /// comes from the journal. An earlier search of the run took the first `known` steps.
    pub fn search<'a>(
        &'a self,
        design: &'a Design,
        until: Option<usize>,
        known: usize,
        monitor: impl Into<Monitor<'a>>,
    ) -> Result<SearchResult> {
        let monitor = monitor.into();
        let finished: Option<SearchResult> = monitor.journal.recall("path");
        if let Some(finished) = finished.filter(|finished| finished.path.is_among(design.features())) {
            if finished.has_moments {
                // The final fit needs the moments of the search.
                self.scorer(design)?;
            }
            return Ok(SearchResult { is_known: true, ..finished });
        }
        let end = monitor.stop.at_the_end();
        let by_definition = || SubsetScorer::by_definition(&*self.criterion, design);
        let (subset, is_ready) = match design.problem().sign().ends(|| self.scorer(design)) {
            Err(stopped @ Error::Stopped(_)) => (by_definition(), Err(stopped)),
            opened => (opened?, Ok(())),
        };
        let _entered = tracing::info_span!("search", rows = design.rows(), columns = design.features()).entered();
        let mut context = SearchContext::new(subset, monitor, self.seed);
        (context.until, context.known) = (until, known);
        let mut path = match is_ready.and_then(|()| end.ends(|| self.search.run(&mut context))) {
            Err(Error::Stopped(reason)) => {
                // An interrupted update leaves the cached state undefined, so the empty subset is scored by definition.
                Path::stopped(end.ends(|| by_definition().score()).unwrap_or(Score::WORST), reason)
            }
            path => path.map_err(|error| self.in_search(error))?,
        };
        let SearchContext { subset, found, until, .. } = context;
        path.diagnostics = path.diagnostics.or(subset.diagnostics);
        path.found.extend(found.to_json().map_err(|error| self.in_search(error))?);
        let alpha = alpha(&path, &subset)?;
        let (engine, approximation) = (subset.engine().into(), subset.approximation().map(Into::into));
        let (has_moments, seconds, is_known) = (false, 0.0, false);
        Ok(SearchResult { path, engine, approximation, alpha, has_moments, seconds, until, is_known })
    }

    /// Design of the only search on all rows, whose criterion may divide its work on columns among processes.
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
    pub(crate) fn with_entry(
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
