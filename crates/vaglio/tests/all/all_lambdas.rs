//! One subset for many λ, which is decomposed once: every λ and every removal equals plain retraining.

use vaglio::core::{
    Absolute, Action, BalancedError, Criterion, Design, Feature, Loss, Part, Score, SearchExtent, Squared, Winner,
};
use vaglio::criteria::{Engine, FoldBy, KFold, Loo};
use vaglio::search::SubsetScorer;
use vaglio_testkit::Tolerance;
use vaglio_testkit::data::{self, Recipe};

const LAMBDAS: [f64; 10] = [1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 1.0, 10.0, 1e2, 1e4, 1e6];

fn near(expected: Score, found: Score, empty: f64, what: &str) {
    Tolerance { tolerance: 1e-8, least: 1e-6 * empty }.assert(expected.loss, found.loss, what);
}

/// Every λ alone, and the lowest of all of them.
fn check(recipe: &Recipe, criterion: &KFold, subset: &[Feature], what: &str) {
    for intercept in [true, false] {
        let score = |lambdas: &[f64]| -> (Score, Score, f64) {
            let design: Design = recipe.design(lambdas, intercept).with_problem(|problem| problem.with_seed(3));
            let criterion: &dyn Criterion = criterion;
            let mut evaluator =
                SubsetScorer::open(criterion, &design, &SearchExtent::forward(design.features(), 3)).unwrap();
            evaluator.reset(subset).unwrap();
            let empty = criterion.evaluate(&design, &[]).unwrap().loss;
            (criterion.evaluate(&design, subset).unwrap(), evaluator.score().unwrap(), empty)
        };
        for lambda in LAMBDAS {
            let (defined, found, empty) = score(&[lambda]);
            near(defined, found, empty, &format!("{what}, intercept {intercept}, lambda {lambda:e}"));
        }
        let (defined, found, empty) = score(&LAMBDAS);
        near(defined, found, empty, &format!("{what}, intercept {intercept}, every lambda"));
    }
}

fn kinds() -> Vec<(&'static str, KFold)> {
    let dual = KFold { engine: Engine::RowsHeldOut, ..KFold::default() };
    vec![
        ("three folds", KFold { folds: Some(3), ..dual.clone() }),
        ("folds of one or two rows", KFold { folds: Some(14), shuffle: true, ..dual.clone() }),
        ("groups", KFold { by: Some(FoldBy::Groups), ..dual }),
    ]
}

#[test]
fn numbers_of_one_and_several_outputs() {
    let recipes = [
        ("plain", data::regression(24, 5, 61).groups(7)),
        ("weighted", data::regression(24, 5, 62).groups(7).weighted().bytes()),
        ("three outputs", data::regression(24, 5, 63).groups(7).outputs(3).weighted()),
        ("duplicates", data::regression(24, 4, 64).groups(7).duplicates(3)),
        ("constants", data::regression(24, 4, 67).groups(7).constants(2)),
        ("collinear", data::regression(24, 6, 65).groups(7).collinear(1e-3)),
        ("unlike scale", data::regression(24, 6, 66).groups(7).condition(1e6)),
    ];
    for (name, recipe) in recipes {
        for (kind, criterion) in kinds() {
            let all: Vec<Feature> = (0..recipe.problem().columns().len()).collect();
            check(&recipe, &criterion, &all, &format!("{name}, {kind}"));
            check(&recipe, &criterion, &[], &format!("{name}, {kind}, no column"));
        }
    }
}

#[test]
fn more_columns_than_rows() {
    for (kind, criterion) in kinds() {
        let recipe = data::regression(16, 30, 68).groups(5);
        check(&recipe, &criterion, &(0..30).collect::<Vec<_>>(), kind);
    }
}

#[test]
fn classes_by_units_and_balanced() {
    let plain = || data::multiclass(30, 5, 3, 69);
    let stratified = KFold { folds: Some(4), stratified: true, engine: Engine::RowsHeldOut, ..KFold::default() };
    let recipes = [
        ("plain", plain()),
        ("units", plain().weighted().deciding(4)),
        ("balanced", plain().skewed().balanced()),
        ("balanced units", plain().skewed().balanced().deciding(3)),
    ];
    for (name, recipe) in recipes {
        for loss in [Part::<dyn Loss>::from(Squared), Absolute.into(), BalancedError.into()] {
            check(
                &recipe,
                &KFold { loss: loss.clone(), ..stratified.clone() },
                &[0, 1, 2, 3, 4],
                &format!("{name}, {}", loss.kind()),
            );
        }
    }
}

#[test]
fn removals_where_a_state_has_lost_its_digits() {
    crate::on_one_thread(|| {
        let recipes = [
            ("collinear", data::regression(24, 6, 71).groups(7).collinear(1e-4)),
            ("unlike scale", data::regression(24, 6, 72).groups(7).condition(1e8).weighted()),
            ("two outputs", data::regression(24, 6, 73).groups(7).outputs(2).collinear(1e-5)),
            ("duplicates", data::regression(24, 4, 74).groups(7).duplicates(2)),
            ("few rows", data::regression(15, 20, 75).groups(5)),
        ];
        for ((name, recipe), intercept) in recipes.iter().flat_map(|recipe| [(recipe, true), (recipe, false)]) {
            for lambdas in LAMBDAS.iter().map(std::slice::from_ref).chain([&LAMBDAS[..]]) {
                for (kind, criterion) in kinds() {
                    let criterion = KFold { engine: Engine::Moments, ..criterion };
                    let design: Design = recipe.design(lambdas, intercept).with_problem(|problem| problem.with_seed(3));
                    let opened: &dyn Criterion = &criterion;
                    let all: Vec<Feature> = (0..design.features()).collect();
                    let mut evaluator =
                        SubsetScorer::open(opened, &design, &SearchExtent::backward(all.len(), 1)).unwrap();
                    evaluator.reset(&all).unwrap();
                    let empty = criterion.evaluate(&design, &[]).unwrap().loss;
                    let scores = evaluator.scores(Action::Remove, &all).unwrap();
                    for (&removed, &found) in all.iter().zip(&scores) {
                        let subset: Vec<Feature> = all.iter().copied().filter(|&f| f != removed).collect();
                        let defined = criterion.evaluate(&design, &subset).unwrap();
                        near(defined, found, empty, &format!("{name}, {kind}, {lambdas:?} without {removed}"));
                    }
                    assert_eq!(
                        evaluator.best(Action::Remove, &all).unwrap(),
                        Winner::among(&all, &scores),
                        "{name}, {kind}"
                    );
                }
            }
        }
    });
}

#[test]
fn rows_left_out_for_many_lambdas() {
    crate::on_one_thread(|| {
        let recipes = [
            ("plain", data::regression(24, 5, 81)),
            ("weighted", data::regression(24, 5, 82).weighted().bytes()),
            ("two outputs", data::regression(24, 5, 83).outputs(2)),
            ("duplicates", data::regression(24, 4, 84).duplicates(3)),
            ("constants", data::regression(24, 4, 85).constants(2)),
            ("collinear", data::regression(24, 6, 86).collinear(1e-4)),
            ("unlike scale", data::regression(24, 6, 87).condition(1e8)),
            ("nearly as many columns as rows", data::regression(14, 11, 88)),
            ("more columns than rows", data::regression(14, 20, 89)),
            ("classes", data::binary(30, 5, 90)),
        ];
        for ((name, recipe), intercept) in recipes.iter().flat_map(|recipe| [(recipe, true), (recipe, false)]) {
            for (lambda, loss) in LAMBDAS
                .iter()
                .flat_map(|&lambda| [(lambda, Part::<dyn Loss>::from(Squared)), (lambda, Absolute.into())])
            {
                let criterion = Loo { loss: loss.clone(), ..Loo::default() };
                let design = recipe.design(&[1.0, 2.0, 4.0, 8.0].map(|by| by * lambda), intercept);
                let opened: &dyn Criterion = &criterion;
                let all: Vec<Feature> = (0..design.features()).collect();
                let mut evaluator = SubsetScorer::open(opened, &design, &SearchExtent::backward(all.len(), 1)).unwrap();
                let empty = evaluator.score().unwrap().loss;
                for subset in [&all[..], &all[1..], &[0, 2]] {
                    evaluator.reset(subset).unwrap();
                    let what = format!("{name}, intercept {intercept}, lambda {lambda:e}, {} columns", subset.len());
                    let (defined, found) = (criterion.evaluate(&design, subset).unwrap(), evaluator.score().unwrap());
                    near(defined, found, empty, &what);
                    let error = evaluator.standard_error().unwrap();
                    // From here on there are states.
                    let (next, before) =
                        ((0..design.features()).find(|f| !subset.contains(f)), evaluator.selected().len());
                    if let Some(next) = next {
                        evaluator.add(next).unwrap();
                        evaluator.remove(next).unwrap();
                    }
                    assert_eq!(evaluator.selected().len(), before);
                    near(defined, evaluator.score().unwrap(), empty, &what);
                    let again = evaluator.standard_error().unwrap();
                    assert!(
                        error.zip(again).is_none_or(|(a, b)| (a - b).abs() <= 1e-6 * a.max(1e-6 * empty)),
                        "{what}"
                    );
                }
            }
        }
    });
}

#[test]
fn walks_at_several_lambdas_that_share_a_design() {
    let recipes = [
        ("plain", data::regression(40, 5, 91)),
        ("weighted, two outputs", data::regression(40, 5, 92).outputs(2).weighted()),
        ("collinear", data::regression(40, 6, 93).collinear(1e-4)),
        ("large units", data::regression(40, 5, 94).condition(1e8)),
    ];
    let folds = KFold { folds: Some(4), ..KFold::default() };
    let rows = KFold { engine: Engine::RowsHeldOut, ..folds.clone() };
    let criteria: [(&str, Box<dyn Criterion>); 5] = [
        ("moments", Box::new(KFold { engine: Engine::Moments, ..folds.clone() })),
        ("rows held out", Box::new(rows.clone())),
        ("absolute errors of folds", Box::new(KFold { loss: Absolute.into(), ..rows })),
        ("rows", Box::new(Loo::default())),
        ("absolute errors of rows", Box::new(Loo { loss: Absolute.into(), ..Loo::default() })),
    ];
    for ((name, recipe), intercept) in recipes.iter().flat_map(|recipe| [(recipe, true), (recipe, false)]) {
        let design = recipe.design(&LAMBDAS, intercept);
        let shared = design.with_run(|run| run.share(&design.lambdas()));
        // At others than those of the walks.
        let beyond = design.with_run(|run| run.share(&[Some(3.0), Some(5.0)])).at_lambda(Some(1.0));
        let all: Vec<Feature> = (0..design.features()).collect();
        for (kind, criterion) in &criteria {
            let scored = |design: &Design, subset: &[Feature]| {
                let mut evaluator =
                    SubsetScorer::open(&**criterion, design, &SearchExtent::backward(all.len(), 1)).unwrap();
                let empty = evaluator.score().unwrap().loss;
                evaluator.reset(subset).unwrap();
                (evaluator.score().unwrap(), evaluator.standard_error().unwrap().unwrap(), empty)
            };
            for (subset, lambda) in [&all[..], &[2, 0]].into_iter().flat_map(|s| LAMBDAS.map(|lambda| (s, lambda))) {
                let alone = design.at_lambda(Some(lambda));
                let (expected, error, empty) = scored(&alone, subset);
                let what = format!("{name}, {kind}, intercept {intercept}, lambda {lambda:e}, {subset:?}");
                near(criterion.evaluate(&alone, subset).unwrap(), expected, empty, &what);
                for other in [&shared.at_lambda(Some(lambda)), &beyond.at_lambda(Some(lambda))] {
                    let (found, own_error, _) = scored(other, subset);
                    near(expected, found, empty, &what);
                    assert_eq!(found.lambda, Some(lambda), "{what}");
                    assert!(
                        (own_error - error).abs() <= 1e-6 * error.max(1e-6 * empty),
                        "{what}: {own_error} is not {error}"
                    );
                }
            }
        }
    }
}
