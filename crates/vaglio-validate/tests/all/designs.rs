//! Designs: searches of folds, correlations and penalties.

use std::sync::Arc;
use vaglio_core::{Cache, Design, FoldLineage, Geometry, Problem, Readout, Result, SearchExtent, number_labels};
use vaglio_kernels::GramCache;
use vaglio_search::{Greedy, Path, SearchContext, Silent, SubsetScorer, correlation, plan_geometry};
use vaglio_testkit::data;
use vaglio_validate::{KFold, Loo};

fn path(design: &Design) -> Path {
    let criterion = Loo::default();
    let subset = SubsetScorer::open(&criterion, design, &SearchExtent::forward(design.features(), 6)).unwrap();
    let mut observer = Silent;
    Greedy::new(6).run(&mut SearchContext::new(subset, &mut observer, 0)).unwrap()
}

#[test]
fn a_search_on_a_fold_is_the_same_whether_or_not_others_are_searched() {
    let problem = data::regression(2700, 12, 3).problem();
    let folds: Vec<usize> = (0..2700).map(|row| (7 * row + row / 5) % 5).collect();
    for intercept in [false, true] {
        let readout = Readout::new(vec![0.5], intercept).unwrap();
        let design = |problem: &Problem| Design::identity(problem, readout.clone());
        let labels = number_labels(&folds).0;
        let whole = design(&problem).with_run(|run| run.lineage = FoldLineage::Root(labels.into()));
        for fold in 0..5 {
            let rows: Vec<usize> = (0..2700).filter(|&row| folds[row] != fold).collect();
            let lineage = FoldLineage::Subset { whole: Arc::new(whole.clone()), rows: rows[..].into() };
            let part = design(&problem.view_rows(&rows)).with_run(|run| run.lineage = lineage);
            let alone = design(&problem.select_rows(&rows));
            let (found, expected) = (path(&part), path(&alone));
            assert_eq!(found.steps.len(), expected.steps.len());
            for (a, b) in found.steps.iter().zip(&expected.steps) {
                assert_eq!(a.feature, b.feature);
                assert!((a.score.loss / b.score.loss - 1.0).abs() < 1e-12, "{:?} is not {:?}", a.score, b.score);
            }
            assert!(whole.session::<Cache<GramCache>>().get().is_some());
        }
        assert_eq!(path(&whole), path(&design(&problem)));
    }
}

#[test]
fn correlations_are_those_of_the_default_geometry() {
    let (kfold, plain) = (KFold::default(), data::regression(40, 9, 3).duplicates(2).constants(2));
    for recipe in [plain.clone(), plain.clone().weighted(), plain.clone().bytes(), plain.weighted().condition(1e6)] {
        for intercept in [true, false] {
            let design = recipe.design(&[1.0], intercept);
            let (fast, plain) = (plan_geometry(&kfold, &design), correlation(&design));
            let near = |a: Vec<f64>, b: Vec<f64>| {
                assert_eq!(a.len(), b.len());
                a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} is not {b}"));
            };
            near(fast.relevances().unwrap().concat(), plain.relevances().unwrap().concat());
            for feature in (0..design.features()).filter(|&f| !design.column(f).is_constant()) {
                near(fast.gram(feature).unwrap(), plain.gram(feature).unwrap());
            }
        }
    }
    let two = data::regression(20, 4, 3).outputs(2).design(&[1.0], true);
    let (fast, plain) =
        (plan_geometry(&Loo::default(), &two).relevances().unwrap(), correlation(&two).relevances().unwrap());
    assert_eq!(fast.len(), 2);
    for (a, b) in fast.iter().flatten().zip(plain.iter().flatten()) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }
}

fn check_design(design: &Design, largest: usize) -> Result<()> {
    SubsetScorer::open(&Loo::default(), design, &SearchExtent::forward(design.features(), largest)).map(drop)
}

#[test]
fn a_penalty_that_is_nothing_is_refused_where_columns_need_one() {
    for (lambda, fits) in [(1e-12, true), (1e-25, false), (1e-290, false)] {
        for intercept in [false, true] {
            let dependent = data::regression(20, 5, 1).duplicates(1).design(&[1.0, lambda], intercept);
            assert_eq!(check_design(&dependent, 3).is_ok(), fits, "{lambda}");
            let plain = data::regression(20, 5, 1).weighted().design(&[lambda], intercept);
            assert!(check_design(&plain, 5).is_ok(), "{lambda}");
            let wide = data::regression(6, 9, 1).design(&[lambda], intercept);
            assert_eq!(check_design(&wide, 6).is_ok(), fits, "{lambda}");
        }
    }
}
