//! Costs of columns, and the frontier of loss over cost.

use super::run_context::Run;
use vaglio_core::Result;
use vaglio_pipeline::resampling::Selection;
use vaglio_report::record::{EntryRecord, FrontierPoint};

/// Fills in every entry's cost and returns the losses that each cost buys, if columns have costs.
///
/// # Errors
/// Returns the errors of the search's constraints.
pub(super) fn frontier(run: Run<'_>, entries: &mut [EntryRecord]) -> Result<Vec<FrontierPoint>> {
    let Run { selector, design, selection, .. } = run;
    let rules = selector.search.rules(design).map_err(|error| error.under("search"))?;
    let Some(rules) = rules.filter(|rules| rules.has_costs()) else { return Ok(Vec::new()) };
    let path = &selection.path.entries;
    for entry in entries.iter_mut() {
        let known = path.iter().find(|known| known.subset.len() == entry.size);
        entry.cost = known.map(|known| rules.cost(&known.subset));
    }
    Ok(bought(selection, entries, selector.search.kind()))
}

/// The entries, including the empty subset, with a lower loss than all that cost as much or less; in increasing cost.
/// The loss is cross-validated if available.
fn bought(selection: &Selection, entries: &[EntryRecord], search: &str) -> Vec<FrontierPoint> {
    let is_validated = entries.iter().any(|entry| entry.cross_validated.is_some());
    let empty = match is_validated {
        true => selection.chosen.empty.map(|cell| (cell.loss, cell.standard_error)),
        false => Some((selection.path.empty.loss, None)),
    };
    let point = |size: usize, cost: f64, (loss, standard_error): (f64, Option<f64>)| FrontierPoint {
        size,
        loss,
        standard_error,
        search: search.to_owned(),
        cost,
    };
    let of_entry = |entry: &EntryRecord| {
        let loss = match is_validated {
            true => entry.cross_validated.map(|loss| (loss, entry.cross_validated_error)),
            false => Some((entry.score, entry.standard_error)),
        };
        loss.zip(entry.cost).map(|(loss, cost)| point(entry.size, cost, loss))
    };
    let none = empty.map(|loss| point(0, 0.0, loss));
    let mut all: Vec<FrontierPoint> = none.into_iter().chain(entries.iter().filter_map(of_entry)).collect();
    all.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.loss.total_cmp(&b.loss)).then(a.size.cmp(&b.size)));
    let mut lowest = f64::INFINITY;
    all.retain(|point| {
        let is_lower = point.loss < lowest;
        lowest = lowest.min(point.loss);
        is_lower
    });
    all
}
