//! Choice among searches that are cross-validated on the same folds.

use super::choice::select;
use super::sample::Sample;
use super::selection::ChosenSearch;
use crate::selector::ValidSelector;
use std::time::Instant;
use vaglio_core::{Design, Error, Loss, Monitor, Problem, Result};
use vaglio_kernels::tolerance::SCORE_ROUNDING;
use vaglio_report::record::{ComparedSearch, TuningResult};
use vaglio_search::Search;

/// A search on all rows with its choice, and the selector and design that made it.
pub struct SearchOnDesign {
    /// The selector.
    pub selector: ValidSelector,
    /// Design of all rows.
    pub design: Design,
    /// The search with its choice.
    pub picked: ChosenSearch,
    /// Record of the tuned settings, if there are any.
    pub tuned: Option<TuningResult>,
}

/// Cross-validates the search of a selector and others, and takes the first unless another loses less by more than one
/// standard error of their paired difference. Every search must be cross-validated.
///
/// # Errors
/// Returns the errors of the searches; [`Error::Setting`] for searches on other folds than the first.
pub(super) fn best_search(
    first: SearchOnDesign,
    others: &[Search],
    sample: &Sample,
    problem: &Problem,
    monitor: &mut Monitor<'_>,
) -> Result<SearchOnDesign> {
    let loss = first.selector.loss(sample.task());
    let (mut all, mut stopped) = (vec![first], None);
    for (place, search) in others.iter().enumerate() {
        let SearchOnDesign { selector: own, design, picked, .. } = &all[0];
        if picked.chosen.cell.is_none() || picked.searched.path.stop_reason.is_partial() {
            break;
        }
        if search == own.search() {
            continue;
        }
        let under = |error: Error| error.under(&format!("tune.search[{place}]"));
        let selector = own.with_search(search.clone());
        let design = selector.design_reusing(own.search(), design, problem).map_err(under)?;
        let journal = monitor.journal.under(format_args!("tune/search/{place}"));
        let other = select(&selector, sample, &design, Instant::now(), &mut monitor.with_journal(journal))?;
        if other.searched.path.stop_reason.is_partial() {
            stopped = Some(other);
            break;
        }
        let folds = |of: &ChosenSearch| of.chosen.folds.clone().map(|how| (how.folds, how.repeats, how.splits));
        if folds(&other) != folds(picked) {
            let message = "searches are compared on the same folds; give all of them the same `choose`";
            return Err(under(Error::setting("choose", message)));
        }
        all.push(SearchOnDesign { selector, design, picked: other, tuned: None });
    }
    let won = winner(&*loss, &all);
    let compared = |(place, of): (usize, &SearchOnDesign)| compared(of, place == won);
    let searches = if all.len() > 1 { all.iter().enumerate().map(compared).collect() } else { Vec::new() };
    let tuned = all[0].tuned.take();
    let mut best = SearchOnDesign { tuned, ..all.swap_remove(won) };
    best.picked.seconds += all.iter().map(|other| other.picked.seconds + other.picked.searched.seconds).sum::<f64>();
    best.picked.searches = searches;
    if let Some(other) = stopped {
        best.picked.searched.path.stop_reason = other.searched.path.stop_reason;
        best.picked.warnings.extend(other.warnings);
    }
    Ok(best)
}

/// Index of the search to take.
fn winner(loss: &dyn Loss, all: &[SearchOnDesign]) -> usize {
    let value = |place: usize| all[place].picked.chosen.cell.map_or(f64::INFINITY, |cell| cell.loss);
    let losses = |place: usize| {
        let chosen = &all[place].picked.chosen;
        chosen.losses.as_ref().and_then(|losses| losses.at(chosen.size))
    };
    let mut winner = 0;
    for place in 1..all.len() {
        let error = losses(0).zip(losses(place)).and_then(|(a, b)| a.difference(loss, &b));
        let least = error.unwrap_or(0.0).max(SCORE_ROUNDING * value(place).abs());
        if value(0) - value(place) > least && value(place) < value(winner) {
            winner = place;
        }
    }
    winner
}

fn compared(of: &SearchOnDesign, won: bool) -> ComparedSearch {
    let (search, chosen) = (of.selector.search(), &of.picked.chosen);
    let search = match search.stages() {
        [] => search.kind().to_owned(),
        stages => stages.iter().map(Search::kind).collect::<Vec<_>>().join(", "),
    };
    ComparedSearch {
        search,
        won,
        size: chosen.size,
        lambda: chosen.lambda,
        loss: chosen.cell.map_or(f64::INFINITY, |cell| cell.loss),
        standard_error: chosen.cell.and_then(|cell| cell.standard_error),
    }
}
