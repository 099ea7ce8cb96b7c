//! What the walks of a run cost, and how long the run takes.

use super::pace::pace;
use crate::pipeline::Evaluate;
use crate::resample::Sample;
use crate::resample::choice::{cross_validation, walk_lambdas};
use crate::resample::parting::Parting;
use crate::resample::validated::parting;
use crate::selector::ValidSelector;
use std::fmt;
use vaglio_core::{Design, Error, Estimate, Outline, Result};

/// One walk of the search.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// How far it goes at most.
    pub outline: Outline,
    /// Its engine, with flops and bytes at most.
    pub estimate: Estimate,
    /// Seconds of one thread; NaN where the work is not known.
    pub seconds: Span,
    /// Flops a second of one thread.
    pub pace: f64,
}

/// How often the search is walked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::files) struct Walks {
    /// Values of λ that have walks of their own.
    pub lambdas: usize,
    /// Folds times repeats, 0 where the search is not cross-validated.
    pub folds: usize,
    /// Walks on all rows.
    pub whole: usize,
    /// Outer folds times repeats, in which all of that is repeated.
    pub outer: usize,
    /// The part of the rows that an outer fold is trained on.
    pub trained: f64,
    /// Shuffled targets, on which all of that is repeated.
    pub shuffled: usize,
    /// Single walks on halves of the rows.
    pub halves: usize,
}

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Span {
    pub low: f64,
    pub high: f64,
}

/// What the engine of a search is on a design, and how long one walk takes.
///
/// # Errors
/// Those of the search's outline.
pub(super) fn walk(selector: &ValidSelector, design: &Design) -> Result<Walk> {
    let under = |e: Error| e.under("search");
    let outline = selector.search().outline(design).map_err(under)?;
    let shortest = selector.search().shortest(design).map_err(under)?;
    let criterion = &**selector.criterion();
    let effort = selector.search().effort(criterion, design).map_err(under)?;
    let estimate = effort.beside(criterion.estimate(design, &outline));
    let pace = pace(selector, design, &outline);
    let least = effort.beside(criterion.estimate(design, &shortest)).flops.min(estimate.flops);
    Ok(Walk { outline, seconds: Span { low: least, high: estimate.flops }.times(1.0 / pace), estimate, pace })
}

impl Walks {
    /// Those that choose the size and λ of a selection on the rows of a sample; and those of `evaluate`.
    pub fn of(selector: &ValidSelector, design: &Design, sample: &Sample, evaluate: Option<&Evaluate>) -> Self {
        let outer = evaluate.and_then(Evaluate::outer_folds);
        let counted = |parting: Result<Parting>, folds: usize| parting.map_or(folds, |parting| parting.count(sample));
        let outer = outer.map(|how| (counted(how.parting(selector, sample), how.folds), how.repeats));
        let base = Walks {
            lambdas: 1,
            folds: 0,
            whole: 1,
            outer: outer.map_or(0, |(folds, repeats)| folds * repeats),
            trained: outer.map_or(1.0, |(folds, _)| 1.0 - 1.0 / folds.max(2) as f64),
            shuffled: evaluate.and_then(|evaluate| evaluate.permutations).unwrap_or(0),
            halves: evaluate
                .and_then(|evaluate| evaluate.stability.as_ref())
                .map_or(0, |stability| 2 * stability.pairs),
        };
        match cross_validation(selector) {
            Some((how, is_written)) => {
                let folds = counted(parting(selector, sample, &how, is_written), how.folds);
                Walks { lambdas: walk_lambdas(design, true).len(), folds: folds * how.repeats, ..base }
            }
            None => {
                let lambdas = walk_lambdas(design, false).len();
                Walks { lambdas, whole: lambdas, ..base }
            }
        }
    }

    /// Walks of one selection.
    fn of_one(&self) -> usize {
        self.folds * self.lambdas + self.whole
    }

    pub fn count(&self) -> usize {
        self.of_one() * (1 + self.outer + self.shuffled) + self.halves
    }

    /// How often everything is done, in parts of what it takes on all rows.
    pub fn repetitions(&self) -> f64 {
        1.0 + self.outer as f64 * self.trained + self.shuffled as f64
    }

    /// The same of a walk.
    pub fn rounds(&self) -> f64 {
        // A fold is trained on the rows of the others.
        let part = if self.folds > 1 { 1.0 - 1.0 / self.folds as f64 } else { 1.0 };
        let of_one = (self.folds * self.lambdas) as f64 * part + self.whole as f64;
        of_one * self.repetitions() + 0.5 * self.halves as f64
    }
}

impl fmt::Display for Walks {
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
        if self.shuffled > 0 {
            write!(f, "; the same on {} shuffled targets", self.shuffled)?;
        }
        if self.halves > 0 {
            write!(f, "; {} on halves of the rows", self.halves)?;
        }
        Ok(())
    }
}

impl Span {
    pub fn exactly(seconds: f64) -> Self {
        Span { low: seconds, high: seconds }
    }

    pub fn times(self, factor: f64) -> Self {
        Span { low: self.low * factor, high: self.high * factor }
    }

    pub fn and(self, other: Self) -> Self {
        Span { low: self.low + other.low, high: self.high + other.high }
    }

    /// Of work that is measured or predicted well but for a factor.
    pub fn give_or_take(self, factor: f64) -> Self {
        Span { low: self.low / factor, high: self.high * factor }
    }

    /// Of work that threads share, more or less evenly.
    pub fn shared(self, threads: usize) -> Self {
        let threads = threads.max(1) as f64;
        Span { low: self.low / threads, high: self.high / threads.sqrt() }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(f64, f64, &str); 3] =
            [(7200.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds")];
        if self.high < 1.0 {
            return write!(f, "less than a second");
        }
        let (_, size, name) = UNITS.iter().find(|(from, ..)| self.high >= *from).unwrap_or(&UNITS[2]);
        let number = |seconds: f64| {
            let value = seconds / size;
            if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
        };
        write!(f, "{} to {} {name}", number(self.low), number(self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_unit_of_their_end() {
        let told = |low: f64, high: f64| Span { low, high }.to_string();
        assert_eq!(told(0.01, 0.4), "less than a second");
        assert_eq!(told(0.4, 2.25), "0.4 to 2.2 seconds");
        assert_eq!(told(30.0, 90.0), "30 to 90 seconds");
        assert_eq!(told(60.0, 600.0), "1.0 to 10 minutes");
        assert_eq!(told(3600.0, 36000.0), "1.0 to 10 hours");
    }

    #[test]
    fn walks_are_counted() {
        let one = Walks { lambdas: 1, folds: 5, whole: 1, outer: 0, trained: 1.0, shuffled: 0, halves: 0 };
        assert_eq!(one.to_string(), "6: 5 folds of the rows, and one of all rows");
        let grid = Walks { lambdas: 13, ..one };
        assert_eq!(grid.to_string(), "66: 5 folds of the rows × 13 values of lambda, and one of all rows");
        let plain = Walks { lambdas: 3, folds: 0, whole: 3, ..one };
        assert_eq!(plain.to_string(), "3: 3 of all rows, one for each value of lambda");
        let all = Walks { outer: 5, trained: 0.8, shuffled: 20, halves: 100, ..one };
        assert_eq!(
            all.to_string(),
            "256: 5 folds of the rows, and one of all rows; the same in 5 outer folds; the same on 20 shuffled targets; 100 on halves of the rows"
        );
        assert_eq!((one.rounds(), all.rounds()), (5.0, 5.0 * 25.0 + 50.0));
    }
}
