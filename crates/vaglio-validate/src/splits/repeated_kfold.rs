//! Repeated k-fold: shuffled folds, several times.

use super::{assignment, check_folds, check_repeats};
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{Classes, Problem, Resampling, ResamplingTraits, Result, Split, part, rows_by_label};

/// Repeated k-fold cross-validation: shuffled folds, several times; each time every row is held out once. Rows of one
/// group stay in one fold.
#[part(
    Resampling,
    "repeated",
    summary = "shuffled folds, several times",
    example = "criterion: {kind: kfold, splits: {kind: repeated, folds: 5, repeats: 3}}"
)]
#[derive(PartialEq, Eq)]
pub struct Repeated {
    /// How many folds.
    #[schemars(extend("minimum" = 2))]
    #[default(5)]
    pub folds: usize,
    /// How many times.
    #[schemars(extend("minimum" = 1, "maximum" = vaglio_core::MOST_REPEATS))]
    #[default(3)]
    pub repeats: usize,
}

impl Repeated {
    /// Creates `folds` folds, three times.
    pub fn new(folds: usize) -> Self {
        Repeated { folds, ..Repeated::default() }
    }
}

/// Purpose number that separates the seeds of repeats from other uses.
const REPEAT: u64 = 4;

impl Resampling for Repeated {
    fn splits(&self, problem: &Problem, classes: Option<&Classes>) -> Result<Vec<Split>> {
        check_repeats(self.repeats, problem.rows())?;
        let mut splits = Vec::new();
        for repeat in 0..self.repeats {
            let seed = if repeat == 0 { problem.seed() } else { stream(problem.seed(), REPEAT, repeat as u64) };
            let order = |count: usize| random_order(count, seed);
            let folds = match problem.groups() {
                Some(groups) => assignment::groups(groups, Some(self.folds), order)?,
                None => assignment::rows(problem.rows(), classes, self.folds, order)?,
            };
            splits.extend(rows_by_label(&folds).into_iter().map(Split::holding_out));
        }
        Ok(splits)
    }

    fn traits(&self) -> ResamplingTraits {
        let Repeated { folds, repeats } = self;
        let sentence = format!("{repeats} times {folds} shuffled folds, each predicted from the others");
        ResamplingTraits { can_stratify: true, sentence: Some(sentence), ..ResamplingTraits::default() }
    }

    fn check_settings(&self) -> Result<()> {
        check_repeats(self.repeats, 0)?;
        check_folds(self.folds)
    }
}
