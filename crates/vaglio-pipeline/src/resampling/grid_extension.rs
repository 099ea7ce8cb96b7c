//! Extension of a λ grid whose end has the lowest loss.

use super::{Fold, LambdaPaths, Lockstep, Validation};
use crate::jobs::run_parallel;
use crate::memory_slots::MemorySlots;
use crate::selector::SearchResult;
use vaglio_core::{Error, ErrorClass, Result};
use vaglio_kernels::tolerance::LEAST_PENALTY;
use vaglio_report::record::{Cell, LossTable};
use vaglio_search::{CrossValidation, Journal};

/// Number of values added beyond an end at once.
const STEP: usize = 4;
/// Largest number of extensions of an end.
const MOST: usize = 4;
/// Smallest relative fall of the loss from the neighbor to the end that justifies an extension.
const LEAST_FALL: f64 = 1e-3;

impl Validation<'_, '_> {
    /// Held-out losses of a search over a grid of λ. An automatic grid is extended beyond the end with the lowest loss
    /// until the loss stops falling. Every extension has its own part of the journal.
    pub fn over_grid(&self, lambdas: Vec<Option<f64>>) -> Result<Vec<LambdaPaths>> {
        let Validation { selector, design, .. } = *self;
        if lambdas.len() > 1 {
            // Data that all folds share is cached before they begin.
            selector.scorer(&design.at_lambda(lambdas[0]))?;
        }
        let journal = &self.watcher.journal;
        let mut by_lambda = self.cross_validate(lambdas, &[], journal)?;
        if let (Some(path), [alone]) = (self.path, &by_lambda[..]) {
            let by_lambda = alone.to_penalties(path);
            let message = "the path of all rows ends above them, or has fewer columns there than `min_features`";
            return if by_lambda.is_empty() { Err(Error::setting("search.penalties", message)) } else { Ok(by_lambda) };
        }
        let may_extend = design.readout().is_some_and(|readout| readout.extend);
        for round in 1..=if may_extend { MOST } else { 0 } {
            let table = self.table(&by_lambda)?;
            let Some((beyond, is_below)) = beyond(&table)? else { break };
            tracing::debug!(?beyond, "lambda");
            let more = match self.cross_validate(beyond, &by_lambda, &journal.under(format_args!("extend/{round}"))) {
                Err(stopped @ Error::Stopped(_)) => return Err(stopped),
                // A λ that the criterion cannot score ends the extension.
                Err(error) if error.class() == ErrorClass::Numerical => break,
                more => more?,
            };
            let end = if is_below { 0 } else { by_lambda.len() };
            by_lambda.splice(end..end, more);
        }
        Ok(by_lambda)
    }

    /// Cross-validates the searches at some λ in every fold. Results at other λ are given by `before`. Finished work is
    /// recorded in the journal.
    fn cross_validate(
        &self,
        lambdas: Vec<Option<f64>>,
        before: &[LambdaPaths],
        journal: &Journal,
    ) -> Result<Vec<LambdaPaths>> {
        let (count, slots) = (self.splits.count(), &self.selector.slots);
        self.watcher.stage("choose", count * lambdas.len());
        let known: Option<Vec<LambdaPaths>> = journal.recall("choose/walks");
        if let Some(known) = known.filter(|known| known.iter().map(|paths| paths.lambda).eq(lambdas.iter().copied())) {
            return Ok(known);
        }
        // If memory cannot hold all folds at once, they are rebuilt when needed.
        let occupied = slots.all(count);
        let fold = |job: usize| self.fold(job, &lambdas).map_err(self.in_fold(job));
        let unlimited = &MemorySlots::default();
        let folds: Vec<Fold> = if occupied.is_some() { run_parallel(unlimited, count, fold)? } else { Vec::new() };
        Lockstep::new(self, &folds, &lambdas, journal)?.run(before)
    }

    /// Searches at one λ, whose index is `place`, up to the size `until` if given.
    pub fn search_all_rows(&self, lambda: Option<f64>, place: usize, until: Option<usize>) -> Result<SearchResult> {
        let Validation { selector, design, watcher, .. } = *self;
        let subtask = watcher.shown_subtask(watcher.journal.under(format_args!("walk/{place}")));
        let mut subtask = subtask.with_sizes(selector.search.extent(design).ok(), None);
        selector.search_on(&design.at_lambda(lambda), until, &mut subtask.monitor())
    }

    /// Index of the λ with the lowest score, with its cell and search. Returns `None` unless the grid is automatic, all
    /// columns are kept, and the user did not ask for folds. A score without selection has no bias, and all rows are
    /// more accurate than folds.
    pub fn by_score_alone(&self, table: &LossTable) -> Result<Option<(usize, Cell, SearchResult)>> {
        let Validation { selector, design, .. } = *self;
        let is_fitted = design.readout().is_some_and(|readout| readout.auto);
        if selector.asks_for_folds()
            || !is_fitted
            || !selector.search.extent(design)?.keeps_all()
            || table.lambdas.len() < 2
        {
            return Ok(None);
        }
        let mut best: Option<(f64, usize, SearchResult)> = None;
        for (place, &lambda) in table.lambdas.iter().enumerate() {
            let searched = self.search_all_rows(lambda, place, None)?;
            let path = &searched.path;
            let Some(entry) = path.entries.last().filter(|_| !path.stop_reason.is_partial()) else { return Ok(None) };
            let loss = entry.score.loss;
            if best.as_ref().is_none_or(|(lowest, ..)| loss < *lowest) {
                best = Some((loss, place, searched));
            }
        }
        Ok(best.and_then(|(_, place, searched)| Some((place, *table.cells[place].last()?, searched))))
    }
}

/// Values of λ beyond the end where a table's loss is lowest, and whether that end is the smaller.
fn beyond(table: &LossTable) -> Result<Option<(Vec<Option<f64>>, bool)>> {
    let lambdas: Vec<f64> = table.lambdas.iter().flatten().copied().collect();
    let ([first, second, ..], [.., before, last]) = (&lambdas[..], &lambdas[..]) else { return Ok(None) };
    let (place, best) = table.pick(&CrossValidation::default())?;
    let (is_below, is_above) = (place == 0, place + 1 == table.lambdas.len());
    // The empty subset does not depend on λ.
    if !(is_below || is_above) || best.size == 0 {
        return Ok(None);
    }
    let neighbour = table.cells[if is_below { 1 } else { place - 1 }].iter().find(|cell| cell.size == best.size);
    if neighbour.is_some_and(|cell| cell.loss - best.loss <= LEAST_FALL * best.loss.abs()) {
        return Ok(None);
    }
    let (end, towards) = if is_below { (first, second) } else { (last, before) };
    let (end, step) = (end.log10(), end.log10() - towards.log10());
    // Exponents as round as those of the grid.
    let value = |place: usize| 10f64.powf(((end + place as f64 * step) * 1e9).round() / 1e9);
    let mut values: Vec<f64> =
        (1..=STEP).map(value).filter(|lambda| lambda.is_normal() && *lambda >= LEAST_PENALTY * last).collect();
    values.sort_by(f64::total_cmp);
    let values: Vec<Option<f64>> = values.into_iter().map(Some).collect();
    Ok((!values.is_empty()).then_some((values, is_below)))
}
