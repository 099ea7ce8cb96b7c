//! Searches of a run, and their repetitions for evaluations.

use std::fmt;
use vaglio_core::{Design, Result};
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resampling::{Choice, Procedure, Sample, StageMonitor, choice_split_rule};
use vaglio_pipeline::selector::{ValidSelector, walk_lambdas};

/// Repetitions of the search for an evaluation, which threads or processes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repetitions {
    /// Prefix of the journal keys.
    pub prefix: &'static str,
    /// Name in lists of units.
    pub units: &'static str,
    /// Words before and after the number of repetitions in a plan.
    pub planned: [&'static str; 2],
    /// Whether each is one search with the settings chosen on all rows, rather than the whole procedure.
    pub is_one_search: bool,
    /// Number of the repetitions; 0 unless the settings ask for them.
    pub count: fn(&RepetitionInput<'_>) -> Result<usize>,
    /// Performs the repetitions of this process, which the journal keeps.
    pub repeat: fn(&RepetitionInput<'_>, &StageMonitor<'_>) -> Result<()>,
}

/// Input of repetitions.
#[derive(Clone, Copy)]
pub(super) struct RepetitionInput<'r> {
    pub evaluate: &'r Evaluate,
    /// The procedure before tuning.
    pub procedure: Procedure<'r>,
    pub sample: &'r Sample,
    /// Result of the search on all rows, if known.
    pub searched: Option<SearchedRows<'r>>,
}

/// Result of the search on all rows, as repetitions of one search need it.
#[derive(Clone, Copy)]
pub(super) struct SearchedRows<'r> {
    /// The selector after tuning.
    pub selector: &'r ValidSelector,
    pub chosen: &'r Choice,
    /// Number of candidates.
    pub columns: usize,
}

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
        let cross_validation = selector.cross_validation();
        let lambdas = walk_lambdas(design, cross_validation.is_some()).len();
        let plain = SearchCounts { lambdas, folds: 0, repeats: 1, whole: lambdas, repetitions: Vec::new() };
        let Some(how) = cross_validation else { return plain };
        let folds = choice_split_rule(selector, sample, &how).map_or(how.folds, |rule| rule.count(sample));
        SearchCounts { folds: folds * how.repeats, repeats: how.repeats, whole: 1, ..plain }
    }

    /// Repetitions around the folds.
    pub fn around(&self) -> usize {
        self.repetitions.iter().map(|(_, count)| count).sum()
    }

    pub fn count(&self) -> usize {
        let selection = self.folds * self.lambdas + self.whole;
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
    use crate::evaluations::repetitions;

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
