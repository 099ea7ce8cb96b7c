//! Counts the searches of a run.

use crate::learning;
use std::fmt;
use vaglio_core::{Design, Result};
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resample::Sample;
use vaglio_pipeline::resample::choice::{cross_validation, walk_lambdas};
use vaglio_pipeline::resample::split_rule::SplitRule;
use vaglio_pipeline::resample::validated::parting;
use vaglio_pipeline::selector::ValidSelector;

/// Numbers of searches in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SearchCounts {
    /// Values of λ with separate searches.
    pub lambdas: usize,
    /// Folds times repeats; 0 without cross-validation.
    pub folds: usize,
    /// Number of repeated fold assignments.
    pub repeats: usize,
    /// Searches on all rows.
    pub whole: usize,
    /// Outer folds times repeats; each repeats the whole selection.
    pub outer: usize,
    /// Subsets of outer training sets that repeat the whole selection, for the learning curve.
    pub parts: usize,
    /// Shuffled targets; each repeats the whole selection.
    pub shuffled: usize,
    /// Single searches on half-samples.
    pub halves: usize,
}

impl SearchCounts {
    /// Counts the searches that choose size and λ, and those of `evaluate`.
    pub fn new(selector: &ValidSelector, design: &Design, sample: &Sample, evaluate: Option<&Evaluate>) -> Self {
        let outer = evaluate.and_then(Evaluate::outer_folds);
        let counted = |parting: Result<SplitRule>, folds: usize| parting.map_or(folds, |parting| parting.count(sample));
        let outer = outer.map(|how| (counted(how.parting(selector, sample), how.folds), how.repeats));
        let folds = evaluate.and_then(Evaluate::learning_folds);
        let folds = folds.map_or(0, |how| counted(how.parting(selector, sample), how.folds));
        let base = SearchCounts {
            lambdas: 1,
            folds: 0,
            repeats: 1,
            whole: 1,
            outer: outer.map_or(0, |(folds, repeats)| folds * repeats),
            parts: folds * learning::points(outer.is_some()),
            shuffled: evaluate.and_then(|evaluate| evaluate.permutations).unwrap_or(0),
            halves: evaluate
                .and_then(|evaluate| evaluate.stability.as_ref())
                .map_or(0, |stability| 2 * stability.pairs),
        };
        match cross_validation(selector) {
            Some((how, is_written)) => {
                let lambdas = walk_lambdas(design, true).len();
                let parting = parting(selector, sample, &how, is_written);
                let folds = counted(parting, how.folds);
                SearchCounts { lambdas, folds: folds * how.repeats, repeats: how.repeats, ..base }
            }
            None => {
                let lambdas = walk_lambdas(design, false).len();
                SearchCounts { lambdas, whole: lambdas, ..base }
            }
        }
    }

    /// Repetitions around the folds.
    pub fn around(&self) -> usize {
        self.outer + self.parts + self.shuffled + self.halves
    }

    /// Searches of one selection.
    fn per_selection(&self) -> usize {
        self.folds * self.lambdas + self.whole
    }

    pub fn count(&self) -> usize {
        self.per_selection() * (1 + self.outer + self.parts + self.shuffled) + self.halves
    }

    /// Cost of one selection, in searches on all rows.
    pub fn rounds(&self) -> f64 {
        let trained = 1.0 - 1.0 / (self.folds as f64 / self.repeats.max(1) as f64).max(2.0);
        (self.folds * self.lambdas) as f64 * trained + self.whole as f64
    }
}

impl fmt::Display for SearchCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lambdas = if self.lambdas == 1 { String::new() } else { format!(" × {} values of lambda", self.lambdas) };
        write!(f, "{}: ", self.count())?;
        match (self.folds, self.whole) {
            (0, 1) => write!(f, "one of all rows")?,
            (0, whole) => write!(f, "{whole} of all rows, one for each value of lambda")?,
            (folds, _) => write!(f, "{folds} folds of the rows{lambdas}, and one of all rows")?,
        }
        if self.outer > 0 {
            write!(f, "; the same in {} outer folds", self.outer)?;
        }
        if self.parts > 0 {
            write!(f, "; the same on {} parts of their training rows", self.parts)?;
        }
        if self.shuffled > 0 {
            write!(f, "; the same on {} shuffled targets", self.shuffled)?;
        }
        if self.halves > 0 {
            write!(f, "; {} on halves of the rows", self.halves)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_are_counted() {
        let one =
            SearchCounts { lambdas: 1, folds: 5, repeats: 1, whole: 1, outer: 0, parts: 0, shuffled: 0, halves: 0 };
        assert_eq!(one.to_string(), "6: 5 folds of the rows, and one of all rows");
        let grid = SearchCounts { lambdas: 13, ..one };
        assert_eq!(grid.to_string(), "66: 5 folds of the rows × 13 values of lambda, and one of all rows");
        let plain = SearchCounts { lambdas: 3, folds: 0, whole: 3, ..one };
        assert_eq!(plain.to_string(), "3: 3 of all rows, one for each value of lambda");
        let all = SearchCounts { outer: 5, shuffled: 20, halves: 100, ..one };
        assert_eq!(
            all.to_string(),
            "256: 5 folds of the rows, and one of all rows; the same in 5 outer folds; the same on 20 shuffled targets; 100 on halves of the rows"
        );
        let learning = SearchCounts { parts: 15, outer: 5, ..one };
        assert!(learning.to_string().ends_with("in 5 outer folds; the same on 15 parts of their training rows"));
        assert_eq!((learning.count(), one.rounds()), (6 * 21, 5.0));
    }
}
