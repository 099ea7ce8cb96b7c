//! Drop-column importance: the score without each selected column, and its best replacements.
//!
//! Both are exact trials of the criterion. Estimated work, never the clock, decides whether they are made: if trying
//! all columns in every position exceeds a share of the search, none is tried.

use super::{Evaluation, Run, RunPlan, SearchCounts};
use crate::trials::{Exchanges, TrialDesign, exchanges};
use vaglio_core::{Design, Feature, Result, SearchExtent};
use vaglio_pipeline::resampling::StageMonitor;
use vaglio_report::record::{DropColumnBudget, SelectedRecord, Substitute, WorthRecord};
use vaglio_search::Path;

/// Drop-column importance of the chosen columns, within the budget of the run.
pub const EVALUATION: Evaluation = Evaluation::new("worth", |run, found, watcher| {
    if run.input.evaluate.worth == DropColumnBudget::None {
        return Ok(());
    }
    let record = &mut found.record;
    record.worth = record_importance(run.budget, &run.trials(), &mut record.selected, watcher)?;
    Ok(())
});

/// Number of replacements kept per column.
pub const SUBSTITUTES: usize = 3;

/// Minimum budget, in flops, whatever the search took: some 20 ms.
pub const LEAST_WORK: f64 = 1e8;
/// Minimum budget if trials are of held-out rows, which are few at a time and open an evaluator each.
const LEAST_OF_ROWS: f64 = 4e7;
/// Budget as a share of the search's flops, if larger.
pub const SHARE: f64 = 0.25;
/// Share of that budget for each further kind of column and size figures.
pub const PART: f64 = 0.25;
/// Time of an exchange flop relative to an estimated flop of the search. With leave-one-out states, bounds skip most
/// trials of the search. With moments, products of columns are faster than trials. With held-out rows, estimates count
/// memory passes over the states of all columns.
const BOUNDED: f64 = 8.0;
const FASTER: f64 = 4.0;

/// Budget of [`record_importance`] in flops, for a search of this extent over several searches that share the design;
/// infinite if everything is asked for.
fn budget(
    worth: DropColumnBudget,
    trials: &TrialDesign<'_>,
    search_extent: &SearchExtent,
    searches: &SearchCounts,
) -> f64 {
    match worth {
        DropColumnBudget::All => return f64::INFINITY,
        DropColumnBudget::None => return 0.0,
        DropColumnBudget::Auto => {}
    }
    let all = trials.design.lambdas();
    let shared = trials.design.with_run(|run| run.share(&all[..searches.lambdas.min(all.len())]));
    let trials = TrialDesign::new(trials.selector, &shared);
    let (slower, least) = match trials.estimate(search_extent).engine {
        "states" => (BOUNDED, LEAST_OF_ROWS),
        "moments" | "rows_held_out" => (FASTER, LEAST_OF_ROWS),
        _ => (1.0, LEAST_WORK),
    };
    (SHARE * searches.cost() * trials.flops(search_extent) / slower).max(least)
}

/// Bytes of [`record_importance`] for the result of a plan, on a design at one λ, if all replacements are tried; they
/// are few otherwise.
pub fn exchange_bytes(plan: &RunPlan<'_>, design: &Design) -> f64 {
    let trials = TrialDesign::new(plan.selector, design);
    let size = plan.result();
    let budget = budget(plan.evaluate.worth, &trials, &plan.extent, &plan.searches);
    let outside = design.candidates().len().saturating_sub(size);
    if size == 0 || budget == 0.0 {
        return 0.0;
    }
    let all = trials.removal_flops(size) + trials.exchange_flops(size, outside);
    if all <= budget { trials.estimate(&exchanges(size, outside)).bytes } else { 0.0 }
}

/// Extent of the search that was performed; for best subsets, that of a forward search to the same size.
fn performed_extent(search_extent: &SearchExtent, path: &Path, design: &Design) -> SearchExtent {
    let sizes = path.entries.iter().map(|entry| entry.subset.len());
    let columns = design.candidates().len();
    match search_extent.start {
        0 => SearchExtent::forward(columns, sizes.max().unwrap_or(0)),
        start => {
            let steps = path.steps.len().min(search_extent.steps);
            let share = steps as f64 / search_extent.steps.max(1) as f64;
            SearchExtent { start, trials: (share * search_extent.trials).max(1.0), steps, ..*search_extent }
        }
    }
}

/// Budget in flops for column figures of a result. `whole` is the design at every λ.
pub fn flops_allowed(run: Run<'_>, whole: &Design) -> Result<f64> {
    let Run { prepared, selector, design, selection, .. } = run;
    let search_extent = selector.search.extent(design)?;
    let searches = SearchCounts::new(selector, whole, &prepared.sample);
    let performed = performed_extent(&search_extent, &selection.path, design);
    Ok(budget(run.input.evaluate.worth, &run.trials(), &performed, &searches))
}

/// Records the score without each of the selected columns and the best replacements within a budget of flops,
/// everything for +∞. Returns what the budget or a stop left out, if anything.
pub fn record_importance(
    budget: f64,
    trials: &TrialDesign<'_>,
    selected: &mut [SelectedRecord],
    watcher: &StageMonitor<'_>,
) -> Result<Option<WorthRecord>> {
    let trials = &trials.with_sign(&watcher.stop);
    watcher.ends(|| try_columns(budget, trials, selected, watcher))?;
    let without = |is_known: fn(&SelectedRecord) -> bool| -> Vec<Feature> {
        selected.iter().filter(|column| !is_known(column)).map(|column| column.index).collect()
    };
    let has_outside = trials.design.candidates().iter().any(|f| selected.iter().all(|column| column.index != *f));
    let left_out = WorthRecord {
        no_without: without(|column| column.without.is_some()),
        no_substitutes: if has_outside { without(|column| column.substitutes.is_some()) } else { Vec::new() },
    };
    Ok((left_out != WorthRecord::default()).then_some(left_out))
}

fn try_columns(
    budget: f64,
    trials: &TrialDesign<'_>,
    selected: &mut [SelectedRecord],
    watcher: &StageMonitor<'_>,
) -> Result<()> {
    let chosen: Vec<Feature> = selected.iter().map(|column| column.index).collect();
    if chosen.is_empty() || watcher.check_stop().is_some() {
        return Ok(());
    }
    let Some((scores, flops)) = trials.removal_scores(&chosen, budget)? else { return Ok(()) };
    for (column, score) in selected.iter_mut().zip(scores) {
        column.without = Some(score);
    }
    let outside = trials.outside(&chosen);
    if outside.is_empty() || trials.exchange_flops(chosen.len(), outside.len()) > budget - flops {
        return Ok(());
    }
    let substitute = |(index, score)| Substitute { index, name: trials.design.problem().names()[index].clone(), score };
    Exchanges::new(trials, &chosen, outside).each(0..chosen.len(), SUBSTITUTES, |k, found| {
        selected[k].substitutes = Some(found.into_iter().map(substitute).collect());
        watcher.check_stop().is_none()
    })
}

#[cfg(test)]
mod tests;
