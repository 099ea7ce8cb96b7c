//! Losses of selections by size and λ, pooled over folds.

use super::full_model::FullLosses;
use super::loss_sums::{FoldLosses, LossSums};
use super::pooled_folds::{LambdaPaths, PooledFolds};
use super::validation::Validation;
use crate::selector::resumable_search::SearchResult;
use vaglio_core::{Loss, Result};
use vaglio_report::record::{Cell, LossTable};
use vaglio_search::CrossValidation;

/// Chosen size and λ of a cross-validated search.
pub(super) struct CellChoice {
    /// Search paths at every λ.
    pub walks: Vec<LambdaPaths>,
    /// Losses of all columns.
    pub full: Vec<FullLosses>,
    pub table: LossTable,
    /// Index of the λ.
    pub place: usize,
    pub cell: Cell,
    /// Loss of each fold at the choice of the others of its repeat.
    pub by_others: Vec<LossSums>,
    /// The search on all rows, if its score chose λ.
    pub scored: Option<SearchResult>,
}

/// Standard errors of the difference to the lowest loss within which other folds may choose a cell.
const CANDIDATES: f64 = 3.0;

impl Validation<'_, '_> {
    /// Pools the folds at each λ.
    pub fn pooled_each<'t>(&self, walks: &'t [LambdaPaths]) -> Vec<PooledFolds<'t>> {
        walks.iter().map(|walks| self.pooled(walks)).collect()
    }

    /// Pools the paths at each λ into a table.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] if no held-out row has weight.
    pub fn table(&self, walks: &[LambdaPaths]) -> Result<LossTable> {
        let matched = self.pooled_each(walks);
        let of_lambda = |matched: &PooledFolds<'_>| matched.cells(self.loss, matched.sizes());
        let cells = matched.iter().map(of_lambda).collect::<Result<_>>()?;
        let mut table = LossTable { lambdas: walks.iter().map(|walks| walks.lambda).collect(), cells };
        compare(self.loss, &mut table, &matched, self.how.at_most)?;
        Ok(table)
    }

    /// Loss of each fold, repeat by repeat, at the size and λ with the lowest loss in the other folds of its repeat. It
    /// estimates the loss of the chosen cell without selection bias. Empty if a fold has no others, or these have no
    /// weight.
    pub fn by_others(&self, table: &LossTable, matched: &[PooledFolds<'_>], best: Cell) -> Vec<LossSums> {
        let (loss, at_most) = (self.loss, self.how.at_most);
        let fits = |cell: &&Cell| {
            let error = cell.difference_error.or(cell.standard_error).unwrap_or(f64::INFINITY);
            at_most.is_none_or(|most| cell.size <= most) && cell.loss - best.loss <= CANDIDATES * error
        };
        let mut candidates: Vec<FoldLosses<'_>> = Vec::new();
        for (matched, cells) in matched.iter().zip(&table.cells) {
            candidates.extend(cells.iter().filter(fits).map(|cell| matched.losses(cell.size)));
        }
        let (folds, repeats) = matched.first().map_or((0, 1), |matched| (matched.trails.len(), matched.repeats));
        let of_repeat = folds / repeats.max(1);
        let one = |fold: usize| -> Option<LossSums> {
            let others = (0..folds).filter(|&other| other != fold && other / of_repeat == fold / of_repeat);
            let others: Vec<usize> = others.collect();
            let mut least: Option<(f64, &LossSums)> = None;
            for FoldLosses { folds, .. } in &candidates {
                let own = FoldLosses::new(others.iter().map(|&other| folds[other]), 1).mean(loss).ok()?;
                if least.is_none_or(|(lowest, _)| own < lowest) {
                    least = Some((own, folds[fold]));
                }
            }
            least.map(|(_, tally)| tally.clone())
        };
        (0..folds).map(one).collect::<Option<_>>().unwrap_or_default()
    }
}

/// Sets in every cell the standard error of the paired difference to the lowest loss. For a loss of all rows together,
/// only in cells within both standard errors, which bound that of a difference.
///
/// # Errors
/// [`vaglio_core::Error::Shape`] for an empty table.
pub(super) fn compare(
    loss: &dyn Loss,
    table: &mut LossTable,
    matched: &[PooledFolds<'_>],
    at_most: Option<usize>,
) -> Result<()> {
    let (place, best) = table.pick(&CrossValidation { at_most, ..CrossValidation::default() })?;
    let of_best = matched[place].losses(best.size);
    let is_cheap = loss.traits().measure.is_of_rows();
    for (matched, cells) in matched.iter().zip(&mut table.cells) {
        for cell in cells {
            let level = |cell: &Cell| cell.standard_error.unwrap_or(0.0);
            if is_cheap || cell.loss - best.loss <= level(cell) + level(&best) {
                cell.difference_error = matched.losses(cell.size).difference(loss, &of_best);
            }
        }
    }
    Ok(())
}
