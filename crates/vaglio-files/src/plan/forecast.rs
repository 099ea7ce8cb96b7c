//! What the walks of a run cost.

use super::pace::{begun, pace};
use crate::certainty::pairs_of;
use crate::learning;
use crate::pairs::outer_pairs_of;
use std::fmt;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, Error, Estimate, Outline, Result};
use vaglio_kernels::machine::Machine;
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resample::Sample;
use vaglio_pipeline::resample::choice::{cross_validation, walk_lambdas};
use vaglio_pipeline::resample::lockstep::{FIRST, expected_sizes};
use vaglio_pipeline::resample::parting::Parting;
use vaglio_pipeline::resample::validated::parting;
use vaglio_pipeline::selector::{ValidSelector, all_at_once, takes_lambda_of_all};

/// One walk of the search.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// How far it goes at most.
    pub outline: Outline,
    /// Its engine, with flops and bytes at most.
    pub estimate: Estimate,
    /// Seconds of one thread that it is expected to take on all rows; NaN where nothing tells.
    pub seconds: f64,
    /// The size that it is expected to reach.
    pub size: usize,
    /// The same of a walk of the cross-validated search, were it on all rows.
    pub in_folds: f64,
    /// The size that this reaches.
    pub size_in_folds: usize,
    /// Flops a second of one thread.
    pub pace: f64,
    /// Whether the walk itself was tried.
    pub is_known: bool,
}

/// How often the search is walked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Walks {
    /// Values of λ that have walks of their own.
    pub lambdas: usize,
    /// Folds times repeats, 0 where the search is not cross-validated.
    pub folds: usize,
    /// How often rows are dealt into folds.
    pub repeats: usize,
    /// Walks on all rows.
    pub whole: usize,
    /// Outer folds times repeats, in which all of that is repeated.
    pub outer: usize,
    /// The part of the rows that an outer fold is trained on.
    pub trained: f64,
    /// Parts of the training rows of outer folds, on which all of that is repeated; and the rows of these together, in parts of
    /// all rows.
    pub parts: usize,
    pub of_parts: f64,
    /// Shuffled targets, on which all of that is repeated.
    pub shuffled: usize,
    /// Single walks on halves of the rows.
    pub halves: usize,
    /// Single walks without pairs of folds, for intervals.
    pub pairs: usize,
    /// Pairs of outer folds without which everything is repeated.
    pub outer_pairs: usize,
}

/// Sizes beyond the least at which a search may end that it is expected to go on to.
const BEYOND: usize = 12;

/// The size that a search is expected to reach, which ends between two.
fn expected(least: usize, most: usize) -> usize {
    most.min(least + BEYOND)
}

/// The size that walks on folds are expected to reach, which go on together up to a size of `most`: between that of λ without
/// hope and that of the best.
fn expected_together(most: usize, patience: Option<usize>) -> usize {
    most.min(FIRST).midpoint(expected_sizes(most, patience))
}

/// The outline of a search that ends at `size`, from those of the least and the most that it may do.
fn ending_at(size: usize, least: &Outline, most: &Outline) -> Outline {
    if most.start > 0 || most.largest <= least.largest {
        // How often columns leave again is not known; most do not.
        let part = if most.start > 0 || most.steps == 0 { 1.0 } else { size as f64 / most.largest.max(1) as f64 };
        let of = |least: f64, most: f64| part * (least + SELDOM * (most - least));
        let largest = if part < 1.0 { size } else { most.largest };
        let trials = of(least.trials, most.trials).max(1.0);
        return Outline {
            start: most.start,
            largest,
            trials,
            steps: of(least.steps as f64, most.steps as f64) as usize,
        };
    }
    let part = (size as f64 - least.largest as f64) / (most.largest - least.largest) as f64;
    // Later steps have fewer candidates, which trials per step tell.
    let of = |from: f64, to: f64| from + part * (to - from);
    let mean = of(least.trials / least.largest.max(1) as f64, most.trials / most.largest as f64);
    let steps = of(least.steps as f64, most.steps as f64) as usize;
    Outline { start: most.start, largest: size, trials: (mean * size as f64).max(1.0), steps }
}

/// The part of the removals that a search may make which it is expected to make.
const SELDOM: f64 = 0.05;

/// Bytes of columns that stay near the processor.
const NEAR: usize = 1 << 22;

/// The numbers of a design, in doubles, that are far from the processor.
fn doubles_far(design: &Design) -> f64 {
    let bytes = design.columns().bytes() as f64 * design.planned_rows() as f64 / design.rows().max(1) as f64;
    if bytes > NEAR as f64 { bytes / 8.0 } else { 0.0 }
}

/// What the engine of a search is on a design, and how long one walk takes on this machine.
///
/// # Errors
/// Those of the search's outline.
pub(super) fn walk(selector: &ValidSelector, design: &Design, machine: &Machine) -> Result<Walk> {
    let under = |e: Error| e.under("search");
    // The λ of all columns is taken before the walk, which has one.
    let all = match takes_lambda_of_all(design) {
        true => selector.criterion().estimate(design, &all_at_once(design.candidates().len())).flops,
        false => 0.0,
    };
    let one = if takes_lambda_of_all(design) { design.lambdas().first().copied().flatten() } else { None };
    let design = &design.at_lambda(one);
    let most = selector.search().outline(design).map_err(under)?;
    let least = selector.search().shortest(design).map_err(under)?;
    let criterion = &**selector.criterion();
    let effort = selector.search().effort(criterion, design).map_err(under)?;
    let estimated = |outline: &Outline| effort.beside(criterion.estimate(design, outline));
    let estimate = estimated(&most);
    let ending_at = |size: usize| ending_at(size, &least, &most);
    let patience = cross_validation(selector).and_then(|(how, _)| how.patience);
    let may_pause = patience.is_some() && most.start == 0 && most.steps > 0;
    let until = may_pause.then(|| expected_together(most.largest, patience));
    let size_in_folds = until.unwrap_or(expected(least.largest, most.largest));
    let alone = ending_at(size_in_folds);
    let Estimate { flops, bytes, .. } = estimated(&alone);
    let pace = pace(selector, design, &alone);
    // However fast it computes, every step reads the candidates.
    let is_read = estimate.engine != "moments" && alone.steps > 0 && alone.start == 0;
    let read = if is_read { alone.largest as f64 * doubles_far(design) / machine.stream } else { 0.0 };
    let fresh = if bytes > NEAR as f64 { bytes / machine.fresh } else { 0.0 };
    let predicted = (flops / pace).max(read) + fresh;
    let begun = begun(selector, design, predicted, (&alone, until));
    let (seconds, size) = begun.map_or((predicted, alone.largest), |begun| (begun.seconds, begun.size));
    let before = if all > 0.0 { all / pace } else { 0.0 };
    // A walk that was tried tells how long those of folds take.
    let in_folds = estimated(&ending_at(size_in_folds)).flops / estimated(&ending_at(size)).flops;
    let in_folds = if in_folds.is_finite() { seconds * in_folds } else { seconds };
    let pace = if begun.is_some_and(|begun| begun.is_whole) { flops / seconds.max(1e-6) } else { pace };
    let estimate = Estimate { flops: estimate.flops + all, ..estimate };
    let (seconds, in_folds) = (seconds + before, in_folds + before);
    Ok(Walk { outline: most, estimate, seconds, size, in_folds, size_in_folds, pace, is_known: begun.is_some() })
}

impl Walks {
    /// Those that choose the size and λ of a selection on the rows of a sample; and those of `evaluate`.
    pub fn of(selector: &ValidSelector, design: &Design, sample: &Sample, evaluate: Option<&Evaluate>) -> Self {
        let outer = evaluate.and_then(Evaluate::outer_folds);
        let counted = |parting: Result<Parting>, folds: usize| parting.map_or(folds, |parting| parting.count(sample));
        let outer_pairs = outer.as_ref().map_or(0, outer_pairs_of);
        let outer = outer.map(|how| (counted(how.parting(selector, sample), how.folds), how.repeats));
        let trained = |folds: usize| 1.0 - 1.0 / folds.max(2) as f64;
        let folds = evaluate.and_then(Evaluate::learning_folds);
        let folds = folds.map_or(0, |how| counted(how.parting(selector, sample), how.folds));
        let (parts, trained_in) = (folds * learning::points(outer.is_some()), trained(folds));
        let base = Walks {
            lambdas: 1,
            folds: 0,
            repeats: 1,
            whole: 1,
            outer: outer.map_or(0, |(folds, repeats)| folds * repeats),
            trained: outer.map_or(1.0, |(folds, _)| trained(folds)),
            parts,
            of_parts: parts as f64 * trained_in * learning::mean_share(outer.is_some()),
            shuffled: evaluate.and_then(|evaluate| evaluate.permutations).unwrap_or(0),
            halves: evaluate
                .and_then(|evaluate| evaluate.stability.as_ref())
                .map_or(0, |stability| 2 * stability.pairs),
            pairs: 0,
            outer_pairs,
        };
        match cross_validation(selector) {
            Some((how, is_written)) => {
                let lambdas = walk_lambdas(design, true).len();
                let parting = parting(selector, sample, &how, is_written);
                let splits = parting.as_ref().ok().and_then(|parting| parting.splits().cloned());
                let folds = counted(parting, how.folds);
                let pairs = pairs_of(selector, &CrossValidation { folds, splits, ..how.clone() }, lambdas);
                Walks { lambdas, folds: folds * how.repeats, repeats: how.repeats, pairs, ..base }
            }
            None => {
                let lambdas = walk_lambdas(design, false).len();
                Walks { lambdas, whole: lambdas, ..base }
            }
        }
    }

    /// Repetitions of all of it, around the folds.
    pub fn around(&self) -> usize {
        self.outer + self.outer_pairs + self.parts + self.shuffled + self.halves
    }

    /// Walks of one selection.
    fn of_one(&self) -> usize {
        self.folds * self.lambdas + self.whole
    }

    pub fn count(&self) -> usize {
        self.of_one() * (1 + self.outer + self.outer_pairs + self.parts + self.shuffled) + self.halves + self.pairs
    }

    /// How often everything is done, in parts of what it takes on all rows.
    pub fn repetitions(&self) -> f64 {
        1.0 + (self.outer + self.outer_pairs) as f64 * self.trained + self.of_parts + self.shuffled as f64
    }

    /// The same of a walk.
    pub fn rounds(&self) -> f64 {
        let of_one = (self.folds * self.lambdas) as f64 * self.part_of_fold() + self.whole as f64;
        of_one * self.repetitions() + 0.5 * self.halves as f64 + self.part_of_fold() * self.pairs as f64
    }

    /// The part of the rows that a fold of the cross-validated search is trained on.
    pub fn part_of_fold(&self) -> f64 {
        1.0 - 1.0 / (self.folds as f64 / self.repeats.max(1) as f64).max(2.0)
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
        if self.outer_pairs > 0 {
            write!(f, " and without {} pairs of these", self.outer_pairs)?;
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
        if self.pairs > 0 {
            write!(f, "; {} without pairs of folds", self.pairs)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_are_counted() {
        let one = Walks {
            lambdas: 1,
            folds: 5,
            repeats: 1,
            whole: 1,
            outer: 0,
            trained: 1.0,
            parts: 0,
            of_parts: 0.0,
            shuffled: 0,
            halves: 0,
            pairs: 0,
            outer_pairs: 0,
        };
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
        let paired = Walks { pairs: 10, outer: 5, outer_pairs: 10, ..one };
        assert_eq!(
            paired.to_string(),
            "106: 5 folds of the rows, and one of all rows; the same in 5 outer folds and without 10 pairs of these; 10 without pairs of folds"
        );
        let learning = Walks { parts: 15, of_parts: 6.0, ..Walks { outer: 5, trained: 0.8, ..one } };
        assert!(learning.to_string().ends_with("in 5 outer folds; the same on 15 parts of their training rows"));
        assert_eq!((learning.count(), learning.repetitions()), (6 * 21, 11.0));
        assert_eq!((one.part_of_fold(), all.repetitions()), (0.8, 25.0));
    }
}
