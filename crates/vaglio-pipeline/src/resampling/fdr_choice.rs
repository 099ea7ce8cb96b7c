//! Choice of the columns confirmed at a false discovery rate.

use super::fdr::{Discoveries, discoveries};
use super::pool::StageMonitor;
use super::score_choice::plain;
use super::size_choice::{Choice, ChosenSearch};
use crate::selector::resumable_search::SearchResult;
use crate::selector::{ValidSelector, walk_lambdas};
use std::collections::HashSet;
use std::time::Instant;
use vaglio_core::{Design, Feature, Monitor, Path, Result, StopReason};
use vaglio_report::record::{ChosenBy, Warning, WarningKind};
use vaglio_search::{All, Choose, Rule, Search, SubsetScorer};

/// The model of the confirmed columns, limited to the search's largest size; the empty model if there are none.
///
/// # Errors
/// Errors of [`discoveries`], under `search.choose`, and of the fits.
pub(super) fn confirmed(
    selector: &ValidSelector,
    design: &Design,
    rate: f64,
    start: Instant,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    let begun = Instant::now();
    let (found, reason) = {
        let watcher = StageMonitor::new(&mut *monitor);
        let found = watcher.journal.once("fdr", || discoveries(selector, design, rate, &watcher));
        (found.map_err(|error| error.under("search.choose"))?, watcher.stopped().unwrap_or(StopReason::Interrupted))
    };
    let seconds = begun.elapsed().as_secs_f64();
    let most = selector.search.extent(design).map_err(|error| error.under("search"))?.largest;
    let mut kept = found.as_ref().map_or_else(Vec::new, Discoveries::confirmed);
    kept.truncate(most);
    let mut picked = if kept.is_empty() {
        without_columns(selector, design, start)?
    } else {
        let kept: HashSet<Feature> = kept.iter().copied().collect();
        let excluded = (0..design.features()).filter(|feature| !kept.contains(feature));
        let search = Search::new(All {}).excluded(excluded).choose(Choose::Last);
        plain(&selector.with_search(search), design, start, monitor)?
    };
    picked.chosen.rule = None;
    picked.chosen.by = ChosenBy::FalseDiscoveries;
    let warning = match &found {
        None => {
            picked.searched.path.stop_reason = reason;
            let message = "the run was stopped before any column was confirmed";
            Some(Warning::new(WarningKind::Interrupted, message))
        }
        Some(_) if kept.is_empty() => {
            let message =
                format!("no column is confirmed at a false discovery rate of {rate}, so the empty subset is taken");
            Some(Warning::new(WarningKind::NothingConfirmed, message))
        }
        Some(_) => None,
    };
    picked.warnings.splice(0..0, warning);
    picked.chosen.confirmed = found;
    Ok(ChosenSearch { seconds, ..picked })
}

/// The empty subset, scored by definition.
fn without_columns(selector: &ValidSelector, design: &Design, start: Instant) -> Result<ChosenSearch> {
    let lambdas = walk_lambdas(design, false);
    let design = design.at_lambda(lambdas[lambdas.len() / 2]);
    let mut subset = SubsetScorer::by_definition(&*selector.criterion, &design);
    let path = Path::stopped(subset.score()?, StopReason::NoCandidates);
    let engine = subset.engine().name.into();
    let searched = SearchResult { path, engine, ..SearchResult::stopped(StopReason::NoCandidates, start) };
    let chosen = Choice::by_score(&searched.path, Rule::Best);
    Ok(ChosenSearch::new(searched, chosen, Vec::new()))
}
