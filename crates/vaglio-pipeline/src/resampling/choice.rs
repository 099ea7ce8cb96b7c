//! Choice of the size and λ of a selection.

use super::fdr::check_design;
use super::{
    Choice, ChosenSearch, LambdaPaths, Sample, Validation, choice_splits, choose_by_score, choose_confirmed,
    not_validated, shared_design, with_lambda_warnings,
};
use crate::jobs::{FIRST_CHECKPOINT, StageMonitor, SubTask};
use crate::selector::{SearchResult, ValidSelector, path_lambdas, takes_lambda_of_all};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{Design, Error, ErrorClass, ProcessGroup, Result, SearchExtent, StopReason, StopSign, pluralize};
use vaglio_report::record::{Cell, ChosenBy, LossTable, Warning, WarningKind};
use vaglio_search::{Choose, CrossValidation, Journal, Judge, Monitor, Path, Silent};

/// Searches the design of all rows of the sample, and chooses a size and λ. A search that is stopped before its first
/// score takes no columns.
///
/// # Errors
/// [`Error::Setting`] for invalid folds; errors of the search and the fits.
pub fn select(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    match chosen_search(selector, sample, design, monitor) {
        Err(Error::Stopped(reason)) => {
            let message = "the run was stopped before the search had a score, so no column is taken";
            let warning = Warning::new(WarningKind::Interrupted, message);
            Ok(ChosenSearch::by_score(SearchResult::empty(reason), vec![warning]))
        }
        done => done,
    }
}

fn chosen_search(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    if let Choose::FalseDiscoveries(rate) = selector.search.size_choice() {
        check_design(design, sample.ordered).map_err(|error| error.under("search.choose"))?;
        return choose_confirmed(selector, design, rate, monitor);
    }
    let Some(how) = selector.cross_validation() else { return choose_by_score(selector, design, monitor) };
    let lambdas = path_lambdas(design, true);
    let by_score = |design: &Design, error: &Error, monitor: &mut Monitor<'_>| {
        let mut chosen_search = choose_by_score(selector, design, monitor)?;
        chosen_search.warnings.insert(0, not_validated(error));
        Ok(chosen_search)
    };
    // Folds that the user did not ask for may fail.
    let falls_back = |error: &Error| !selector.asks_for_folds() && error.class() != ErrorClass::Numerical;
    let splits = &match choice_splits(selector, sample, &how) {
        Err(error) if falls_back(&error) && selector.at_penalties(design)?.is_none() => {
            return by_score(design, &error, monitor);
        }
        splits => splits?,
    };
    let (folds, repeats) = (splits.folds, splits.count() / splits.folds.max(1));
    let how = &CrossValidation { folds, repeats, splits: splits.splitter.resampling().cloned(), ..how };
    let design = &shared_design(design, Some(splits));
    let fitted = selector.at_penalties(design)?;
    let selector = fitted.as_ref().unwrap_or(selector);
    let watcher = &StageMonitor::new(&mut *monitor);
    let extent = selector.search.extent(design);
    // A single search begins before the folds, so that an interruption finds its results.
    let first = match lambdas.len() {
        1 => {
            let start = Instant::now();
            let alone = selector.only_search(design, lambdas[0], &watcher.stop, watcher.journal.process_group())?;
            let sizes = extent.as_ref().ok().copied();
            let mut subtask = watcher.shown_subtask(watcher.journal.under("walk/0")).with_sizes(sizes, how.patience);
            let until = how.patience.map(|_| FIRST_CHECKPOINT);
            let mut found = selector.search(&alone, until, 0, subtask.monitor())?;
            found.seconds = start.elapsed().as_secs_f64();
            Some(FirstSearch { design: alone, subtask, start, found })
        }
        _ => None,
    };
    let path = first.as_ref().map(|first| first.found.path.clone());
    let everything = match path.as_ref().and_then(|path| path.everything(design.candidates().len())) {
        Some(everything) => everything,
        None => extent.map_err(|error| error.under("search"))?.largest,
    };
    let path = path.as_ref().filter(|_| fitted.is_some());
    let loss = &*selector.loss(sample.task());
    let validation = &Validation { selector, sample, design, watcher, loss, how, splits, everything, path };
    let begun = Instant::now();
    let found = match watcher.ends(|| validation.over_grid(lambdas)) {
        Ok(found) => found,
        Err(error) if falls_back(&error) && fitted.is_none() => {
            return by_score(design, &error, monitor);
        }
        Err(error) => return Err(error),
    };
    let seconds = begun.elapsed().as_secs_f64();
    let chosen_search = match found {
        Some(by_lambda) => validation.choose(&by_lambda, first)?,
        None => validation.choose_after_stop(first)?,
    };
    Ok(ChosenSearch { seconds, ..chosen_search })
}

/// Whether [`select`] makes a single search on all rows whose criterion divides its work on columns among processes.
pub fn is_in_parts(selector: &ValidSelector, design: &Design) -> bool {
    let is_validated = selector.cross_validation().is_some();
    let is_one = path_lambdas(design, is_validated).len() == 1;
    let is_plain = !matches!(selector.search.size_choice(), Choose::FalseDiscoveries(_));
    is_one && is_plain && selector.criterion.plan(design, &SearchExtent::fixed(0)).is_in_parts
}

/// Runs the search on all rows to its end, as one of a group of processes.
pub fn accompany(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    group: Arc<dyn ProcessGroup>,
    monitor: &mut Monitor<'_>,
) -> Result<()> {
    let how = selector.cross_validation();
    let design = &match &how {
        Some(how) => shared_design(design, choice_splits(selector, sample, how).as_ref().ok()),
        None => design.clone(),
    };
    let fitted = if how.is_some() { selector.at_penalties(design)? } else { None };
    let selector = fitted.as_ref().unwrap_or(selector);
    let lambda = path_lambdas(design, how.is_some())[0];
    let alone = selector.only_search(design, lambda, &monitor.stop, Some(group))?;
    selector.search(&alone, None, 0, monitor).map(drop)
}

/// The search on all rows at the only λ, which begins before the searches of the folds.
struct FirstSearch<'w, 'o> {
    design: Design,
    subtask: SubTask<'w, 'o>,
    start: Instant,
    /// Result up to the first checkpoint, with the seconds until then.
    found: SearchResult,
}

impl FirstSearch<'_, '_> {
    /// Finishes the search at the size `end` if given, else at its own end. A longer search begins again.
    fn finish(self, selector: &ValidSelector, end: Option<usize>) -> Result<SearchResult> {
        let FirstSearch { design, mut subtask, start, mut found } = self;
        let (seconds, begun) = (found.seconds, Instant::now());
        let monitor = subtask.monitor();
        let journal = monitor.journal.clone();
        if found.cut_at(FIRST_CHECKPOINT).is_some() && end != Some(FIRST_CHECKPOINT) {
            let known = found.path.steps.len();
            let longer = selector.search(&design, end, known, monitor)?;
            if longer.path.steps.len() < known {
                // The run was stopped meanwhile.
                found.path.stop_reason = longer.path.stop_reason;
            } else {
                found = longer;
            }
        }
        let found = found.finish(&design, start, &journal);
        Ok(SearchResult { seconds: seconds + begun.elapsed().as_secs_f64(), ..found })
    }
}

impl Validation<'_, '_> {
    /// Chooses size and λ by the rule, tests the gain, and takes the result from the search on all rows.
    fn choose(&self, by_lambda: &[LambdaPaths], first: Option<FirstSearch<'_, '_>>) -> Result<ChosenSearch> {
        let Validation { selector, design, loss, how, .. } = *self;
        let mut table = self.table(by_lambda)?;
        let (place, cell, scored) = match self.by_score_alone(&table)? {
            Some((place, cell, searched)) => (place, cell, Some(searched)),
            None => table.pick(how).map(|(place, cell)| (place, cell, None))?,
        };
        let (mut paths, is_at_penalty) = (by_lambda[place].clone(), self.path.is_some());
        let needs_others = how.require_gain.level().is_some() || how.is_lowest();
        let by_others = if needs_others { self.by_others(&table, by_lambda, cell) } else { Vec::new() };
        let test = self.watcher.ends(|| self.test_gain(by_lambda, place, cell, &by_others))?;
        let Some(test) = test else { return self.choose_after_stop(first) };
        // If the score chose λ, sizes are compared at that λ.
        let sizes = self.size_spread(if scored.is_some() { std::slice::from_ref(&paths) } else { by_lambda })?;
        let searched = self.final_search(&paths, place, scored, first)?;
        if let Some(everything) = searched.path.everything(design.candidates().len()).filter(|_| !is_at_penalty) {
            paths.everything = everything;
        }
        let on_path = if searched.path.stop_reason.is_partial() {
            None
        } else {
            self.cell_on_path(&mut table, &searched.path, &paths, place, cell)?
        };
        let Some(on_path) = on_path else { return Ok(unreached_choice(design, searched)) };
        let is_rejected = test.is_some_and(|test| !test.passes());
        let cell = if is_rejected { paths.empty(loss)? } else { on_path };
        let mut warnings: Vec<Warning> = self.all_columns_warning(by_lambda, &paths, cell)?.into_iter().collect();
        let other = self.size_on_other_scale(by_lambda, test.is_some())?.filter(|size| *size != cell.size);
        warnings.extend(other.map(|size| scales_differ(how.judge, cell.size, size)));
        let entry = searched.path.entries.iter().position(|entry| entry.subset.len() == cell.size);
        let searched = selector.with_entry(searched, entry, design)?;
        let chosen = Choice {
            by: ChosenBy::CrossValidation,
            folds: Some(how.clone()),
            penalty: paths.lambda.filter(|_| is_at_penalty),
            lambda: paths.lambda.or(searched.path.score().lambda),
            cell: Some(cell),
            empty: match is_at_penalty {
                true => Some(paths.empty(loss)?),
                false => table.losses_at(place).first().filter(|cell| cell.size == 0).copied(),
            },
            place,
            of_path: by_lambda.len() > 1 && !is_at_penalty || takes_lambda_of_all(design),
            until: paths.end,
            sizes,
            fold_entries: paths.entries(cell.size, how.folds),
            losses: paths.near(cell.size),
            by_others: if how.is_lowest() { by_others } else { Vec::new() },
            declined: Some(on_path).filter(|on_path| on_path.size > cell.size),
            test,
            table: Some(table),
            size: cell.size,
            ..Choice::by_score(&searched.path, how.rule)
        };
        Ok(with_lambda_warnings(design, ChosenSearch::new(searched, chosen, warnings)))
    }

    /// Size chosen by losses on the other scale of a mapped target; `None` without a map.
    fn size_on_other_scale(&self, by_lambda: &[LambdaPaths], is_tested: bool) -> Result<Option<usize>> {
        let Some(by_lambda) = by_lambda.iter().map(LambdaPaths::on_other_scale).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let table = self.table(&by_lambda)?;
        let (place, cell) = table.pick(self.how)?;
        let level = self.how.require_gain.level().filter(|_| is_tested && cell.size > 0);
        let is_rejected = level.is_some_and(|level| {
            let by_others = self.by_others(&table, &by_lambda, cell);
            self.paired_p(&by_others, &by_lambda[place], cell.size).is_some_and(|p| p > level)
        });
        Ok(Some(if is_rejected { 0 } else { cell.size }))
    }

    /// The chosen cell of the table, for a subset on the path of all rows. If the path lacks the chosen size, the rule
    /// chooses among the sizes of the path at the same λ.
    fn cell_on_path(
        &self,
        table: &mut LossTable,
        path: &Path,
        paths: &LambdaPaths,
        place: usize,
        cell: Cell,
    ) -> Result<Option<Cell>> {
        let Validation { loss, how, .. } = *self;
        let sizes = || path.entries.iter().map(|entry| entry.subset.len());
        if paths.has(cell.size) && (cell.size == 0 || sizes().any(|size| size == cell.size)) {
            return Ok(Some(cell));
        }
        let cells = paths.cells(loss, sizes().chain([0]))?;
        if cells.is_empty() {
            return Ok(None);
        }
        let mut lambda_table = LossTable { cells: vec![cells], ..LossTable::default() };
        self.compare(&mut lambda_table, std::slice::from_ref(paths))?;
        let (_, cell) = lambda_table.pick(how)?;
        table.cells[place] = lambda_table.cells.swap_remove(0);
        Ok(Some(cell))
    }

    /// Finishes the search on all rows at the chosen λ. Sizes that the folds did not reach cannot be the result.
    fn final_search(
        &self,
        paths: &LambdaPaths,
        place: usize,
        scored: Option<SearchResult>,
        first: Option<FirstSearch<'_, '_>>,
    ) -> Result<SearchResult> {
        let mut searched = match (scored, first) {
            (Some(searched), _) => searched,
            (None, Some(first)) => first.finish(self.selector, paths.end)?,
            (None, None) => self.search_all_rows(paths.lambda, place, paths.end)?,
        };
        if let (Some(_), Some(penalty)) = (self.path, paths.lambda) {
            searched.path = searched.path.taking(penalty);
        }
        Ok(searched)
    }

    /// Result after an interruption of the folds, chosen by the score. Uses the search on all rows so far, or half a
    /// second of one at the middle λ.
    fn choose_after_stop(&self, first: Option<FirstSearch<'_, '_>>) -> Result<ChosenSearch> {
        let Validation { selector, design, watcher, how, .. } = *self;
        let mut searched = match first {
            Some(FirstSearch { found, .. }) => found,
            None => {
                let (lambdas, stop) = (path_lambdas(design, true), StopSign::default().or_after(Instant::now(), LAST));
                let monitor = &mut Monitor { observer: &mut Silent, journal: Journal::default(), stop };
                let (lambda, until) = (lambdas[lambdas.len() / 2], how.patience.map(|_| FIRST_CHECKPOINT));
                selector.search_on(&design.at_lambda(lambda), until, monitor)?
            }
        };
        let message = "the run was stopped while the search was cross-validated; the size is by the score alone";
        // A finished search without a cross-validated choice also counts as interrupted.
        searched.path.stop_reason = watcher.check_stop().unwrap_or(StopReason::Interrupted);
        Ok(ChosenSearch::by_score(searched, vec![Warning::new(WarningKind::Interrupted, message)]))
    }
}

/// Warning that the two scales of a mapped target choose different sizes.
fn scales_differ(judge: Judge, own: usize, other: usize) -> Warning {
    let columns = |size: usize| if size == 0 { "no column".into() } else { pluralize(size, "column") };
    let scale = |judge: Judge| if judge == Judge::Mapped { "of the mapped target" } else { "in the units of the data" };
    let word = if judge == Judge::Mapped { "original" } else { "mapped" };
    let message = format!(
        "losses {} choose {}, and losses {} choose {}; `choose: {{judge: {word}}}` takes the latter",
        scale(judge),
        columns(own),
        scale(judge.other()),
        columns(other)
    );
    Warning::new(WarningKind::ScalesDiffer, message)
}

/// Takes the result by the score, since no size was reached on all rows and in every fold.
fn unreached_choice(design: &Design, searched: SearchResult) -> ChosenSearch {
    let mut warnings = Vec::new();
    if !searched.path.stop_reason.is_partial() {
        let message = "no size of the search on all rows was reached in every fold, so the score chose the size, which is optimistic";
        warnings.push(Warning::new(WarningKind::NotCrossValidated, message));
    }
    with_lambda_warnings(design, ChosenSearch::by_score(searched, warnings))
}

/// Time for a search on all rows after an interruption of the folds.
const LAST: Duration = Duration::from_millis(500);
