//! Variation of the chosen size with the split into folds.

use super::{LambdaPaths, Validation};
use vaglio_core::Result;
use vaglio_report::record::{Cell, LossTable, SizeSpread, SizeSpreadSource};
use vaglio_search::Rule;

impl Validation<'_, '_> {
    /// Sizes that the rule chooses from each repeat alone. With one repeat, it chooses without each fold in turn. No
    /// further search is needed. Returns `None` for losses that are no mean over rows, and if no size was reached.
    ///
    /// Cost O(λ · sizes · folds) for each.
    pub fn size_spread(&self, by_lambda: &[LambdaPaths]) -> Result<Option<SizeSpread>> {
        let Validation { loss, how, .. } = *self;
        let all = by_lambda.first().map_or(0, |paths| paths.folds.len());
        if !loss.traits().measure.is_of_rows() || all < 3 || how.folds * how.repeats != all {
            return Ok(None);
        }
        let (over, kept): (SizeSpreadSource, Vec<Vec<usize>>) = match how.repeats {
            1 => {
                (SizeSpreadSource::Folds, (0..all).map(|out| (0..all).filter(|fold| *fold != out).collect()).collect())
            }
            repeats => {
                let repeat_folds = |repeat: usize| (repeat * how.folds..(repeat + 1) * how.folds).collect();
                (SizeSpreadSource::Repeats, (0..repeats).map(repeat_folds).collect())
            }
        };
        let sizes = kept.iter().map(|kept| self.size_in_folds(by_lambda, kept));
        let sizes: Option<Vec<usize>> = sizes.collect::<Result<_>>()?;
        Ok(sizes.map(|sizes| SizeSpread { over, sizes }))
    }

    /// Size that the rule chooses from some of the folds.
    fn size_in_folds(&self, by_lambda: &[LambdaPaths], kept: &[usize]) -> Result<Option<usize>> {
        let how = self.how;
        let some: Vec<LambdaPaths> = by_lambda.iter().map(|paths| paths.select_folds(kept)).collect();
        let cells = |(all, some): (&LambdaPaths, &LambdaPaths)| -> Result<Vec<Cell>> {
            let cell = |size: usize| {
                let loss = some.losses(size).mean(self.loss)?;
                Ok(Cell { size, loss, standard_error: Some(0.0), difference_error: None })
            };
            all.sizes().into_iter().map(cell).collect()
        };
        let cells = by_lambda.iter().zip(&some).map(cells).collect::<Result<_>>()?;
        let mut table = LossTable { cells, ..LossTable::default() };
        if table.cells.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        if how.rule == Rule::OneSe {
            self.compare(&mut table, &some)?;
        }
        table.pick(how).map(|(_, cell)| Some(cell.size))
    }
}
