//! Drop-column importance: the score without each selected column, and its best replacements.
//!
//! Both are exact trials of the criterion. Estimated work, never the clock, decides whether they are made: if trying
//! all columns in every position exceeds a share of the search, none is tried.

pub(super) mod exchanges;

use super::plan::walks::SearchCounts;
use super::run::Run;
use exchanges::{Exchanges, Removals, exchange_flops, exchanges, removal_flops, work};
use vaglio_core::{Design, Feature, Monitor, Path, Result, SearchExtent};
use vaglio_pipeline::pipeline::{DropColumnBudget, Evaluate};
use vaglio_pipeline::resample::StageMonitor;
use vaglio_pipeline::selector::{Selection, ValidSelector};
use vaglio_report::record::{Warning, WarningKind, WorthRecord};

/// Drop-column importance of one selected column.
#[derive(Debug, Default, Clone)]
pub(super) struct DropColumn {
    /// Score without the column.
    pub without: Option<f64>,
    /// Replacements with their scores, best first.
    pub substitutes: Option<Vec<(Feature, f64)>>,
}

/// Drop-column importance of the selected columns.
#[derive(Debug, Default)]
pub(super) struct Importance {
    /// In the order of the selection.
    pub of_columns: Vec<DropColumn>,
    /// Whether it was asked for, and whether there are columns outside.
    is_asked: bool,
    has_outside: bool,
}

/// Number of replacements kept per column.
pub(super) const SUBSTITUTES: usize = 3;

/// Minimum budget, in flops, whatever the search took: some 20 ms.
pub(super) const LEAST_WORK: f64 = 1e8;
/// Minimum budget if trials are of held-out rows, which are few at a time and open an evaluator each.
const LEAST_OF_ROWS: f64 = 4e7;
/// Budget as a share of the search's flops, if larger.
pub(super) const SHARE: f64 = 0.25;
/// Share of that budget for each further kind of column and size figures.
pub(super) const PART: f64 = 0.25;
/// Time of an exchange flop relative to an estimated flop of the search. With leave-one-out states, bounds skip most
/// trials of the search. With moments, products of columns are faster than trials. With held-out rows, estimates count
/// memory passes over the states of all columns.
const BOUNDED: f64 = 8.0;
const FASTER: f64 = 4.0;

/// Budget of [`Importance`] in flops, for a search of this extent over several walks that share `design`.
pub(super) fn budget(
    selector: &ValidSelector,
    design: &Design,
    search_extent: &SearchExtent,
    walks: SearchCounts,
) -> f64 {
    let all = design.lambdas();
    let design = design.shared_by(&all[..walks.lambdas.min(all.len())]);
    let engine = selector.criterion().plan(&design, search_extent).estimate.engine;
    let least = if slower(engine) > 1.0 { LEAST_OF_ROWS } else { LEAST_WORK };
    (SHARE * walks.rounds() * work(selector, &design, search_extent) / slower(engine)).max(least)
}

/// Time of an exchange flop relative to an estimated flop of the engine's search.
pub(super) fn slower(engine: &str) -> f64 {
    match engine {
        "states" => BOUNDED,
        "moments" | "rows_held_out" => FASTER,
        _ => 1.0,
    }
}

/// Like [`budget`], as far as the settings ask for [`Importance`].
pub(super) fn planned_budget(
    evaluate: Option<&Evaluate>,
    selector: &ValidSelector,
    design: &Design,
    search_extent: &SearchExtent,
    walks: SearchCounts,
) -> f64 {
    match worths(evaluate) {
        DropColumnBudget::All => f64::INFINITY,
        DropColumnBudget::Auto => budget(selector, design, search_extent, walks),
        DropColumnBudget::None => 0.0,
    }
}

/// Bytes of [`Importance`] for a subset of `size` columns if the budget allows all replacements; they are few otherwise.
pub(super) fn exchange_bytes(selector: &ValidSelector, design: &Design, budget: f64, size: usize) -> f64 {
    let outside = design.candidates().len().saturating_sub(size);
    if size == 0 {
        return 0.0;
    }
    let all = removal_flops(selector, design, size) + exchange_flops(selector, design, size, outside);
    if all <= budget { selector.criterion().plan(design, &exchanges(size, outside)).estimate.bytes } else { 0.0 }
}

fn worths(evaluate: Option<&Evaluate>) -> DropColumnBudget {
    evaluate.map_or(DropColumnBudget::Auto, |evaluate| evaluate.worth)
}

/// Extent of the search that was performed; for best subsets, that of a forward search to the same size.
fn taken(search_extent: &SearchExtent, path: &Path, design: &Design) -> SearchExtent {
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

/// Budget in flops for column figures of a result; infinite if all are asked for. `whole` is the design at every λ.
///
/// # Errors
/// Returns the errors of the search's settings.
pub(super) fn flops_allowed(run: Run<'_>, whole: &Design, path: &Path) -> Result<f64> {
    let Run { prepared, selector, design, .. } = run;
    match worths(run.evaluate()) {
        DropColumnBudget::All => return Ok(f64::INFINITY),
        DropColumnBudget::None => return Ok(0.0),
        DropColumnBudget::Auto => {}
    }
    let search_extent = selector.search().extent(design).map_err(|error| error.under("search"))?;
    let walks = SearchCounts::new(selector, whole, &prepared.sample, None);
    Ok(budget(selector, design, &taken(&search_extent, path, design), walks))
}

impl Importance {
    /// Computes the importance that the settings ask for within a budget of flops, at the λ of the selection's path.
    /// Figures that a stop leaves undone are absent, with a warning.
    ///
    /// # Errors
    /// Returns the errors of the criterion's scores.
    pub fn from_selection(
        run: Run<'_>,
        budget: f64,
        selection: &mut Selection,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        let subset = selection.path.result().map_or_else(Vec::new, |entry| entry.subset.clone());
        let settings = worths(run.evaluate());
        if selection.path.stop_reason.is_partial() || settings == DropColumnBudget::None {
            return Ok(Importance::none(subset.len()));
        }
        let watcher = StageMonitor::new(monitor);
        let found = Importance::within(budget, run.selector, run.design, &subset, &watcher)?;
        if let Some(reason) = watcher.stopped() {
            selection.path.stop_reason = reason;
            let message = "the run was stopped before it was known what every chosen column is worth; `vaglio explain` of its folder tells";
            selection.warnings.push(Warning::new(WarningKind::Interrupted, message));
        }
        Ok(found)
    }

    /// Tries removing and replacing each column of a subset within a budget of flops, everything for +∞. Trials beyond
    /// the budget or a stop are left out.
    ///
    /// # Errors
    /// Returns the errors of the criterion's scores.
    pub fn within(
        budget: f64,
        selector: &ValidSelector,
        design: &Design,
        selected: &[Feature],
        watcher: &StageMonitor<'_>,
    ) -> Result<Self> {
        let design = &design.stopping_at(watcher.sign().clone());
        let mut all = Importance { is_asked: true, ..Importance::none(selected.len()) };
        watcher.ends(|| all.fill(budget, selector, design, selected, watcher).map(Some))?;
        Ok(all)
    }

    /// Empty importance of `size` columns.
    pub fn none(size: usize) -> Self {
        Importance { of_columns: vec![DropColumn::default(); size], ..Importance::default() }
    }

    /// Records which figures of these columns were left out, if any.
    pub fn left_out(&self, selected: &[Feature]) -> Option<WorthRecord> {
        let without = |is_known: fn(&DropColumn) -> bool| {
            let of_columns = selected.iter().zip(&self.of_columns);
            of_columns.filter(|(_, worth)| !is_known(worth)).map(|(feature, _)| *feature).collect::<Vec<_>>()
        };
        let no_without = without(|worth| worth.without.is_some());
        let no_substitutes = if self.has_outside { without(|worth| worth.substitutes.is_some()) } else { Vec::new() };
        let left_out = WorthRecord { no_without, no_substitutes };
        (self.is_asked && left_out != WorthRecord::default()).then_some(left_out)
    }

    fn fill(
        &mut self,
        budget: f64,
        selector: &ValidSelector,
        design: &Design,
        selected: &[Feature],
        watcher: &StageMonitor<'_>,
    ) -> Result<()> {
        let size = selected.len();
        let outside: Vec<Feature> = design.candidates().into_iter().filter(|f| !selected.contains(f)).collect();
        self.has_outside = !outside.is_empty();
        if size == 0 || watcher.stopped().is_some() {
            return Ok(());
        }
        let removals = Removals::new(selector, design, selected);
        if removals.flops > budget {
            return Ok(());
        }
        for (worth, score) in self.of_columns.iter_mut().zip(removals.scores(selector)?) {
            worth.without = Some(score);
        }
        let budget = budget - removals.flops;
        if outside.is_empty() || exchange_flops(selector, design, size, outside.len()) > budget {
            return Ok(());
        }
        Exchanges::new(selector, design, selected, outside).each(selector, 0..size, SUBSTITUTES, |k, found| {
            self.of_columns[k].substitutes = Some(best(found));
            watcher.stopped().is_none()
        })
    }
}

/// The columns with the lowest finite scores, and the scores.
pub(super) fn best(mut found: Vec<(Feature, f64)>) -> Vec<(Feature, f64)> {
    found.retain(|(_, score)| score.is_finite());
    found.sort_by(|(a, x), (b, y)| x.total_cmp(y).then(a.cmp(b)));
    found.truncate(SUBSTITUTES);
    found
}

#[cfg(test)]
mod tests;
