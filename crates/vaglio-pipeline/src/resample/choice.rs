//! Choice of the size and λ of a selection.

use super::chosen::{RejectedColumns, SizeChoice};
use super::extend_grid::cross_validated_beyond;
use super::fdr_choice::confirmed;
use super::fold_losses::FoldLosses;
use super::full_model;
use super::lockstep::{FIRST, LambdaPaths};
use super::loss_sums::LossSums;
use super::pool::{StageMonitor, WalkExtent};
use super::sample::Sample;
use super::scales::{scales_differ, size_on_other_scale};
use super::scored::{by_score, edge, interrupted, not_validated, plain};
use super::size_stability;
use super::split_rule::TrainTestSplit;
use super::table::{self, PooledFolds, Pooling};
use super::validated::{ChoiceParts, CrossValidated, Validation, parted_choice};
use crate::fdr::check_design;
use crate::selector::{ResumableSearch, SearchResult, ValidSelector, takes_lambda_of_all};
use std::time::{Duration, Instant};
use vaglio_core::{
    Design, Error, ErrorClass, Journal, LambdaScope, Loss, Monitor, Path, Result, Silent, StopReason, StopSign,
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
        check_design(design, sample.is_ordered()).map_err(|error| error.under("search.choose"))?;
        return confirmed(selector, design, rate, start, monitor);
    }
    let Some((how, is_written)) = cross_validation(selector) else {
        return plain(selector, design, start, monitor, warnings);
    };
    let ChoiceParts { how, mut lambdas, deals, design } = parted_choice(selector, sample, design, how, is_written)?;
    let design = &design;
    let fitted = selector.at_penalties(design)?;
    let selector = fitted.as_ref().unwrap_or(selector);
    let watcher = &StageMonitor::new(&mut *monitor);
    let context = ChoiceContext { selector, sample, design, watcher };
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
    let pooling = Pooling { everything, repeats: how.repeats };
    let begun = Instant::now();
    let mut all = full_model::lambdas(selector, design, how.folds * how.repeats);
    let mut folds = |deals: Vec<Vec<TrainTestSplit>>| {
        if first.is_none() {
            // Data that all folds share is cached before they begin.
            selector.opened(&design.at_lambda(lambdas[0]))?;
        }
        let validation = Validation { context, deals: &deals, pooling, patience: how.patience, path };
        cross_validated_beyond(&validation, &mut lambdas, &mut all)
    };
    let found = deals.and_then(|deals| watcher.ends(|| folds(deals)));
    let done = match found {
        Ok(done) => done,
        Err(error) if !is_written && fitted.is_none() && error.class() != ErrorClass::Numerical => {
            warnings.push(not_validated(&error));
            drop(first);
            return plain(selector, design, start, monitor, warnings);
        }
        Err(error) => return Err(error),
    };
    let seconds = begun.elapsed().as_secs_f64();
    let Some(CrossValidated { walks, full }) = done else {
        return Ok(ChosenSearch { seconds, ..context.cut_short(first, &how)? });
    };
    let loss = &*selector.loss(sample.task());
    let table = table::pooled(loss, lambdas.clone(), &walks, pooling, how.at_most)?;
    let taken = match context.by_score_alone(&table, is_written)? {
        Some(taken) => taken,
        None => table.pick(how.wanted()).map(|(place, cell)| ChosenCell { place, cell, scored: None })?,
    };
    let validated = CrossValidatedSearch { lambdas, all, walks, full, table, taken, pooling };
    let Some(test) = watcher.ends(|| context.test_gain(&validated, &how).map(Some))? else {
        return Ok(ChosenSearch { seconds, ..context.cut_short(first, &how)? });
    };
    let picked = context.finish(&how, validated, test, first)?;
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
    pub pooling: Pooling,
}

impl CrossValidatedSearch {
    /// Losses of all folds at each λ.
    pub fn walked(&self) -> impl Iterator<Item = PooledFolds<'_>> {
        self.walks.iter().map(|walks| walks.matched(self.pooling))
    }

    /// The chosen cell of the table, for a subset on the path of all rows. If the path lacks the chosen size, the rule
    /// chooses among the sizes of the path at the same λ.
    fn cell_on_path(&mut self, loss: &dyn Loss, path: &Path, on_path: Pooling, wanted: Wanted) -> Result<Option<Cell>> {
        let ChosenCell { place, cell, .. } = self.taken;
        let matched = self.walks[place].matched(on_path);
        let sizes = || path.entries.iter().map(|entry| entry.subset.len());
        if matched.has(cell.size) && (cell.size == 0 || sizes().any(|size| size == cell.size)) {
            return Ok(Some(cell));
        }
        let cells = matched.cells(loss, sizes().chain([0]))?;
        if cells.is_empty() {
            return Ok(None);
        }
        let mut of_lambda = LossTable { lambdas: vec![self.lambdas[place]], cells: vec![cells] };
        table::compare(loss, &mut of_lambda, std::slice::from_ref(&matched), wanted.at_most)?;
        let (_, cell) = of_lambda.pick(wanted)?;
        self.table.cells[place] = of_lambda.cells.swap_remove(0);
        Ok(Some(cell))
    }
}

/// Chosen λ, by index, and size.
pub(super) struct ChosenCell {
    pub place: usize,
    pub cell: Cell,
    /// The search on all rows, if its score chose λ.
    pub scored: Option<SearchResult>,
}

/// A search whose size and λ are chosen.
#[derive(Clone, Copy)]
pub(super) struct ChoiceContext<'a, 'o> {
    pub selector: &'a ValidSelector,
    pub sample: &'a Sample,
    /// Design of all rows.
    pub design: &'a Design,
    pub watcher: &'a StageMonitor<'o>,
}

impl ChoiceContext<'_, '_> {
    /// Finishes the search on all rows at the chosen λ, and takes its result.
    ///
    /// # Errors
    /// Returns the errors of the search and the fits.
    fn finish(
        &self,
        how: &CrossValidation,
        mut validated: CrossValidatedSearch,
        test: Option<GainTest>,
        first: Option<ResumableSearch<'_>>,
    ) -> Result<ChosenSearch> {
        let ChoiceContext { selector, design, .. } = *self;
        let loss = &*selector.loss(self.sample.task());
        let mut warnings = Vec::new();
        let sizes = size_stability::spread(loss, how, &validated)?;
        let mut searched = self.final_search(&mut validated, first)?;
        let (place, pooling) = (validated.taken.place, validated.pooling);
        let by_others = match how.wanted().is_lowest() {
            true => {
                let all: Vec<_> = validated.walked().collect();
                table::by_others(loss, &validated.table, &all, validated.taken.cell, how.at_most)
            }
            false => Vec::new(),
        };
        let reached = searched.path.everything(design.candidates().len());
        let on_path = Pooling { everything: reached.unwrap_or(pooling.everything), ..pooling };
        let taken = match searched.path.stop_reason.is_partial() {
            true => None,
            false => validated.cell_on_path(loss, &searched.path, on_path, how.wanted())?,
        };
        let chosen = match taken {
            None => by_score(&searched.path, Rule::Best),
            Some(picked) => {
                let matched = validated.walks[place].matched(on_path);
                let is_rejected = test.is_some_and(|test| !test.passes());
                let cell = if is_rejected { matched.empty(loss)? } else { picked };
                warnings.extend(full_model::compared(loss, design, &validated, cell, &matched.parts(cell.size))?);
                let other = size_on_other_scale(loss, how, &validated, test.is_some())?;
                warnings.extend(
                    other.filter(|size| *size != cell.size).map(|size| scales_differ(how.judge, cell.size, size)),
                );
                let entry = searched.path.entries.iter().position(|entry| entry.subset.len() == cell.size);
                let declined = (picked.size > cell.size).then(|| {
                    let entry = searched.path.entries.iter().find(|entry| entry.subset.len() == picked.size);
                    RejectedColumns { cell: picked, subset: entry.map_or(Vec::new(), |entry| entry.subset.clone()) }
                });
                searched = selector.taking(searched, entry, design)?;
                let result = searched.path.result();
                let CrossValidatedSearch { lambdas, table, .. } = &validated;
                let LambdaPaths { end, whole, .. } = validated.walks[place];
                SizeChoice {
                    by: ChosenBy::CrossValidation,
                    rule: Some(how.rule),
                    folds: Some(how.clone()),
                    size: cell.size,
                    penalty: lambdas[place].filter(|_| whole.is_some()),
                    lambda: lambdas[place].or(result.map_or(searched.path.empty, |entry| entry.score).lambda),
                    cell: Some(cell),
                    empty: match whole {
                        Some(_) => Some(matched.empty(loss)?),
                        None => table.losses_at(place).first().filter(|cell| cell.size == 0).copied(),
                    },
                    table: Some(table.clone()),
                    place,
                    of_path: lambdas.len() > 1 && whole.is_none() || takes_lambda_of_all(design),
                    until: end,
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

    /// Finishes the search on all rows at the chosen λ. Sizes beyond those of the folds cannot be the result.
    fn final_search(
        &self,
        validated: &mut CrossValidatedSearch,
        first: Option<ResumableSearch<'_>>,
    ) -> Result<SearchResult> {
        let CrossValidatedSearch { lambdas, walks, taken: ChosenCell { place, scored, .. }, .. } = validated;
        let LambdaPaths { end, whole, .. } = walks[*place];
        self.watcher.leads_to(end);
        let mut searched = match (scored.take(), first) {
            (Some(searched), _) => searched,
            (None, Some(mut walking)) => {
                walking.to(end)?;
                walking.searched()?
            }
            (None, None) if whole.is_some() => self.walk(None, 0, None)?,
            (None, None) => self.walk(lambdas[*place], *place, end)?,
        };
        if let (Some(_), Some(penalty)) = (whole, lambdas[*place]) {
            searched.path = searched.path.taking(penalty);
        }
        Ok(searched)
    }

    /// Searches at one λ, whose index is `place`, up to the size `until` if given.
    pub fn walk(&self, lambda: Option<f64>, place: usize, until: Option<usize>) -> Result<SearchResult> {
        let ChoiceContext { selector, design, watcher, .. } = *self;
        let journal = watcher.journal().under(format_args!("walk/{place}"));
        let mut leader = watcher.leader(journal).over(WalkExtent::from_search(selector, design, None));
        selector.search_on(&design.at_lambda(lambda), Instant::now(), until, &mut leader.monitor())
    }

    /// Result after an interruption of the folds, chosen by the score. Uses the search on all rows so far, or as much
    /// of one at the middle λ as half a second allows.
    ///
    /// # Errors
    /// Returns the errors of the search.
    fn cut_short(&self, first: Option<ResumableSearch<'_>>, how: &CrossValidation) -> Result<ChosenSearch> {
        let ChoiceContext { selector, design, watcher, .. } = *self;
        let mut searched = match first {
            Some(first) => first.so_far()?,
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
}

/// Time for a search on all rows after an interruption of the folds.
const LAST: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
