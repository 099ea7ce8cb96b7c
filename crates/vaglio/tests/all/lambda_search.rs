//! The penalty searched between bounds: against a fine grid, on both criteria.

use std::sync::Arc;
use vaglio::core::{Absolute, Criterion, Design, Lambda, Score, SearchExtent};
use vaglio::criteria::{KFold, Loo};
use vaglio::learners::Rls;
use vaglio::search::SubsetScorer;
use vaglio_testkit::{CriterionLaws, data};

fn design(lambda: Lambda, seed: u64) -> Design {
    let problem = data::regression(24, 6, seed).weighted().problem();
    Design::from_problem(&problem, Arc::new(Rls { lambda, intercept: true })).unwrap()
}

fn criteria() -> Vec<Box<dyn Criterion>> {
    vec![
        Box::new(Loo::default()),
        Box::new(KFold { folds: Some(4), ..KFold::default() }),
        Box::new(KFold { folds: Some(3), loss: Absolute.into(), ..KFold::default() }),
    ]
}

#[test]
fn no_value_of_a_fine_grid_is_better() {
    for seed in 0..6 {
        let searched = design(Lambda::search(1e-3, 1e4), seed);
        let grid = design(Lambda::grid(1e-3, 1e4, 2000), seed);
        for criterion in criteria() {
            let score = |design: &Design| -> Score {
                let mut evaluator = SubsetScorer::open(&*criterion, design, &SearchExtent::backward(6, 6)).unwrap();
                evaluator.reset(&[0, 2, 3, 5]).unwrap();
                evaluator.score().unwrap()
            };
            let (found, fine) = (score(&searched), score(&grid));
            assert!(found.loss <= fine.loss * (1.0 + 1e-12), "{criterion:?}: {found:?} against {fine:?}");
            assert!(found.loss >= fine.loss * (1.0 - 1e-3), "{criterion:?}: {found:?} against {fine:?}");
            // The definition runs the same search on plain retraining.
            let defined = criterion.evaluate(&searched, &[0, 2, 3, 5]).unwrap();
            assert!((found.loss - defined.loss).abs() <= 1e-9 * defined.loss, "{found:?} is not {defined:?}");
            let ratio = found.lambda.unwrap() / defined.lambda.unwrap();
            assert!((ratio.ln()).abs() < 1e-3, "{found:?} is not {defined:?}");
        }
    }
}

#[test]
fn searched_penalties_are_numbers_in_any_order() {
    let noise = data::regression(20, 5, 3).weighted();
    let problem = noise.problem();
    let learner = Rls { lambda: Lambda::search(1e-9, 1e-8), intercept: true };
    let design = Design::from_problem(&problem, Arc::new(learner)).unwrap();
    for searched in criteria() {
        CriterionLaws::new(&*searched, &design, 0.0).never_nan().unwrap();
        CriterionLaws::new(&*searched, &design, 0.0).candidate_order().unwrap();
    }
}
