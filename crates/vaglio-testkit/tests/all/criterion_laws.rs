//! Every law of a criterion fails on a faulty one, and holds on a correct one.

mod faults;

use crate::common::{ByDefinition, TOLERANCE, broken_law, design, holds};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_core::{
    Criterion, Design, EngineEvaluator, Estimate, Evaluator, Feature, HeldOut, Plan, Result, Score, SearchExtent,
    SubsetChange, Winner, saved,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::{check_criterion, check_criterion_on_standard_data, criterion, data, variation};

/// The planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
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
    Nan,
    NanInTrial,
    Unfilled,
    SubsetOrder,
    Drift,
    ForkOff,
    ForkShared,
    BoundOff,
    EstimateNan,
    OtherEngine,
    Threads,
    CopiesDiffer,
    Position,
    TotalWeight,
    LargestLambda,
    FirstLambda,
    LambdaDropped,
    Fails,
    Panics,
}

/// Leave-one-out with one fault.
#[saved(Criterion, "wrong")]
struct Wrong {
    fault: Fault,
}

/// Simulates the size of the current thread pool.
static THREADS: AtomicUsize = AtomicUsize::new(1);

impl Wrong {
    fn right(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        ByDefinition {}.evaluate(design, subset)
    }
}

impl Criterion for Wrong {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let mut score = self.right(design, subset)?;
        let last = design.lambdas().last().copied().flatten();
        match self.fault {
            Fault::Nan if subset.len() == 3 => score.loss = f64::NAN,
            Fault::SubsetOrder => score.loss += 1e-3 * subset.first().map_or(0.0, |&f| f as f64),
            Fault::Position => score.loss += 1e-3 * subset.iter().sum::<usize>() as f64,
            Fault::TotalWeight => {
                score.loss *= design.weights().map_or(design.rows() as f64, |w| w.iter().sum::<f64>());
            }
            Fault::LargestLambda => score.lambda = last,
            Fault::FirstLambda => {
                let first = data_with_one_lambda(design);
                score = self.right(&first, subset)?;
            }
            Fault::Fails if subset.len() == 2 => return Err(vaglio_core::Error::Numerical("no factor".into())),
            _ => {}
        }
        Ok(score)
    }

    fn folds(&self, design: &Design) -> Result<HeldOut> {
        ByDefinition {}.folds(design)
    }

    fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
        let flops = if self.fault == Fault::EstimateNan { f64::NAN } else { 1.0 };
        let engine = if self.fault == Fault::OtherEngine { "states" } else { "refit" };
        let estimate = Estimate { engine, reason: "a test".into(), flops, bytes: 0.0 };
        Plan::by_engine(estimate, move || Ok(EngineEvaluator::new("refit", Crooked::new(self, design))))
    }
}

fn data_with_one_lambda(design: &Design) -> Design {
    vaglio_testkit::rebuild::with_lambdas(design, vec![design.lambdas()[0].unwrap()]).unwrap()
}

struct Crooked<'d> {
    fault: Fault,
    inner: SubsetScorer<'d>,
    moves: usize,
}

impl Crooked<'_> {
    fn off(&self, mut score: Score, feature: Feature, place: usize) -> Score {
        score.loss *= match self.fault {
            Fault::Threads => 1.0 + 1e-15 * THREADS.load(Ordering::SeqCst) as f64,
            Fault::CopiesDiffer => 1.0 + 1e-14 * feature as f64,
            Fault::CandidateOrder => 1.0 + 1e-14 * place as f64,
            Fault::Drift => 1.0 + 1e-9 * self.moves as f64,
            Fault::NanInTrial if feature == 2 => f64::NAN,
            _ => 1.0,
        };
        if self.fault == Fault::LambdaDropped {
            score.lambda = None;
        }
        score
    }
}

impl Evaluator for Crooked<'_> {
    fn score(&mut self, _: &[Feature]) -> Result<Score> {
        let score = self.inner.score()?;
        Ok(self.off(score, 0, 0))
    }

    fn reset(&mut self, subset: &[Feature]) -> Result<()> {
        match self.fault {
            Fault::ResetKeeps => subset.iter().try_for_each(|&f| self.inner.add(f)),
            Fault::ResetOff => self.inner.reset(&subset[..subset.len().min(1)]),
            _ => self.inner.reset(subset),
        }
    }

    fn scores(
        &mut self,
        change: SubsetChange,
        _: &[Feature],
        candidates: &[Feature],
        scores: &mut [Score],
    ) -> Result<()> {
        assert!(self.fault != Fault::Panics, "an index is out of bounds");
        let off = match change {
            SubsetChange::Addition => {
                self.inner.score_additions(candidates, scores)?;
                Fault::AdditionOff
            }
            SubsetChange::Removal => {
                self.inner.score_removals(candidates, scores)?;
                Fault::RemovalOff
            }
        };
        for (place, (score, &feature)) in scores.iter_mut().zip(candidates).enumerate() {
            *score = self.off(*score, feature, place);
            if self.fault == off {
                score.loss += 1e-3;
            }
        }
        if change == SubsetChange::Removal {
            return Ok(());
        }
        if let (Fault::Unfilled, Some(last)) = (self.fault, scores.last_mut()) {
            *last = Score::new(f64::NAN);
        }
        if let (Fault::TrialMoves, Some(&first)) = (self.fault, candidates.first()) {
            self.inner.add(first)?;
        }
        Ok(())
    }

    fn apply(&mut self, change: SubsetChange, _: &[Feature], feature: Feature) -> Result<()> {
        self.moves += 1;
        match (change, self.fault) {
            (SubsetChange::Addition, Fault::AddTwice) if self.moves == 3 => {
                self.inner.add(feature)?;
                self.inner.add(feature)
            }
            (SubsetChange::Addition, _) => self.inner.add(feature),
            (SubsetChange::Removal, Fault::RemoveForgets) => Ok(()),
            (SubsetChange::Removal, _) => self.inner.remove(feature),
        }
    }

    fn best(&mut self, change: SubsetChange, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
        let mut scores = vec![Score::WORST; candidates.len()];
        self.scores(change, subset, candidates, &mut scores)?;
        if change == SubsetChange::Removal {
            if self.fault == Fault::WorstLeaves {
                scores.iter_mut().for_each(|score| score.loss = -score.loss);
            }
            return Ok(Winner::among(candidates, &scores));
        }
        let Some(mut winner) = Winner::among(candidates, &scores) else { return Ok(None) };
        match self.fault {
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

    fn fork(&mut self, _: &[Feature], _: &[Feature]) -> Result<Option<Box<dyn Evaluator + '_>>> {
        Ok(match self.fault {
            Fault::ForkOff => Some(Box::new(Constant)),
            Fault::ForkShared => Some(Box::new(Alias(self))),
            _ => None,
        })
    }

    fn bound(&mut self, subset: &[Feature], _: &[Feature], _: usize) -> Result<f64> {
        let is_off = self.fault == Fault::BoundOff && subset.len() == 2;
        Ok(if is_off { f64::INFINITY } else { f64::NEG_INFINITY })
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
struct Alias<'e, 'd>(&'e mut Crooked<'d>);

impl Evaluator for Alias<'_, '_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.0.score(subset)
    }

    fn scores(
        &mut self,
        change: SubsetChange,
        subset: &[Feature],
        candidates: &[Feature],
        scores: &mut [Score],
    ) -> Result<()> {
        self.0.scores(change, subset, candidates, scores)
    }

    fn apply(&mut self, change: SubsetChange, subset: &[Feature], feature: Feature) -> Result<()> {
        self.0.apply(change, subset, feature)
    }
}

impl<'d> Crooked<'d> {
    fn new(criterion: &'d Wrong, design: &'d Design) -> Self {
        Crooked { fault: criterion.fault, inner: SubsetScorer::by_definition(criterion, design), moves: 0 }
    }
}

fn law_of(fault: Fault) -> &'static str {
    broken_law(check_criterion(&Wrong { fault }, &design(), TOLERANCE))
}

#[test]
fn what_is_right_keeps_every_law() {
    holds(check_criterion(&ByDefinition {}, &design(), TOLERANCE));
    holds(check_criterion(&Wrong { fault: Fault::None }, &design(), TOLERANCE));
}

#[test]
fn what_is_right_keeps_every_law_on_the_standard_data() {
    holds(check_criterion_on_standard_data(&ByDefinition {}, TOLERANCE));
}

#[test]
fn a_trial_that_is_not_the_definition_is_found() {
    assert_eq!(law_of(Fault::AdditionOff), "additions");
    assert_eq!(law_of(Fault::RemovalOff), "removals");
}

#[test]
fn a_trial_that_moves_the_subset_is_found() {
    assert_eq!(
        broken_law(criterion::additions(&Wrong { fault: Fault::TrialMoves }, &design(), TOLERANCE)),
        "additions"
    );
}

#[test]
fn a_removal_that_forgets_is_found() {
    assert_eq!(
        broken_law(criterion::removals(&Wrong { fault: Fault::RemoveForgets }, &design(), TOLERANCE)),
        "removals"
    );
    let walked = criterion::walk(&Wrong { fault: Fault::RemoveForgets }, &design(), 40, 1, TOLERANCE);
    assert_eq!(broken_law(walked), "walk");
}

#[test]
fn an_addition_that_goes_wrong_late_is_found() {
    assert_eq!(broken_law(criterion::walk(&Wrong { fault: Fault::AddTwice }, &design(), 40, 1, TOLERANCE)), "walk");
}

#[test]
fn a_reset_that_is_not_the_additions_is_found() {
    for fault in [Fault::ResetKeeps, Fault::ResetOff] {
        assert_eq!(broken_law(criterion::resets(&Wrong { fault }, &design(), TOLERANCE)), "resets");
    }
}

#[test]
fn scores_that_depend_on_the_order_of_candidates_are_found() {
    assert_eq!(
        broken_law(criterion::candidate_order(&Wrong { fault: Fault::CandidateOrder }, &design())),
        "candidate_order"
    );
}

#[test]
fn ties_in_the_wrong_order_are_found() {
    for fault in [Fault::HighestWins, Fault::TiesUnseen] {
        assert_eq!(broken_law(criterion::best_addition(&Wrong { fault }, &design(), TOLERANCE)), "best_addition");
        assert_eq!(broken_law(variation::duplicates_tie(&Wrong { fault }, &design(), TOLERANCE)), "duplicates_tie");
    }
}

#[test]
fn another_than_the_best_removal_is_found() {
    assert_eq!(law_of(Fault::WorstLeaves), "best_removal");
}

#[test]
fn copies_that_differ_in_the_last_bits_are_found() {
    let fault = Fault::CopiesDiffer;
    assert_eq!(broken_law(variation::duplicates_tie(&Wrong { fault }, &design(), TOLERANCE)), "duplicates_tie");
    holds(criterion::additions(&Wrong { fault }, &design(), TOLERANCE));
}
