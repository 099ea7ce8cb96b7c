//! Squared error over three held-out folds, with one fault.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Action, Column, Criterion, CriterionTraits, Design, Error, Estimate, Evaluator, Feature, HeldOut, Loss, Part, Plan,
    Result, Round, Score, SearchExtent, Squared, Winner, saved,
};
use vaglio_search::SubsetScorer;

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Fault {
    None,
    NanOnEmpty,
    NanFromFive,
    Fails,
    Panics,
    PanicsOnClasses,
    PanicsOnFewRows,
    ChecksWithPanic,
    AsManyAsRows,
    SubsetOrder,
    HiddenState,
    Noise,
    Names,
    Indices,
    TotalWeight,
    IgnoresWeights,
    FoldsUntold,
    LastLambda,
    LargestOfEqualLambdas,
    FirstLambda,
    Leaks,
    Root,
    FirstOutput,
    Changes,
    OtherThread,
    Bytes,
    ErrorTwice,
    ErrorOfRows,
    ErrorZero,
    ErrorNegative,
    AdditionOff,
    RemovalOff,
    TrialMoves,
    RemoveForgets,
    AddTwice,
    ResetKeeps,
    ResetOff,
    CandidateOrder,
    HighestWins,
    TiesUnseen,
    WorstLeaves,
    NanInTrial,
    Unfilled,
    Drift,
    ForkOff,
    ForkShared,
    UnprovenBound,
    EstimateNan,
    OtherEngine,
    Pool,
    CopiesDiffer,
    LambdaDropped,
    /// A winner where every score is +∞.
    Insists,
    /// Squared error on the training rows, without folds, loss or shortcut, and with unweighted errors.
    PlainUnweighted,
    /// Divided by a power of the number of rows, whatever their weights.
    PlainCountsRows,
    /// No fault: squared error on the training rows, without folds, loss or shortcut.
    Plain,
    /// No fault: a criterion that declares no loss may look at any of the targets.
    FirstOutputUntold,
    /// No fault: a score of +∞ refuses a subset, and a criterion may refuse any.
    InfiniteEmpty,
    /// No fault: two or more columns are refused.
    OneAtMost,
}

impl Fault {
    fn is_plain(self) -> bool {
        matches!(self, Fault::Plain | Fault::PlainUnweighted | Fault::PlainCountsRows)
    }

    /// Tests whether the criterion names neither folds nor a loss.
    fn is_untold(self) -> bool {
        self.is_plain() || self == Fault::FoldsUntold
    }
}

#[saved(Criterion, "folds")]
pub struct Folds {
    pub fault: Fault,
}

static NOISE: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);
static LAST: AtomicUsize = AtomicUsize::new(0);
static SPAWNED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THREAD: usize = SPAWNED.fetch_add(1, Ordering::SeqCst);
}

fn fold(row: usize) -> u32 {
    row as u32 % 3
}

impl Folds {
    /// Predicts all rows, each without its fold.
    fn predictions(&self, design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Array2<f64>> {
        let mut predictions = design.targets().to_owned();
        let all: Vec<usize> = (0..design.rows()).collect();
        if self.fault.is_plain() {
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

    fn loss(&self, design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<f64> {
        let predictions = self.predictions(design, subset, lambda)?;
        let (targets, weights) = (design.targets(), design.weights());
        let right = Squared.mean(targets, predictions.view(), weights);
        let names =
            || subset.iter().map(|&f| design.problem().names()[f].bytes().map(f64::from).sum::<f64>()).sum::<f64>();
        let is_byte = |f: &&Feature| matches!(design.column(**f), Column::Byte(_));
        Ok(match self.fault {
            Fault::IgnoresWeights | Fault::PlainUnweighted => Squared.mean(targets, predictions.view(), None),
            Fault::PlainCountsRows => right / (1.0 - subset.len() as f64 / design.rows() as f64).powi(2),
            Fault::TotalWeight => right * weights.map_or(design.rows() as f64, |w| w.iter().sum::<f64>()),
            Fault::SubsetOrder => right * (1.0 + 1e-7 * subset.first().map_or(0.0, |&f| f as f64)),
            Fault::Names => right * (1.0 + 1e-7 * names()),
            Fault::Indices => right * (1.0 + 1e-9 * subset.iter().sum::<usize>() as f64),
            Fault::Root => right.sqrt(),
            Fault::HiddenState => right + 1e-3 * LAST.swap(subset.len(), Ordering::SeqCst) as f64,
            Fault::Noise => right * (1.0 + 1e-13 * (NOISE.fetch_add(1, Ordering::SeqCst) % 7) as f64),
            Fault::Changes if CALLS.fetch_add(1, Ordering::SeqCst) >= 100 => right * (1.0 + 1e-6),
            Fault::OtherThread => right * (1.0 + 1e-12 * THREAD.with(|thread| *thread as f64)),
            Fault::Bytes => right * (1.0 + 1e-3 * subset.iter().filter(is_byte).count() as f64),
            Fault::FirstOutput | Fault::FirstOutputUntold => {
                let first = |values: ndarray::ArrayView2<f64>| values.slice(ndarray::s![..1, ..]).to_owned();
                Squared.mean(first(targets).view(), first(predictions.view()).view(), weights)
            }
            Fault::InfiniteEmpty if subset.is_empty() => f64::INFINITY,
            Fault::LargestOfEqualLambdas if subset.is_empty() => 1.0,
            _ => right,
        })
    }
}

impl Criterion for Folds {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let size = subset.len();
        let bounds = |holds: bool| assert!(holds, "an index is out of bounds");
        match self.fault {
            Fault::Panics => bounds(size != 2),
            Fault::PanicsOnClasses => bounds(design.targets().nrows() < 3),
            Fault::PanicsOnFewRows => bounds(design.rows() > 4),
            Fault::Fails if size == 2 => return Err(Error::Numerical("no factor".into())),
            Fault::AsManyAsRows if size >= design.rows() => return Err(Error::Numerical("it is singular".into())),
            Fault::NanOnEmpty if size == 0 => return Ok(Score::new(f64::NAN)),
            Fault::NanFromFive if size >= 5 => return Ok(Score::new(f64::NAN)),
            Fault::OneAtMost | Fault::Insists if size > 1 => return Ok(Score::WORST),
            _ => {}
        }
        let lambdas = design.lambdas();
        if self.fault == Fault::FirstLambda {
            let lambda = lambdas[0];
            return Ok(Score { loss: self.loss(design, subset, lambda)?, lambda });
        }
        let score = design.best_lambda(|lambda| self.loss(design, subset, lambda))?;
        let is_last = self.fault == Fault::LastLambda || self.fault == Fault::LargestOfEqualLambdas && size == 0;
        Ok(if is_last { Score { lambda: lambdas.last().copied().flatten(), ..score } } else { score })
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
        Ok(if self.fault.is_untold() { HeldOut::Nothing } else { HeldOut::Folds(rounds()) })
    }

    fn traits(&self) -> CriterionTraits {
        let is_untold = self.fault.is_untold() || self.fault == Fault::FirstOutputUntold;
        if is_untold { CriterionTraits::default() } else { CriterionTraits::from_loss(Squared.into()) }
    }

    fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
        if self.fault.is_plain() {
            return Plan::by_definition(Estimate::unknown("definition", "a test"));
        }
        let flops = if self.fault == Fault::EstimateNan { f64::NAN } else { 1.0 };
        let estimate = Estimate { engine: "walked", reason: "a test".into(), flops, bytes: 0.0 };
        if self.fault == Fault::OtherEngine {
            return Plan::new(estimate, true, || Ok(None));
        }
        Plan::by_engine(estimate, move || {
            let inner = SubsetScorer::by_definition(self, design);
            Ok(Walked { criterion: self, design, inner, moves: 0 })
        })
    }
}

struct Walked<'d> {
    criterion: &'d Folds,
    design: &'d Design,
    inner: SubsetScorer<'d>,
    moves: usize,
}

impl Walked<'_> {
    fn is(&self, fault: Fault) -> bool {
        self.criterion.fault == fault
    }

    fn off(&self, mut score: Score, feature: Feature, place: usize) -> Score {
        score.loss *= match self.criterion.fault {
            Fault::Pool => 1.0 + 1e-15 * rayon::current_num_threads() as f64,
            Fault::CopiesDiffer => 1.0 + 1e-14 * feature as f64,
            Fault::CandidateOrder => 1.0 + 1e-14 * place as f64,
            Fault::Drift => 1.0 + 1e-9 * self.moves as f64,
            Fault::NanInTrial if feature == 2 => f64::NAN,
            _ => 1.0,
        };
        if self.is(Fault::LambdaDropped) {
            score.lambda = None;
        }
        score
    }
}

impl Evaluator for Walked<'_> {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        let score = self.inner.score()?;
        Ok(self.off(score, 0, 0))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        match self.criterion.fault {
            Fault::ResetKeeps => subset.iter().try_for_each(|&f| self.inner.add(f)),
            Fault::ResetOff => self.inner.reset(&subset[..subset.len().min(1)]),
            _ => self.inner.reset(subset),
        }
    }

    fn scores(&mut self, change: Action, _: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let mut scores = self.inner.scores(change, candidates)?;
        let off = if change == Action::Add { Fault::AdditionOff } else { Fault::RemovalOff };
        let by = if self.is(off) { 1.0 + 1e-6 } else { 1.0 };
        for (place, (score, &feature)) in scores.iter_mut().zip(candidates).enumerate() {
            *score = self.off(*score, feature, place);
            score.loss *= by;
        }
        match (change, self.criterion.fault) {
            (Action::Add, Fault::Unfilled) => scores.truncate(1),
            (Action::Add, Fault::TrialMoves) => candidates.first().map_or(Ok(()), |&f| self.inner.add(f))?,
            _ => {}
        }
        Ok(scores)
    }

    fn apply(&mut self, change: Action, _: &[Feature], feature: Feature) -> Result<()> {
        self.moves += 1;
        if change == Action::Remove {
            return if self.is(Fault::RemoveForgets) { Ok(()) } else { self.inner.remove(feature) };
        }
        self.inner.add(feature)?;
        if self.is(Fault::AddTwice) && self.moves == 3 { self.inner.add(feature) } else { Ok(()) }
    }

    fn best(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = self.scores(change, subset, candidates)?;
        if change == Action::Remove {
            if self.is(Fault::Insists) {
                return Ok(Some(Winner {
                    feature: candidates[0],
                    score: Score::WORST,
                    tied: candidates[1..].to_vec(),
                }));
            }
            if self.is(Fault::WorstLeaves) {
                scores.iter_mut().for_each(|score| score.loss = -score.loss);
            }
            return Ok(Winner::among(candidates, &scores));
        }
        let Some(mut winner) = Winner::among(candidates, &scores) else { return Ok(None) };
        match self.criterion.fault {
            Fault::HighestWins => {
                if let Some(last) = winner.tied.pop() {
                    winner.tied.insert(0, winner.feature);
                    winner.feature = last;
                }
            }
            Fault::TiesUnseen => winner.tied.clear(),
            _ => {}
        }
        Ok(Some(winner))
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        let Score { loss, lambda } = self.inner.score()?;
        if self.criterion.traits().loss.is_none() || loss.is_infinite() {
            return Ok(None);
        }
        let predictions = self.criterion.predictions(self.design, subset, lambda)?;
        let (squared, design) = (Part::<dyn Loss>::from(Squared), self.design);
        let error = squared.standard_error(design.targets(), predictions.view(), design.weights(), None);
        Ok(error.map(|error| match self.criterion.fault {
            Fault::ErrorTwice => 2.0 * error,
            Fault::ErrorOfRows => error / (self.design.rows() as f64).sqrt(),
            Fault::ErrorZero => 0.0,
            Fault::ErrorNegative => -1.0,
            _ => error,
        }))
    }

    fn fork(&mut self, _: &[Feature], _: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        Ok(match self.criterion.fault {
            Fault::ForkOff => Some(Box::new(Constant)),
            Fault::ForkShared => Some(Box::new(Alias(self))),
            _ => None,
        })
    }

    /// 98 % of a subset's score is no lower bound for larger subsets, which may score far lower.
    fn bound(&mut self, subset: &[Feature], _: &[Feature], _: usize) -> Result<f64> {
        match self.criterion.fault {
            Fault::UnprovenBound => Ok(0.98 * self.criterion.evaluate(self.design, subset)?.loss),
            _ => Ok(f64::NEG_INFINITY),
        }
    }
}

/// A fork whose score has nothing to do with the subset.
struct Constant;

impl Evaluator for Constant {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(0.5))
    }
}

/// A fork that is no copy.
struct Alias<'e, 'd>(&'e mut Walked<'d>);

impl Evaluator for Alias<'_, '_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.0.score(subset)
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        self.0.scores(change, subset, candidates)
    }

    fn apply(&mut self, change: Action, subset: &[Feature], feature: Feature) -> Result<()> {
        self.0.apply(change, subset, feature)
    }
}
