//! Variation of the chosen size with the split into folds.

use super::{CellChoice, LambdaPaths, Validation};
use vaglio_core::Result;
use vaglio_report::record::{Cell, LossTable, SizeSpread, SizeSpreadSource};
use vaglio_search::Rule;

impl Validation<'_, '_> {
    /// Sizes that the rule chooses from each repeat alone, or, with one repeat, without each of its folds in turn; no
    /// further search is needed. Returns `None` for losses that are no mean over rows, and if no size was reached.
    ///
    /// Cost O(λ · sizes · folds) for each.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Shape`] if no held-out row has weight.
    pub fn size_spread(&self, choice: &CellChoice) -> Result<Option<SizeSpread>> {
        let (Validation { loss, how, .. }, walks) = (*self, &choice.walks);
        let all = walks.first().map_or(0, |paths| paths.folds.len());
        if !loss.traits().measure.is_of_rows() || all < 3 || how.folds * how.repeats != all {
            return Ok(None);
        }
        // If the score chose λ, sizes are compared at that λ.
        let places = if choice.scored.is_some() { choice.place..choice.place + 1 } else { 0..walks.len() };
        let walks = &walks[places];
        let (over, kept): (SizeSpreadSource, Vec<Vec<usize>>) = match how.repeats {
            1 => {
                (SizeSpreadSource::Folds, (0..all).map(|out| (0..all).filter(|fold| *fold != out).collect()).collect())
            }
            repeats => {
                let repeat_folds = |repeat: usize| (repeat * how.folds..(repeat + 1) * how.folds).collect();
                (SizeSpreadSource::Repeats, (0..repeats).map(repeat_folds).collect())
            }
        };
        let sizes = kept.iter().map(|kept| self.size_in_folds(walks, kept));
        let sizes: Option<Vec<usize>> = sizes.collect::<Result<_>>()?;
        Ok(sizes.map(|sizes| SizeSpread { over, sizes }))
    }

    /// Size that the rule chooses from some of the folds.
    fn size_in_folds(&self, walks: &[LambdaPaths], kept: &[usize]) -> Result<Option<usize>> {
        let how = self.how;
        let some: Vec<LambdaPaths> = walks.iter().map(|paths| paths.select_folds(kept)).collect();
        let cells = |(all, some): (&LambdaPaths, &LambdaPaths)| -> Result<Vec<Cell>> {
            let cell = |size: usize| {
                let loss = some.losses(size).mean(self.loss)?;
                Ok(Cell { size, loss, standard_error: Some(0.0), difference_error: None })
            };
            all.sizes().into_iter().map(cell).collect()
        };
        let cells = walks.iter().zip(&some).map(cells).collect::<Result<_>>()?;
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

#[cfg(test)]
mod tests {
    use super::super::Sample;
    use super::super::choice::select;
    use super::super::split_rule::TrainTestSplit;
    use super::super::split_rule::tests::held_out_error;
    use super::super::validation::choice_splits;
    use super::*;
    use crate::learners::Rls;
    use crate::selector::{Selector, ValidSelector};
    use linfa::ParamGuard;
    use std::time::Instant;
    use vaglio_search::{Choose, CrossValidation, Greedy, Monitor, Search, Silent};
    use vaglio_testkit::data;
    use vaglio_validate::Loo;

    const COLUMNS: usize = 7;

    /// Squared held-out errors of one split for every size, by a search and refits on its training rows.
    fn squares(selector: &ValidSelector, sample: &Sample, part: &TrainTestSplit) -> Vec<f64> {
        let problem = sample.select(&part.training).unwrap().fit().unwrap().problem;
        let design = selector.design(&problem).unwrap();
        let path = selector.search_on(&design, Instant::now(), None, &mut Monitor::from(&mut Silent)).unwrap().path;
        let whole = sample.fit().unwrap().problem;
        let (y, rows) = (whole.targets().row(0).to_vec(), part.held.len() as f64);
        let size_loss = |size: usize| {
            let subset = path.entries.iter().find(|entry| entry.subset.len() == size).map(|entry| entry.subset.clone());
            let columns =
                subset.unwrap_or_default().iter().map(|&f| whole.columns().column(f).values().to_vec()).collect();
            let columns: Vec<Vec<f64>> = if size == 0 { vec![vec![0.0; y.len()]] } else { columns };
            rows * held_out_error(&columns, &y, std::slice::from_ref(part), 1.0)
        };
        (0..=COLUMNS).map(size_loss).collect()
    }

    #[test]
    fn sizes_of_repeats_and_without_folds_are_those_of_refits() {
        let mut differ = 0;
        for (seed, repeats) in [(1, 1), (2, 1), (3, 1), (1, 4), (2, 4)] {
            let how = CrossValidation { folds: 5, repeats, ..CrossValidation::default() };
            let search = Search::new(Greedy {}).choose(Choose::CrossValidated(how.clone()));
            let selector = Selector::params(Loo::default(), search, Rls::default()).seed(seed).check().unwrap();
            let problem = data::regression(30, COLUMNS, seed).problem();
            let sample = Sample::plain(problem.clone(), false);
            let design = selector.design(&problem).unwrap();
            let picked = select(&selector, &sample, &design, Instant::now(), &mut Monitor::from(&mut Silent)).unwrap();
            let found = picked.chosen.sizes.unwrap();
            let parts = choice_splits(&selector, &sample, &how).unwrap();
            let squares: Vec<Vec<f64>> = parts.all().map(|part| squares(&selector, &sample, &part)).collect();
            let best = |kept: &dyn Fn(usize) -> bool| {
                let sum = |size: usize| {
                    let kept_folds = squares.iter().enumerate().filter(|(fold, _)| kept(*fold));
                    kept_folds.map(|(_, squares)| squares[size]).sum::<f64>()
                };
                (0..=COLUMNS).min_by(|a, b| sum(*a).total_cmp(&sum(*b))).unwrap()
            };
            let expected: Vec<usize> = match repeats {
                1 => (0..5).map(|out| best(&|fold| fold != out)).collect(),
                _ => (0..repeats).map(|repeat| best(&|fold| fold / 5 == repeat)).collect(),
            };
            assert_eq!(found.over, if repeats == 1 { SizeSpreadSource::Folds } else { SizeSpreadSource::Repeats });
            assert_eq!(found.sizes, expected);
            differ += usize::from(expected.iter().any(|size| *size != expected[0]));
        }
        assert!(differ > 1);
    }
}
