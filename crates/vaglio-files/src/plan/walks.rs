//! Counts the searches of a run.

use crate::evaluations::{RepetitionInput, Repetitions, repetitions};
use std::fmt;
use vaglio_core::Design;
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resampling::choice::{cross_validation, walk_lambdas};
use vaglio_pipeline::resampling::validation::parting;
use vaglio_pipeline::resampling::{Procedure, Sample};
use vaglio_pipeline::selector::ValidSelector;

/// Numbers of searches in a run.
#[derive(Debug, Clone)]
pub(crate) struct SearchCounts {
    /// Values of λ with separate searches.
    pub lambdas: usize,
    /// Folds times repeats; 0 without cross-validation.
    pub folds: usize,
    /// Number of repeated fold assignments.
    pub repeats: usize,
    /// Searches on all rows.
    pub whole: usize,
    /// Repetitions for evaluations, with their numbers.
    pub repetitions: Vec<(Repetitions, usize)>,
}

impl SearchCounts {
    /// Counts the searches that choose size and λ.
    pub fn new(selector: &ValidSelector, design: &Design, sample: &Sample) -> Self {
        match cross_validation(selector) {
            Some((how, is_written)) => {
                let parting = parting(selector, sample, &how, is_written);
                let folds = parting.map_or(how.folds, |parting| parting.count(sample));
                SearchCounts {
                    lambdas: walk_lambdas(design, true).len(),
                    folds: folds * how.repeats,
                    repeats: how.repeats,
                    whole: 1,
                    repetitions: Vec::new(),
                }
            }
            None => {
                let lambdas = walk_lambdas(design, false).len();
                SearchCounts { lambdas, folds: 0, repeats: 1, whole: lambdas, repetitions: Vec::new() }
            }
        }
    }

    /// Adds the repetitions of evaluations, except impossible ones.
    pub fn with_evaluations(self, selector: &ValidSelector, sample: &Sample, evaluate: &Evaluate) -> Self {
        let procedure = Procedure { selector, tune: None };
        let input = RepetitionInput { evaluate, procedure, sample, searched: None };
        let count = |of: &Repetitions| (of.jobs)(&input).map_or(0, |jobs| jobs.count);
        let repetitions = repetitions().map(|of| (of, count(&of))).filter(|(_, count)| *count > 0).collect();
        SearchCounts { repetitions, ..self }
    }

    /// Repetitions around the folds.
    pub fn around(&self) -> usize {
        self.repetitions.iter().map(|(_, count)| count).sum()
    }

    /// Searches of one selection.
    fn per_selection(&self) -> usize {
        self.folds * self.lambdas + self.whole
    }

    pub fn count(&self) -> usize {
        let selection = self.per_selection();
        let searches = |(kind, count): &(Repetitions, usize)| count * if kind.is_one_search { 1 } else { selection };
        selection + self.repetitions.iter().map(searches).sum::<usize>()
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
        for (Repetitions { planned: [before, after], .. }, count) in &self.repetitions {
            write!(f, "; {before}{count}{after}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts with repetitions of these keys.
    fn with(counts: &SearchCounts, numbers: &[(&str, usize)]) -> SearchCounts {
        let number = |kind: &Repetitions| numbers.iter().find(|(prefix, _)| *prefix == kind.prefix);
        let known = repetitions().filter_map(|kind| Some((kind, number(&kind)?.1)));
        SearchCounts { repetitions: known.collect(), ..counts.clone() }
    }

    #[test]
    fn walks_are_counted() {
        let one = SearchCounts { lambdas: 1, folds: 5, repeats: 1, whole: 1, repetitions: Vec::new() };
        assert_eq!(one.to_string(), "6: 5 folds of the rows, and one of all rows");
        let grid = SearchCounts { lambdas: 13, ..one.clone() };
        assert_eq!(grid.to_string(), "66: 5 folds of the rows × 13 values of lambda, and one of all rows");
        let plain = SearchCounts { lambdas: 3, folds: 0, whole: 3, ..one.clone() };
        assert_eq!(plain.to_string(), "3: 3 of all rows, one for each value of lambda");
        let all = with(&one, &[("nested/", 5), ("permutations/", 20), ("stability/", 100)]);
        assert_eq!(
            all.to_string(),
            "256: 5 folds of the rows, and one of all rows; the same in 5 outer folds; the same on 20 shuffled targets; 100 on halves of the rows"
        );
        let learning = with(&one, &[("learning/", 15), ("nested/", 5)]);
        assert!(learning.to_string().ends_with("in 5 outer folds; the same on 15 parts of their training rows"));
        assert_eq!((learning.count(), one.rounds()), (6 * 21, 5.0));
    }
}
