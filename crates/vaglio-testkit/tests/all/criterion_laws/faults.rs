//! Faults of numbers, order, threads and settings.

use super::*;

#[test]
fn not_a_number_is_found() {
    for fault in [Fault::Nan, Fault::NanInTrial, Fault::Unfilled] {
        assert_eq!(law_of(fault), "never_nan", "{fault:?}");
    }
}

#[test]
fn an_error_or_a_panic_is_a_law_that_fails() {
    assert_eq!(law_of(Fault::Fails), "never_nan");
    assert_eq!(law_of(Fault::Panics), "never_nan");
}

#[test]
fn a_definition_that_depends_on_the_order_of_the_subset_is_found() {
    assert_eq!(law_of(Fault::SubsetOrder), "any_order");
}

#[test]
fn drift_is_found_by_a_long_walk_alone() {
    let (wrong, design) = (Wrong { fault: Fault::Drift }, design());
    holds(criterion::walk(&wrong, &design, 10, 1, 1e-7));
    assert_eq!(broken_law(criterion::walk(&wrong, &design, 300, 1, 1e-7)), "walk");
}

#[test]
fn wrong_forks_and_bounds_are_found() {
    for fault in [Fault::ForkOff, Fault::ForkShared, Fault::BoundOff] {
        assert_eq!(broken_law(criterion::forks(&Wrong { fault }, &design(), TOLERANCE)), "forks", "{fault:?}");
    }
}

#[test]
fn an_estimate_that_is_no_number_is_found() {
    assert_eq!(law_of(Fault::EstimateNan), "estimates");
    assert_eq!(law_of(Fault::OtherEngine), "estimates");
}

#[test]
fn scores_that_depend_on_the_number_of_threads_are_found() {
    let in_pool = |threads: usize, work: &mut (dyn FnMut() + Send)| {
        THREADS.store(threads, Ordering::SeqCst);
        work();
    };
    assert_eq!(broken_law(criterion::threads(&Wrong { fault: Fault::Threads }, &design(), &in_pool)), "threads");
    holds(criterion::threads(&ByDefinition {}, &design(), &in_pool));
    assert_eq!(broken_law(criterion::threads(&ByDefinition {}, &design(), &|_, _| ())), "threads");
}

#[test]
fn scores_that_depend_on_where_a_column_stands_are_found() {
    let wrong = Wrong { fault: Fault::Position };
    assert_eq!(broken_law(variation::permutation(&wrong, &design(), TOLERANCE)), "permutation");
}

#[test]
fn scores_that_depend_on_the_sum_of_weights_are_found() {
    assert_eq!(law_of(Fault::TotalWeight), "row_weights");
}

#[test]
fn a_wrong_lambda_is_found() {
    for fault in [Fault::LargestLambda, Fault::FirstLambda] {
        assert_eq!(broken_law(variation::lambdas(&Wrong { fault }, &design(), TOLERANCE)), "lambdas", "{fault:?}");
    }
    assert_eq!(law_of(Fault::LambdaDropped), "additions");
}

#[test]
fn data_with_nothing_to_see_are_refused() {
    let small = data::regression(10, 2, 1).design(&[1.0], true);
    assert_eq!(broken_law(check_criterion(&ByDefinition {}, &small, TOLERANCE)), "never_nan");
    let flat = data::regression(10, 0, 1).constants(5).design(&[1.0], true);
    assert_eq!(broken_law(criterion::walk(&ByDefinition {}, &flat, 5, 1, TOLERANCE)), "walk");
    assert_eq!(broken_law(criterion::walk(&ByDefinition {}, &design(), 0, 1, TOLERANCE)), "walk");
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
