//! `per: all`: λ is taken by the criterion for all columns, and the search is made at that.

use linfa::ParamGuard;
use vaglio::core::{Criterion, Design, Lambda, Problem, Readout};
use vaglio::criteria::{KFold, Loo, Nhsic};
use vaglio::learners::Rls;
use vaglio::search::{Backward, Choose, CrossValidation, Greedy, Search, Silent};
use vaglio::{Selection, Selector};
use vaglio_testkit::{Tolerance, data};

const GRID: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
const NEAR: Tolerance = Tolerance::relative(1e-10);

fn shared_lambda() -> Lambda {
    Lambda::one_of(GRID.to_vec()).for_all_columns()
}

fn selected(problem: &Problem, criterion: impl Criterion + 'static, search: Search, lambda: Lambda) -> Selection {
    let selector = Selector::params(criterion, search, Rls::new(lambda)).check().unwrap();
    selector.select(problem, &mut Silent).unwrap()
}

/// The λ of the lowest score of all columns, by the definition.
fn by_hand(problem: &Problem, criterion: &dyn Criterion) -> f64 {
    let loss = |lambda: f64| {
        let design = Design::identity(problem, Readout::new(vec![lambda], true).unwrap());
        criterion.evaluate(&design, &design.candidates()).unwrap().loss
    };
    GRID.into_iter().min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap()
}

#[test]
fn the_search_is_that_at_the_lambda_of_all_columns() {
    let mut taken = Vec::new();
    for (recipe, seed) in [(data::regression(30, 8, 5), 0), (data::regression(18, 30, 6).weighted(), 1)] {
        let problem = recipe.problem().with_seed(seed);
        for choose in [Choose::Best, Choose::Last] {
            let search = Greedy::new(4).choose(choose);
            let lambda = by_hand(&problem, &KFold::new(4));
            let found = selected(&problem, KFold::new(4), search.clone(), shared_lambda());
            let expected = selected(&problem, KFold::new(4), search, Lambda::from(lambda));
            assert_eq!(found.path.steps, expected.path.steps);
            assert_eq!((found.path.entries, found.chosen.lambda), (expected.path.entries, Some(lambda)));
            let weights = |selection: &Selection| serde_json::to_string(&selection.model).unwrap();
            assert_eq!(found.model.lambda(), Some(lambda));
            assert!(!weights(&selected(&problem, KFold::new(4), Greedy::new(4), shared_lambda())).is_empty());
            taken.push(lambda);
        }
    }
    taken.dedup();
    assert!(taken.len() > 1, "{taken:?}");
}

/// In every fold λ is that of its training rows alone.
#[test]
fn every_fold_takes_its_own_lambda() {
    let recipe = data::regression(36, 7, 9).groups(3);
    let problem = recipe.problem();
    let folds: Vec<u32> = problem.groups().unwrap().to_vec();
    let choose = Choose::CrossValidated(CrossValidation { folds: 3, ..CrossValidation::default() });
    let search = Greedy::new(4).choose(choose);
    let found = selected(&problem, Loo::default(), search, shared_lambda());
    let table = found.chosen.table.clone().unwrap();
    assert_eq!(table.lambdas, [None]);
    let own = |fold: u32| {
        let rows: Vec<usize> = (0..36).filter(|&row| folds[row] != fold).collect();
        let training = problem.select_rows(&rows);
        let lambda = by_hand(&training, &Loo::default());
        (training, lambda)
    };
    for cell in table.cells[0].iter().filter(|cell| cell.size > 0) {
        let mut squares = 0.0;
        for fold in 0..3 {
            let (training, lambda) = own(fold);
            let last = Greedy::new(cell.size).choose(Choose::Last).patience(99);
            let model = selected(&training, Loo::default(), last, Lambda::from(lambda)).model;
            let held_out: Vec<usize> = (0..36).filter(|&row| folds[row] == fold).collect();
            let predicted =
                model.predict(&problem.columns().select(model.inputs()).select_rows(&held_out), None).unwrap();
            squares +=
                held_out.iter().zip(&predicted).map(|(&j, p)| (problem.targets()[[0, j]] - p).powi(2)).sum::<f64>();
        }
        NEAR.assert(squares / 36.0, cell.loss, "a size");
    }
    assert_eq!(found.chosen.lambda, Some(by_hand(&problem, &Loo::default())));
}

#[test]
fn a_search_from_all_columns_and_one_value_are_served() {
    let problem = data::regression(24, 5, 3).problem();
    let lambda = by_hand(&problem, &Loo::default());
    let walk = |lambda: Lambda| {
        let search = Search::new(Backward::default()).choose(Choose::Best);
        let selector = Selector::params(Loo::default(), search, Rls::new(lambda)).check().unwrap();
        selector.select(&problem, &mut Silent).unwrap().path
    };
    assert_eq!(walk(shared_lambda()), walk(Lambda::from(lambda)));
    let one = Lambda::one_of(vec![0.3]).for_all_columns();
    assert_eq!(walk(one), walk(Lambda::from(0.3)));
}

#[test]
fn a_criterion_without_lambda_takes_none_of_all_columns() {
    let problem = data::regression(24, 5, 3).problem();
    let search = Greedy::new(2).choose(Choose::Last);
    let selector = Selector::params(Nhsic::default(), search, Rls::new(shared_lambda())).check().unwrap();
    let error = selector.select(&problem, &mut Silent).unwrap_err();
    assert_eq!(error.field(), Some("learner.lambda.per"));
    assert!(error.to_string().contains("`nhsic` takes none"), "{error}");
}
