//! Leave-one-out of more columns than rows, from one decomposition of the rows.

use vaglio::core::{Absolute, Criterion, Design, Feature, Loss, Part, SearchExtent, Squared};
use vaglio::criteria::Loo;
use vaglio::search::SubsetScorer;
use vaglio_testkit::{Tolerance, data};

#[track_caller]
fn is_retrained(design: &Design, loss: Part<dyn Loss>, what: &str) {
    let criterion = Loo { loss, ..Loo::default() };
    let all: Vec<Feature> = design.candidates();
    let extent = SearchExtent::fixed(all.len());
    for lambda in design.lambdas() {
        let one = design.at_lambda(lambda);
        let mut subset = SubsetScorer::open(&criterion, &one, &extent).unwrap();
        subset.reset(&all).unwrap();
        let expected = criterion.evaluate(&one, &all).unwrap();
        let found = subset.score().unwrap();
        assert_eq!(found.lambda, expected.lambda);
        let near = Tolerance { tolerance: 1e-8, least: 1e-12 };
        near.assert(expected.loss, found.loss, format!("{what}, lambda {lambda:?}"));
    }
    let mut subset = SubsetScorer::open(&criterion, design, &extent).unwrap();
    subset.reset(&all).unwrap();
    let (expected, found) = (criterion.evaluate(design, &all).unwrap(), subset.score().unwrap());
    Tolerance { tolerance: 1e-8, least: 1e-12 }.assert(expected.loss, found.loss, what);
}

#[test]
fn all_columns_are_scored_as_by_retraining() {
    crate::on_one_thread(|| {
        for intercept in [true, false] {
            for lambdas in [&[1e-9, 1e-4, 0.3, 20.0, 1e7][..], &[2.0]] {
                let wide = data::regression(9, 14, 3).design(lambdas, intercept);
                is_retrained(&wide, Squared.into(), "wide");
                let weighted = data::regression(8, 20, 4).weighted().outputs(3).design(lambdas, intercept);
                is_retrained(&weighted, Squared.into(), "weighted, three outputs");
                let dependent = data::regression(10, 12, 5).duplicates(6).design(lambdas, intercept);
                is_retrained(&dependent, Absolute.into(), "duplicates");
                let classes = data::multiclass(12, 15, 3, 6).design(lambdas, intercept);
                is_retrained(&classes, Squared.into(), "classes");
            }
        }
    });
}
