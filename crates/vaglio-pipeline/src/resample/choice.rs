//! Choice of the size and λ of a selection.

use super::chosen::{RejectedColumns, SizeChoice};
use super::extend_grid::{by_score_alone, cross_validated_beyond};
use super::fdr_choice::confirmed;
use super::fold_losses::FoldLosses;
use super::full_model;
use super::gain::ColumnTest;
use super::lockstep::{FIRST, LambdaPaths};
use super::loss_sums::LossSums;
use super::pool::{StageMonitor, WalkExtent};
use super::sample::Sample;
use super::scales::{scales_differ, size_on_other_scale};
use super::scored::{by_score, edge, interrupted, not_validated, plain};
use super::size_stability;
use super::split_rule::TrainTestSplit;
use super::table::{self, PooledFolds};
use super::validated::{ChoiceParts, CrossValidated, Validation, parted_choice};
use crate::selector::{ResumableSearch, SearchResult, ValidSelector, takes_lambda_of_all};
use std::time::{Duration, Instant};
use vaglio_core::{
    Design, Error, ExitClass, Journal, LambdaScope, Loss, Monitor, Path, Result, Silent, StopReason, StopSign,
};
use vaglio_report::record::{Cell, ChosenBy, ComparedSearch, GainTest, LossTable, Warning, WarningKind};
use vaglio_search::{Choose, CrossValidation, Rule, Wanted};

/// A search with its chosen result.
pub struct ChosenSearch {
    /// Result of the search.
    pub searched: SearchResult,
    /// Choice of size and λ.
    pub chosen: SizeChoice,
    pub(crate) warnings: Vec<Warning>,
    /// Seconds of the searches in folds.
    pub seconds: f64,
    /// Searches that were compared on the same folds, if there are several.
    pub searches: Vec<ComparedSearch>,
}

/// Cross-validation that chooses the result, if any, and whether the user asked for it.
pub fn cross_validation(selector: &ValidSelector) -> Option<(CrossValidation, bool)> {
    match selector.search().size_choice() {
        Choose::CrossValidated(how) => Some((how, true)),
        Choose::Auto => selector.criterion().traits().loss.map(|_| (CrossValidation::default(), false)),
        _ => None,
    }
}

/// Values of λ with a search path each: those of the readout if λ belongs to the path, else a single `None`.
pub fn walk_lambdas(design: &Design, is_cross_validated: bool) -> Vec<Option<f64>> {
    let Some(readout) = design.readout() else { return vec![None] };
    let of_path = match readout.per {
        Some(per) => per == LambdaScope::Path,
        None => is_cross_validated,
    };
    match of_path && !readout.refine && readout.lambdas.len() > 1 {
        true => design.lambdas(),
        false => vec![None],
    }
}

/// Searches the design of all rows of the sample, and chooses a size and λ. A search that is stopped before its first
/// score takes no columns.
///
/// # Errors
/// Errors of the search and the fits; [`vaglio_core::Error::Setting`] for invalid folds.
pub fn select(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    start: Instant,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    match chosen_search(selector, sample, design, start, monitor) {
        Err(Error::Stopped(reason)) => {
            let searched = SearchResult::stopped(reason, start);
            let chosen = by_score(&searched.path, Rule::Best);
            let message = "the run was stopped before the search had a score, so no column is taken";
            let warnings = vec![Warning::new(WarningKind::Interrupted, message)];
            Ok(ChosenSearch { searched, chosen, warnings, seconds: 0.0, searches: Vec::new() })
        }
        picked => picked,
    }
}

fn chosen_search(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    start: Instant,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    let mut warnings = Vec::new();
    if let Choose::FalseDiscoveries(rate) = selector.search().size_choice() {
        return confirmed(selector, (sample, design), rate, start, monitor);
    }
    let Some((how, is_written)) = cross_validation(selector) else {
        return plain(selector, design, start, monitor, warnings);
    };
    let ChoiceParts { how, mut lambdas, deals, design } = parted_choice(selector, sample, design, (how, is_written))?;
    let design = &design;
    let fitted = selector.at_penalties(design)?;
    let selector = fitted.as_ref().unwrap_or(selector);
    let watcher = &StageMonitor::new(&mut *monitor);
    // A single search begins before the folds, so that an interruption finds its results.
    let alone = design.at_lambda(lambdas[0]).stopping_at(watcher.sign().clone());
    let alone = if lambdas.len() == 1 { selector.at_lambda_of_all(&alone)? } else { alone };
    let alone = alone.with_run(|run| run.process_group = watcher.journal().process_group());
    let extent = WalkExtent::from_search(selector, design, how.patience);
    let mut leader = watcher.leader(watcher.journal().under("walk/0")).over(extent);
    let mut first = match lambdas.len() {
        1 => Some(ResumableSearch::open(selector, &alone, start, leader.monitor())?),
        _ => None,
    };
    let reached = |path: &Path| path.everything(design.candidates().len());
    let begins = how.patience.map(|_| FIRST);
    let path = first.as_mut().map(|walking| walking.to(begins).cloned()).transpose()?;
    let known = path.as_ref().and_then(reached);
    let path = path.as_ref().filter(|_| fitted.is_some());
    let everything = match known {
        Some(everything) => everything,
        None => selector.search().extent(design).map_err(|error| error.under("search"))?.largest,
    };
    let begun = Instant::now();
    let mut all = full_model::lambdas(selector, design, how.folds * how.repeats);
    let mut folds = |deals: Vec<Vec<TrainTestSplit>>| {
        if first.is_none() {
            // Data that all folds share is cached before they begin.
            selector.opened(&design.at_lambda(lambdas[0]))?;
        }
        let (deals, patience, whole) = (&deals[..], how.patience, design);
        let validation = Validation { selector, sample, whole, deals, everything, patience, watcher, path };
        cross_validated_beyond(&validation, (&mut lambdas, &mut all))
    };
    let found = deals.and_then(|deals| watcher.ends(|| folds(deals)));
    let done = match found {
        Ok(done) => done,
        Err(error) if !is_written && fitted.is_none() && error.class() != ExitClass::Numerical => {
            warnings.push(not_validated(&error));
            drop(first);
            return plain(selector, design, start, monitor, warnings);
        }
        Err(error) => return Err(error),
    };
    let seconds = begun.elapsed().as_secs_f64();
    let Some(CrossValidated { walks, full }) = done else {
        let searched = first.map(ResumableSearch::so_far).transpose()?;
        return Ok(ChosenSearch { seconds, ..cut_short(selector, design, searched, &how, watcher)? });
    };
    let loss = &*selector.loss(sample.task());
    let table = table::pooled(loss, lambdas.clone(), &walks, (everything, how.repeats), how.at_most)?;
    let taken = match by_score_alone(selector, design, &table, is_written, watcher)? {
        Some((place, cell, searched)) => ChosenCell { place, cell, scored: Some(searched) },
        None => table.pick(how.wanted()).map(|(place, cell)| ChosenCell { place, cell, scored: None })?,
    };
    let validated = CrossValidatedSearch { lambdas, all, walks, full, table, taken, everything };
    let columns = ColumnTest { selector, sample, design, watcher };
    let Some(test) = watcher.ends(|| columns.run(&validated, &how).map(Some))? else {
        let searched = first.map(ResumableSearch::so_far).transpose()?;
        return Ok(ChosenSearch { seconds, ..cut_short(selector, design, searched, &how, watcher)? });
    };
    let picked = finished((selector, design), loss, &how, (validated, test), first, watcher)?;
    warnings.extend(picked.warnings);
    Ok(ChosenSearch { warnings, seconds, ..picked })
}

/// Cross-validation result of one search.
pub(super) struct CrossValidatedSearch {
    pub lambdas: Vec<Option<f64>>,
    /// Values of λ for the models of all columns.
    pub all: Vec<Option<f64>>,
    pub walks: Vec<LambdaPaths>,
    /// Losses of all columns, by fold and λ.
    pub full: Vec<Vec<LossSums>>,
    pub table: LossTable,
    pub taken: ChosenCell,
    /// Size of the full subset on all rows.
    pub everything: usize,
}

impl CrossValidatedSearch {
    /// Losses of all folds at one λ.
    pub fn matched(&self, place: usize, repeats: usize) -> PooledFolds<'_> {
        self.walks[place].matched((self.everything, repeats))
    }

    /// Losses of all folds at each λ.
    pub fn walked(&self, repeats: usize) -> impl Iterator<Item = PooledFolds<'_>> {
        (0..self.walks.len()).map(move |place| self.matched(place, repeats))
    }
}

/// Chosen λ, by index, and size.
pub(super) struct ChosenCell {
    pub place: usize,
    pub cell: Cell,
    /// The search on all rows, if its score chose λ.
    pub scored: Option<SearchResult>,
}

/// Finishes the search on all rows at the chosen λ, and takes its result.
///
/// # Errors
/// Returns the errors of the search and the fits.
fn finished(
    (selector, design): (&ValidSelector, &Design),
    loss: &dyn Loss,
    how: &CrossValidation,
    (validated, test): (CrossValidatedSearch, Option<GainTest>),
    first: Option<ResumableSearch<'_>>,
    watcher: &StageMonitor<'_>,
) -> Result<ChosenSearch> {
    let mut warnings = Vec::new();
    let sizes = size_stability::spread(loss, how, &validated)?;
    let CrossValidatedSearch {
        lambdas,
        all,
        walks,
        full,
        table,
        taken: ChosenCell { place, cell, scored },
        everything,
    } = validated;
    let reached = |path: &Path| path.everything(design.candidates().len());
    // Sizes beyond those of the folds cannot be the result.
    let until = walks[place].end;
    watcher.leads_to(until);
    let mut searched = match (scored, first) {
        (Some(searched), _) => searched,
        (None, Some(mut walking)) => {
            walking.to(until)?;
            walking.searched()?
        }
        (None, None) if walks[place].whole.is_some() => walk(selector, design, (&[None], 0), None, watcher)?,
        (None, None) => walk(selector, design, (&lambdas, place), until, watcher)?,
    };
    if let (Some(_), Some(penalty)) = (walks[place].whole, lambdas[place]) {
        searched.path = searched.path.taking(penalty);
    }
    let by_others = match how.wanted().is_lowest() {
        true => {
            let all: Vec<_> = walks.iter().map(|walks| walks.matched((everything, how.repeats))).collect();
            table::by_others(loss, &table, &all, (cell, how.at_most))
        }
        false => Vec::new(),
    };
    let matched = walks[place].matched((reached(&searched.path).unwrap_or(everything), how.repeats));
    let taken = match searched.path.stop_reason.is_partial() {
        true => None,
        false => taken(loss, &matched, &searched.path, (table, place, cell), how.wanted())?,
    };
    let chosen = match taken {
        None => by_score(&searched.path, Rule::Best),
        Some((table, cell)) => {
            let (picked, cell) = match test.filter(|test| !test.passes()) {
                Some(_) => (cell, matched.empty(loss)?),
                None => (cell, cell),
            };
            let of_taken = (cell, &matched.parts(cell.size)[..]);
            warnings.extend(full_model::compared(design, &all, &full, (loss, how.repeats), of_taken)?);
            let other = size_on_other_scale(loss, (&lambdas, &walks), everything, (how, test.is_some()))?;
            warnings
                .extend(other.filter(|size| *size != cell.size).map(|size| scales_differ(how.judge, cell.size, size)));
            let entry = searched.path.entries.iter().position(|entry| entry.subset.len() == cell.size);
            let declined = (picked.size > cell.size).then(|| {
                let entry = searched.path.entries.iter().find(|entry| entry.subset.len() == picked.size);
                RejectedColumns { cell: picked, subset: entry.map_or(Vec::new(), |entry| entry.subset.clone()) }
            });
            searched = selector.taking(searched, entry, design)?;
            let result = searched.path.result();
            SizeChoice {
                by: ChosenBy::CrossValidation,
                rule: Some(how.rule),
                folds: Some(how.clone()),
                size: cell.size,
                penalty: lambdas[place].filter(|_| walks[place].whole.is_some()),
                lambda: lambdas[place].or(result.map_or(searched.path.empty, |entry| entry.score).lambda),
                cell: Some(cell),
                empty: match walks[place].whole {
                    Some(_) => Some(matched.empty(loss)?),
                    None => table.losses_at(place).first().filter(|cell| cell.size == 0).copied(),
                },
                table: Some(table),
                place,
                of_path: lambdas.len() > 1 && walks[place].whole.is_none() || takes_lambda_of_all(design),
                until,
                sizes,
                of_folds: matched.entries(cell.size, how.folds),
                losses: Some(FoldLosses::new(&matched, cell.size, by_others)),
                declined,
                test,
                confirmed: None,
            }
        }
    };
    if chosen.by == ChosenBy::Score && !searched.path.stop_reason.is_partial() {
        let message = "no size of the search on all rows was reached in every fold, so the score chose the size, which is optimistic";
        warnings.push(Warning::new(WarningKind::NotCrossValidated, message));
    }
    edge(design, &chosen, &mut warnings);
    Ok(ChosenSearch { searched, chosen, warnings, seconds: 0.0, searches: Vec::new() })
}

/// Searches at one λ, given by index, up to the size `until` if given.
pub(super) fn walk(
    selector: &ValidSelector,
    design: &Design,
    (lambdas, place): (&[Option<f64>], usize),
    until: Option<usize>,
    watcher: &StageMonitor<'_>,
) -> Result<SearchResult> {
    let journal = watcher.journal().under(format_args!("walk/{place}"));
    let mut leader = watcher.leader(journal).over(WalkExtent::from_search(selector, design, None));
    selector.search_on(&design.at_lambda(lambdas[place]), Instant::now(), until, &mut leader.monitor())
}

/// Time for a search on all rows after an interruption of the folds.
const LAST: Duration = Duration::from_millis(500);

/// Result after an interruption of the folds, chosen by the score. Uses the search on all rows so far, or as much of
/// one at the middle λ as half a second allows.
///
/// # Errors
/// Returns the errors of the search.
fn cut_short(
    selector: &ValidSelector,
    design: &Design,
    searched: Option<SearchResult>,
    how: &CrossValidation,
    watcher: &StageMonitor<'_>,
) -> Result<ChosenSearch> {
    let mut searched = match searched {
        Some(searched) => searched,
        None => {
            let (lambdas, stop) = (walk_lambdas(design, true), StopSign::default().or_after(Instant::now(), LAST));
            let monitor = &mut Monitor { observer: &mut Silent, journal: Journal::default(), stop };
            let (lambda, until) = (lambdas[lambdas.len() / 2], how.patience.map(|_| FIRST));
            selector.search_on(&design.at_lambda(lambda), Instant::now(), until, monitor)?
        }
    };
    // A finished search without a cross-validated choice also counts as interrupted.
    searched.path.stop_reason = watcher.stopped().unwrap_or(StopReason::Interrupted);
    let chosen = by_score(&searched.path, Rule::Best);
    Ok(ChosenSearch { searched, chosen, warnings: vec![interrupted()], seconds: 0.0, searches: Vec::new() })
}

/// The chosen cell of the table, for a subset on the path of all rows.
///
/// If the path lacks the size of `picked`, the rule chooses among the sizes of the path at the same λ.
fn taken(
    loss: &dyn Loss,
    matched: &PooledFolds<'_>,
    path: &Path,
    (mut table, place, picked): (LossTable, usize, Cell),
    wanted: Wanted,
) -> Result<Option<(LossTable, Cell)>> {
    let sizes = || path.entries.iter().map(|entry| entry.subset.len());
    if matched.has(picked.size) && (picked.size == 0 || sizes().any(|size| size == picked.size)) {
        return Ok(Some((table, picked)));
    }
    table.cells[place] = matched.cells(loss, sizes().chain([0]))?;
    if table.cells[place].is_empty() {
        return Ok(None);
    }
    let mut of_lambda = LossTable { lambdas: vec![table.lambdas[place]], cells: vec![table.cells[place].clone()] };
    table::compare(loss, &mut of_lambda, std::slice::from_ref(matched), wanted.at_most)?;
    let (_, cell) = of_lambda.pick(wanted)?;
    table.cells[place] = of_lambda.cells.swap_remove(0);
    Ok(Some((table, cell)))
}

#[cfg(test)]
mod tests;
