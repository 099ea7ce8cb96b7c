//! Squared error over three held-out folds, with possible faults.

use super::Said::{Found, Legal};
use super::{Planted, laws};
use crate::common::TOLERANCE;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Column, Criterion, CriterionTraits, Design, EngineEvaluator, Error, Estimate, Evaluator, Feature, HeldOut, Loss,
    Plan, Result, Round, Score, SearchExtent, Squared, SubsetChange, Winner, saved,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::{LawViolation, check_criterion, check_criterion_on_standard_data, data};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    /// No fault: squared error on the training rows, without folds, loss or shortcut.
    Plain,
    IgnoresWeights,
    SubsetOrder,
    NanFromFive,
    FoldsUntold,
    LargestLambda,
    ByName,
    ByIndex,
    LastTie,
    TiesUntold,
    UnprovenBound,
    AsManyAsRows,
    CountsRows,
    PanicsOnClasses,
    Leaks,
    Root,
    ErrorTwice,
    ErrorOfRows,
    ErrorZero,
    Changes,
    ByThread,
    PanicsOnFewRows,
    ChecksWithPanic,
    Bytes,
    FirstOutput,
    FirstOutputOfLoss,
    InfiniteEmpty,
}

/// Design on which a fault is tested.
#[derive(Clone, Copy)]
enum On {
    /// Rows with weights.
    One,
    /// All standard designs.
    All,
    /// More columns than rows.
    Wide,
    /// Several λ.
    Lambdas,
    /// Two outputs.
    Outputs,
}

pub fn planted() -> Vec<Planted> {
    use Fault as F;
    let same = "a criterion that tells no loss may look at any of the targets";
    let refuses = "a score of +∞ refuses a subset, and a criterion may refuse any";
    let all = [
        ("weights that are ignored", F::IgnoresWeights, On::One, Found("held_out")),
        ("the order of the subset, by 1e-7", F::SubsetOrder, On::One, Found("any_order")),
        ("NaN from five columns on", F::NanFromFive, On::One, Found("never_nan")),
        ("folds that are not told", F::FoldsUntold, On::One, Found("row_weights")),
        ("a lambda that is not the smallest of equals", F::LargestLambda, On::Lambdas, Found("lambdas")),
        ("a score by names", F::ByName, On::One, Found("permutation")),
        ("a score by indices, by 1e-9", F::ByIndex, On::One, Found("permutation")),
        ("the last of ties", F::LastTie, On::One, Found("duplicates_tie")),
        ("ties that are not told", F::TiesUntold, On::One, Found("duplicates_tie")),
        ("a bound that is not one", F::UnprovenBound, On::One, Found("forks")),
        ("as many columns as rows fail", F::AsManyAsRows, On::Wide, Found("never_nan")),
        ("a weighted sum over counted rows", F::CountsRows, On::One, Found("row_weights")),
        ("a panic on three classes", F::PanicsOnClasses, On::All, Found("never_nan")),
        ("training on the rows held out", F::Leaks, On::One, Found("held_out")),
        ("the root of the loss that is told", F::Root, On::One, Found("held_out")),
        ("a standard error of twice its size", F::ErrorTwice, On::One, Found("held_out")),
        ("a standard error over √m", F::ErrorOfRows, On::One, Found("held_out")),
        ("a standard error of 0", F::ErrorZero, On::One, Found("held_out")),
        ("scores that change after 400 calls", F::Changes, On::One, Found("drift")),
        ("scores that differ by thread", F::ByThread, On::One, Found("other_thread")),
        ("a panic on four rows", F::PanicsOnFewRows, On::One, Found("few_rows")),
        ("a check that panics on three rows", F::ChecksWithPanic, On::One, Found("few_rows")),
        ("bytes that score otherwise than doubles", F::Bytes, On::One, Found("bytes")),
        ("the first output alone", F::FirstOutput, On::Outputs, Legal(same)),
        ("no columns refused", F::InfiniteEmpty, On::One, Legal(refuses)),
    ];
    all.into_iter().map(|(name, fault, on, said)| (name, said, tried(fault, on))).collect()
}

pub fn sound() -> Vec<(&'static str, std::result::Result<(), LawViolation>)> {
    vec![
        ("a criterion of rows held out", tried(Fault::None, On::All)),
        ("a criterion of training rows", tried(Fault::Plain, On::All)),
    ]
}

/// A correct criterion with held-out rows.
pub fn from_rows() -> impl Criterion {
    Folds { fault: Fault::None }
}

/// The score of a criterion that declares its loss covers all outputs.
#[test]
fn a_loss_that_is_told_is_of_all_outputs() {
    assert_eq!(laws(&tried(Fault::FirstOutputOfLoss, On::Outputs)), ["held_out"]);
    let broken = tried(Fault::Leaks, On::One).unwrap_err().to_string();
    assert!(broken.contains("`squared` of the rows held out") && broken.contains("without their folds"), "{broken}");
}

fn tried(fault: Fault, on: On) -> std::result::Result<(), LawViolation> {
    let criterion = &Folds { fault };
    let plain = || data::regression(15, 6, 3).weighted();
    let check = |design: Design| check_criterion(criterion, &design, TOLERANCE);
    match on {
        On::One => check(plain().design(&[0.3], true)),
        On::All => check_criterion_on_standard_data(criterion, TOLERANCE),
        On::Wide => check(data::regression(6, 8, 3).design(&[0.3], true)),
        On::Lambdas => check(plain().design(&[0.1, 1.0, 10.0], true)),
        On::Outputs => check(plain().outputs(2).design(&[0.3], true)),
    }
}

static CALLS: AtomicUsize = AtomicUsize::new(0);
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THREAD: usize = THREADS.fetch_add(1, Ordering::SeqCst);
}

#[saved(Criterion, "outside_folds")]
struct Folds {
    fault: Fault,
}

fn fold(row: usize) -> u32 {
    row as u32 % 3
}

impl Folds {
    /// Predicts all rows, each without its fold.
    fn predictions(&self, design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Array2<f64>> {
        let mut predictions = design.targets().to_owned();
        let all: Vec<usize> = (0..design.rows()).collect();
        if self.fault == Fault::Plain {
            return design.retrain(&all, &all, subset, lambda);
        }
        for out in 0..3 {
            let (held, others): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&row| fold(row) == out);
            if held.is_empty() {
                continue;
            }
            let training = if self.fault == Fault::Leaks { &all } else { &others };
            let own = design.retrain(training, &held, subset, lambda)?;
            held.iter().zip(own.columns()).for_each(|(&row, own)| predictions.column_mut(row).assign(&own));
        }
        Ok(predictions)
    }

    fn loss_of(&self, design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<f64> {
        let predictions = self.predictions(design, subset, lambda)?;
        let (targets, weights) = (design.targets(), design.weights());
        let plain = Squared.mean(targets, predictions.view(), weights);
        let names = || subset.iter().map(|&f| design.names()[f].bytes().map(f64::from).sum::<f64>()).sum::<f64>();
        let is_byte = |f: &&Feature| matches!(design.column(**f), Column::Byte(_));
        Ok(match self.fault {
            Fault::IgnoresWeights => Squared.mean(targets, predictions.view(), None),
            Fault::CountsRows => plain * weights.map_or(1.0, |w| w.iter().sum::<f64>() / w.len() as f64),
            Fault::SubsetOrder => plain * (1.0 + 1e-7 * subset.first().map_or(0.0, |&f| f as f64)),
            Fault::ByName => plain * (1.0 + 1e-7 * names()),
            Fault::ByIndex => plain * (1.0 + 1e-9 * subset.iter().sum::<usize>() as f64),
            Fault::Root => plain.sqrt(),
            Fault::Changes if CALLS.fetch_add(1, Ordering::SeqCst) >= 400 => plain * (1.0 + 1e-6),
            Fault::ByThread => plain * (1.0 + 1e-12 * THREAD.with(|thread| *thread as f64)),
            Fault::Bytes => plain * (1.0 + 1e-3 * subset.iter().filter(is_byte).count() as f64),
            Fault::FirstOutput | Fault::FirstOutputOfLoss => {
                let first = |values: ndarray::ArrayView2<f64>| values.slice(ndarray::s![..1, ..]).to_owned();
                Squared.mean(first(targets).view(), first(predictions.view()).view(), weights)
            }
            Fault::InfiniteEmpty if subset.is_empty() => f64::INFINITY,
            Fault::LargestLambda if subset.is_empty() => 1.0,
            _ => plain,
        })
    }
}

impl Criterion for Folds {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        match self.fault {
            Fault::PanicsOnClasses => assert!(design.targets().nrows() < 3, "an index is out of bounds"),
            Fault::PanicsOnFewRows => assert!(design.rows() > 4, "an index is out of bounds"),
            Fault::NanFromFive if subset.len() >= 5 => return Ok(Score::new(f64::NAN)),
            Fault::AsManyAsRows if subset.len() >= design.rows() => {
                return Err(Error::Numerical("the system is singular".into()));
            }
            _ => {}
        }
        let score = design.best_lambda(|lambda| self.loss_of(design, subset, lambda))?;
        Ok(match self.fault {
            Fault::LargestLambda if subset.is_empty() => {
                Score { lambda: design.lambdas().last().copied().flatten(), ..score }
            }
            _ => score,
        })
    }

    fn check(&self, design: &Design) -> Result<()> {
        assert!(self.fault != Fault::ChecksWithPanic || design.rows() > 3, "an index is out of bounds");
        match design.rows() {
            0..2 => Err(Error::setting("folds", "one row cannot be held out of others")),
            _ => Ok(()),
        }
    }

    fn folds(&self, design: &Design) -> Result<HeldOut> {
        let rounds = || vec![Round::new((0..design.rows()).map(|row| Some(fold(row))).collect())];
        let is_untold = [Fault::FoldsUntold, Fault::Plain].contains(&self.fault);
        Ok(if is_untold { HeldOut::Nothing } else { HeldOut::Folds(rounds()) })
    }

    fn traits(&self) -> CriterionTraits {
        let untold = [Fault::FoldsUntold, Fault::Plain, Fault::FirstOutput];
        let is_untold = untold.contains(&self.fault);
        if is_untold { CriterionTraits::default() } else { CriterionTraits::from_loss(Squared.into()) }
    }

    fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
        if self.fault == Fault::Plain {
            return Plan::by_definition(Estimate::unknown("definition", "a test"));
        }
        Plan::by_engine(Estimate::unknown("walked", "a test"), move || {
            let evaluator = Walked { of: self, design, inner: SubsetScorer::by_definition(self, design) };
            Ok(EngineEvaluator::new("walked", evaluator))
        })
    }
}

struct Walked<'d> {
    of: &'d Folds,
    design: &'d Design,
    inner: SubsetScorer<'d>,
}

impl Evaluator for Walked<'_> {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        self.inner.score()
    }

    fn scores(
        &mut self,
        change: SubsetChange,
        _: &[Feature],
        candidates: &[Feature],
        scores: &mut [Score],
    ) -> Result<()> {
        match change {
            SubsetChange::Addition => self.inner.score_additions(candidates, scores),
            SubsetChange::Removal => self.inner.score_removals(candidates, scores),
        }
    }

    fn apply(&mut self, change: SubsetChange, _: &[Feature], feature: Feature) -> Result<()> {
        match change {
            SubsetChange::Addition => self.inner.add(feature),
            SubsetChange::Removal => self.inner.remove(feature),
        }
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        self.inner.reset(subset)
    }

    fn best(&mut self, change: SubsetChange, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.scores(change, subset, candidates, &mut scores)?;
        let Some(mut winner) = Winner::among(candidates, &scores) else { return Ok(None) };
        if change == SubsetChange::Removal {
            return Ok(Some(winner));
        }
        if let (Fault::LastTie, Some(last)) = (self.of.fault, winner.tied.last().copied()) {
            winner.tied.pop();
            winner.tied.insert(0, winner.feature);
            winner.feature = last;
        }
        if self.of.fault == Fault::TiesUntold {
            winner.tied.clear();
        }
        Ok(Some(winner))
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        if [Fault::FirstOutput, Fault::FoldsUntold].contains(&self.of.fault) {
            return Ok(None);
        }
        let lambda = self.inner.score()?.lambda;
        let predictions = self.of.predictions(self.design, subset, lambda)?;
        let error = self.design.standard_error(&Squared, predictions.view());
        Ok(error.map(|error| match self.of.fault {
            Fault::ErrorTwice => 2.0 * error,
            Fault::ErrorOfRows => error / (self.design.rows() as f64).sqrt(),
            Fault::ErrorZero => 0.0,
            _ => error,
        }))
    }

    /// 98 % of a subset's score is no lower bound for larger subsets, which may score far lower.
    fn bound(&mut self, subset: &[Feature], _: &[Feature], _: usize) -> Result<f64> {
        match self.of.fault {
            Fault::UnprovenBound => Ok(0.98 * self.of.evaluate(self.design, subset)?.loss),
            _ => Ok(f64::NEG_INFINITY),
        }
    }
}
