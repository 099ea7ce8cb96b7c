//! Paths of several outputs, and of one as they were before there were any.

use super::common::{design, walk};
use vaglio::Selector;
use vaglio::core::{Problem, standardize};
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::{Choose, CrossValidation, Lars, Rule, Search, Silent};
use vaglio_testkit::data;

/// Steps of the search from before it supported several outputs: column, mu and alpha.
const BEFORE: [(usize, f64, &[f64]); 6] = [
    (1, 0.17333777781220153, &[0.17333777781220153]),
    (3, 0.22490783496544894, &[0.3947643133764676, -0.22142653556426586]),
    (4, 0.14896608317126353, &[0.5360506799164668, -0.347522096129825, 0.12073248613551474]),
    (0, 0.03459802195462343, &[0.5723935858328609, -0.3800118169894918, 0.14191405359148537, 0.03614507902261333]),
    (
        2,
        0.07356671445896915,
        &[0.6523156657009259, -0.4726775647171328, 0.1809321435912331, 0.11603669736865041, 0.09684471481296367],
    ),
    (
        5,
        0.03136872154778188,
        &[
            0.6800652348980704,
            -0.5132736452071139,
            0.1982318447585039,
            0.14774682887331453,
            0.13867357001496824,
            0.02513163238365778,
        ],
    ),
];

fn number(i: usize, j: usize) -> f64 {
    ((i * 7919 + j * 104_729 + i * j * 613 + i * i * 37) % 1009) as f64 / 1009.0
}

#[test]
fn a_path_of_one_output_has_the_bits_it_had() {
    let columns: Vec<Vec<f64>> = (0..6).map(|j| (0..24).map(|i| number(i, j)).collect()).collect();
    let y: Vec<f64> =
        (0..24).map(|i| number(i, 17) + 2.0 * columns[1][i] - columns[3][i] + 0.5 * columns[4][i]).collect();
    let design = design(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), &y);
    let path = walk(&Search::new(Lars::default()), &Loo::default(), &design);
    assert_eq!(path.steps.len(), BEFORE.len());
    for (step, (feature, mu, alpha)) in path.steps.iter().zip(BEFORE) {
        let knot = step.knot.as_ref().unwrap();
        assert_eq!((step.feature, knot.mu, &knot.alpha[..]), (feature, mu, alpha));
    }
}

fn fit(problem: &Problem, search: impl Into<Search>) -> vaglio::Selection {
    let selector = Selector::params(Loo::default(), search, Rls::default());
    linfa::ParamGuard::check(selector).unwrap().select(problem, &mut Silent).unwrap()
}

/// With R the residuals of the model in units of each target's spread: ‖x_iᵀR‖ is one λ on the path and no greater beside it.
#[test]
fn models_keep_the_conditions_of_the_group_lasso() {
    let recipes = [data::regression(60, 8, 3).outputs(3), data::regression(60, 8, 4).outputs(2).weighted()];
    for problem in [recipes[0].problem(), recipes[1].problem(), data::multiclass(60, 8, 3, 5).problem()] {
        let weights = problem.weights().map(|w| w.to_vec());
        let weight = |j: usize| weights.as_ref().map_or(1.0, |w| w[j]);
        let total: f64 = (0..60).map(weight).sum();
        let unit = |values: &[f64]| standardize(values, weights.as_deref());
        let spread = |y: &[f64]| {
            let mean = (0..60).map(|j| weight(j) * y[j]).sum::<f64>() / total;
            (0..60).map(|j| weight(j) * (y[j] - mean) * (y[j] - mean)).sum::<f64>().sqrt()
        };
        let columns: Vec<Vec<f64>> = problem.columns().iter().map(|column| unit(&column.values())).collect();
        for size in 1..=7 {
            let choose = Choose::Size(size);
            let search = Search::new(Lars::default().with_path_coefficients()).choose(choose);
            let selection = fit(&problem, search);
            let subset = selection.path.result().unwrap().subset.clone();
            let inputs = problem.columns().select(selection.model.inputs());
            let predicted = selection.model.predict(&inputs, None).unwrap();
            let norm = |x: &[f64]| {
                let outputs = problem.targets().rows().into_iter().zip(predicted.rows());
                let along = outputs.map(|(y, p)| {
                    let by = spread(&y.to_vec());
                    (0..60).map(|j| weight(j).sqrt() * x[j] * (y[j] - p[j]) / by).sum::<f64>()
                });
                along.map(|a| a * a).sum::<f64>().sqrt()
            };
            let common = norm(&columns[subset[0]]);
            for (feature, column) in columns.iter().enumerate() {
                let own = norm(column);
                match subset.contains(&feature) {
                    true => assert!((own - common).abs() < 1e-9, "{size}: {own} is not {common}"),
                    false => assert!(own < common + 1e-9, "{size}: {own} is over {common}"),
                }
            }
        }
    }
}

#[test]
fn units_of_targets_change_no_path() {
    let problem = data::regression(40, 7, 9).outputs(2).problem();
    let columns: Vec<Vec<f64>> = problem.columns().iter().map(|column| column.values().to_vec()).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let [a, b] = [problem.targets().row(0).to_vec(), problem.targets().row(1).to_vec()];
    let scaled: Vec<f64> = b.iter().map(|v| 1024.0 * v).collect();
    let of = |b: &[f64]| data::given(&columns, &[&a, b], vaglio::core::Task::Regression).unwrap();
    for lars in [Lars::default(), Lars::default().with_path_coefficients()] {
        let search = Search::new(lars).choose(Choose::Last);
        let (plain, other) = (fit(&of(&b), search.clone()), fit(&of(&scaled), search));
        assert_eq!(plain.path.steps.len(), other.path.steps.len());
        for (a, b) in plain.path.steps.iter().zip(&other.path.steps) {
            assert_eq!((a.feature, a.action), (b.feature, b.action));
            assert!((a.knot.as_ref().unwrap().mu - b.knot.as_ref().unwrap().mu).abs() < 1e-12);
        }
    }
}

#[test]
fn classes_and_several_targets_are_chosen_by_any_rule() {
    let recipes = [data::multiclass(48, 7, 3, 5), data::regression(48, 7, 5).outputs(2).weighted()];
    for problem in recipes.map(|recipe| recipe.problem()) {
        for lars in [Lars::default(), Lars::default().with_path_coefficients()] {
            let path = || Search::new(lars.clone());
            let alone = fit(&problem, path()).chosen;
            let how = CrossValidation { rule: Rule::OneSe, ..CrossValidation::default() };
            let fewer = fit(&problem, path().choose(Choose::CrossValidated(how))).chosen;
            assert!(fewer.size <= alone.size);
            for (choose, size) in [(Choose::Size(3), 3), (Choose::Last, 7)] {
                assert_eq!(fit(&problem, path().choose(choose)).chosen.size, size);
            }
        }
    }
}
