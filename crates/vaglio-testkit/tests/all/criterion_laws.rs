//! Every law of a criterion fails on a faulty one, and holds on a correct one.

pub mod folds;

use crate::common::{TOLERANCE, breaks, broken_law, design, laws};
use folds::{Fault, Folds};
use vaglio_core::{Criterion, CriterionTraits, Design, Feature, HeldOut, Result, Score, saved};
use vaglio_testkit::{CriterionLaws, LawResult, check_criterion, check_criterion_on_standard_data, data};

/// Faults of the definition, with the law that finds each.
const OF_SCORES: [(Fault, &str); 28] = [
    (Fault::NanOnEmpty, "never_nan"),
    (Fault::NanFromFive, "never_nan"),
    (Fault::Fails, "never_nan"),
    (Fault::Panics, "never_nan"),
    (Fault::SubsetOrder, "any_order"),
    (Fault::HiddenState, "additions"),
    (Fault::Noise, "candidate_order"),
    (Fault::Names, "permutation"),
    (Fault::Indices, "permutation"),
    (Fault::TotalWeight, "row_weights"),
    (Fault::FoldsUntold, "row_weights"),
    (Fault::PlainUnweighted, "row_weights"),
    (Fault::PlainCountsRows, "row_weights"),
    (Fault::LastLambda, "lambdas"),
    (Fault::LargestOfEqualLambdas, "lambdas"),
    (Fault::FirstLambda, "lambdas"),
    (Fault::IgnoresWeights, "held_out"),
    (Fault::Leaks, "held_out"),
    (Fault::Root, "held_out"),
    (Fault::ErrorTwice, "held_out"),
    (Fault::ErrorOfRows, "held_out"),
    (Fault::ErrorZero, "held_out"),
    (Fault::ErrorNegative, "never_nan"),
    (Fault::Changes, "drift"),
    (Fault::OtherThread, "other_thread"),
    (Fault::Bytes, "bytes"),
    (Fault::PanicsOnFewRows, "few_rows"),
    (Fault::ChecksWithPanic, "few_rows"),
];

/// Faults of the evaluator, with the law that finds each.
const OF_EVALUATOR: [(Fault, &str); 25] = [
    (Fault::AdditionOff, "additions"),
    (Fault::RemovalOff, "removals"),
    (Fault::TrialMoves, "additions"),
    (Fault::RemoveForgets, "removals"),
    (Fault::RemoveForgets, "walk"),
    (Fault::AddTwice, "walk"),
    (Fault::Drift, "walk"),
    (Fault::ResetKeeps, "resets"),
    (Fault::ResetOff, "resets"),
    (Fault::CandidateOrder, "candidate_order"),
    (Fault::HighestWins, "best_addition"),
    (Fault::HighestWins, "duplicates_tie"),
    (Fault::TiesUnseen, "best_addition"),
    (Fault::TiesUnseen, "duplicates_tie"),
    (Fault::CopiesDiffer, "duplicates_tie"),
    (Fault::WorstLeaves, "best_removal"),
    (Fault::Insists, "best_removal"),
    (Fault::NanInTrial, "never_nan"),
    (Fault::Unfilled, "never_nan"),
    (Fault::ForkOff, "forks"),
    (Fault::ForkShared, "forks"),
    (Fault::UnprovenBound, "forks"),
    (Fault::EstimateNan, "estimates"),
    (Fault::OtherEngine, "estimates"),
    (Fault::LambdaDropped, "additions"),
];

fn check(fault: Fault, design: &Design) -> LawResult {
    check_criterion(&Folds { fault }, design, TOLERANCE)
}

fn two_outputs() -> Design {
    data::regression(15, 6, 3).weighted().outputs(2).design(&[0.3], true)
}

#[test]
fn what_is_right_keeps_every_law() {
    for fault in [Fault::InfiniteEmpty, Fault::OneAtMost] {
        check(fault, &design()).unwrap();
    }
    check(Fault::FirstOutputUntold, &two_outputs()).unwrap();
    for fault in [Fault::None, Fault::Plain] {
        check_criterion_on_standard_data(&Folds { fault }, TOLERANCE).unwrap();
    }
}

#[test]
fn every_fault_of_a_score_is_found_by_its_law() {
    OF_SCORES.into_iter().for_each(|(fault, law)| breaks(fault, law, check(fault, &design())));
    let wide = data::regression(6, 8, 3).design(&[0.3], true);
    breaks(Fault::AsManyAsRows, "never_nan", check(Fault::AsManyAsRows, &wide));
    let classes = check_criterion_on_standard_data(&Folds { fault: Fault::PanicsOnClasses }, TOLERANCE);
    breaks(Fault::PanicsOnClasses, "never_nan", classes);
    // The score of a criterion that declares its loss covers all outputs.
    assert_eq!(laws(&check(Fault::FirstOutput, &two_outputs())), ["held_out"]);
    let broken = check(Fault::Leaks, &design()).unwrap_err().to_string();
    assert!(broken.contains("`squared` of the rows held out") && broken.contains("without their folds"), "{broken}");
}

#[test]
fn every_fault_of_an_evaluator_is_found_by_its_law() {
    OF_EVALUATOR.into_iter().for_each(|(fault, law)| breaks(fault, law, check(fault, &design())));
    // Copies that differ in their last bits are within the tolerance of all other laws of additions.
    CriterionLaws::new(&Folds { fault: Fault::CopiesDiffer }, &design(), TOLERANCE).additions().unwrap();
}

#[test]
fn a_small_drift_is_found_by_a_long_walk_alone() {
    let (wrong, design) = (Folds { fault: Fault::Drift }, design());
    CriterionLaws::new(&wrong, &design, 1e-7).walk(10, 1).unwrap();
    assert_eq!(broken_law(CriterionLaws::new(&wrong, &design, 1e-7).walk(300, 1)), "walk");
}

#[test]
fn scores_that_depend_on_the_number_of_threads_are_found() {
    let (right, wrong) = (Folds { fault: Fault::None }, Folds { fault: Fault::Pool });
    assert_eq!(broken_law(CriterionLaws::new(&wrong, &design(), 0.0).threads()), "threads");
    CriterionLaws::new(&right, &design(), 0.0).threads().unwrap();
}

#[test]
fn data_with_nothing_to_see_are_refused() {
    let right = Folds { fault: Fault::None };
    let small = data::regression(10, 2, 1).design(&[1.0], true);
    assert_eq!(broken_law(check_criterion(&right, &small, TOLERANCE)), "never_nan");
    let flat = data::regression(10, 0, 1).constants(5).design(&[1.0], true);
    assert_eq!(broken_law(CriterionLaws::new(&right, &flat, TOLERANCE).walk(5, 1)), "walk");
    assert_eq!(broken_law(CriterionLaws::new(&right, &design(), TOLERANCE).walk(0, 1)), "walk");
}

#[test]
fn a_criterion_that_refuses_every_design_has_kept_no_law() {
    #[saved(Criterion, "picky")]
    struct Picky {}
    impl Criterion for Picky {
        fn evaluate(&self, _: &Design, _: &[Feature]) -> Result<Score> {
            Ok(Score::new(0.0))
        }
        fn check(&self, _: &Design) -> Result<()> {
            Err(vaglio_core::Error::setting("loss", "never"))
        }
    }
    assert_eq!(broken_law(check_criterion_on_standard_data(&Picky {}, TOLERANCE)), "check");
}

/// A criterion that sorts the subset, for order invariance, sums copies of a column in another order.
#[test]
fn a_definition_that_sorts_its_subset_keeps_every_law() {
    #[saved(Criterion, "sorted")]
    struct Sorted {}

    impl Criterion for Sorted {
        fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
            let mut sorted = subset.to_vec();
            sorted.sort_unstable();
            Folds { fault: Fault::Plain }.evaluate(design, &sorted)
        }
    }
    check_criterion(&Sorted {}, &design(), TOLERANCE).unwrap();
}

#[saved(Criterion, "bic")]
struct Bic {
    by_weight: bool,
    holds_out: bool,
    says_so: bool,
}

impl Criterion for Bic {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let Score { loss, lambda } = Folds { fault: Fault::Plain }.evaluate(design, subset)?;
        let total = design.weights().map_or(design.rows() as f64, |w| w.iter().sum());
        let n = if self.by_weight { total } else { design.rows() as f64 };
        Ok(Score { loss: n * loss.ln() + n.ln() * subset.len() as f64, lambda })
    }

    fn folds(&self, _: &Design) -> Result<HeldOut> {
        Ok(if self.holds_out { HeldOut::EachRow } else { HeldOut::Nothing })
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { counts_rows: self.says_so, ..CriterionTraits::default() }
    }
}

/// A criterion that counts rows declares it or holds rows out; the sum of weights is no row count.
#[test]
fn rows_are_counted_whatever_their_weights() {
    let design = data::regression(16, 6, 3).weighted().design(&[0.3], true);
    let check =
        |by_weight, holds_out, says_so| check_criterion(&Bic { by_weight, holds_out, says_so }, &design, TOLERANCE);
    for (holds_out, says_so) in [(false, true), (true, false)] {
        check(false, holds_out, says_so).unwrap();
        let broken = check(true, holds_out, says_so).unwrap_err();
        assert!(broken.law == "row_weights" && broken.expected.contains("times one factor"), "{broken}");
    }
    let broken = check(false, false, false).unwrap_err();
    assert!(broken.law == "row_weights" && broken.expected.contains("`CriterionTraits::counts_rows`"), "{broken}");
}
