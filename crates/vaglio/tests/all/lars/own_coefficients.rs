//! Models with the coefficients of the path: conditions of the lasso, least squares at the end, honest losses.

use vaglio::Selector;
use vaglio::core::{Error, Lambda, Problem, standardize};
use vaglio::criteria::Loo;
use vaglio::learners::{Crrr, Rls};
use vaglio::search::{Choose, CrossValidation, EntryFit, Lars, Search, Silent};
use vaglio_testkit::data;

fn path(choose: Choose) -> Search {
    Search::new(Lars::default().with_path_coefficients()).choose(choose)
}

fn learner() -> Rls {
    Rls { lambda: Lambda::from(0.5), ..Rls::default() }
}

fn fit(problem: &Problem, search: Search) -> vaglio::Selection {
    let selector = Selector::params(Loo::default(), search, learner());
    linfa::ParamGuard::check(selector).unwrap().select(problem, &mut Silent).unwrap()
}

/// Predictions of all rows by a model's inputs.
fn predicted(problem: &Problem, selection: &vaglio::Selection) -> Vec<f64> {
    let inputs = problem.columns().select(selection.model.inputs());
    selection.model.predict(&inputs, None).unwrap().row(0).to_vec()
}

/// With λ the common correlation at an entry: that of an active column has the sign of its coefficient and is λ, that of any
/// other is no greater; so the model is the minimizer of ½‖y − Xα‖² + λ‖α‖₁.
#[test]
fn models_keep_the_conditions_of_the_lasso() {
    for recipe in [data::regression(60, 12, 3), data::regression(60, 12, 4).weighted().bytes()] {
        let problem = recipe.problem();
        let weights = problem.weights().map(|w| w.to_vec());
        let unit = |values: &[f64]| standardize(values, weights.as_deref());
        let columns: Vec<Vec<f64>> = problem.columns().iter().map(|column| unit(&column.values())).collect();
        let y = problem.targets().row(0).to_vec();
        for size in 1..=11 {
            let selection = fit(&problem, path(Choose::Size(size)));
            let residuals: Vec<f64> = y.iter().zip(predicted(&problem, &selection)).map(|(y, p)| y - p).collect();
            // Their mean is 0, so that centering changes nothing, and scale is that of the target.
            let (own, whole) = (unit(&residuals), unit(&y));
            let along = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let correlations: Vec<f64> = columns.iter().map(|x| along(x, &own)).collect();
            let entry = selection.path.result().unwrap();
            assert_eq!(entry.subset.len(), size);
            let EntryFit::Coefficients(alpha) = &entry.fit else { panic!("{entry:?}") };
            let common = correlations[entry.subset[0]].abs();
            for (feature, correlation) in correlations.iter().enumerate() {
                match entry.subset.iter().position(|f| *f == feature) {
                    Some(k) => assert!((correlation - common * alpha[k].signum()).abs() < 1e-9, "{size}: {feature}"),
                    None => assert!(correlation.abs() < common + 1e-9, "{size}: {feature}"),
                }
            }
            assert!(along(&own, &whole) > 0.0);
        }
    }
}

#[test]
fn the_whole_path_ends_at_least_squares() {
    let problem = data::regression(40, 6, 5).problem();
    let selection = fit(
        &problem,
        Search::new(Lars { lasso: false, ..Lars::default().with_path_coefficients() }).choose(Choose::Last),
    );
    assert_eq!(selection.path.result().unwrap().subset.len(), 6);
    let least = Selector::params(
        Loo::default(),
        Search::new(Lars::default()).choose(Choose::Last),
        Rls { lambda: Lambda::from(1e-11), ..Rls::default() },
    );
    let least = linfa::ParamGuard::check(least).unwrap().select(&problem, &mut Silent).unwrap();
    for (a, b) in predicted(&problem, &selection).iter().zip(predicted(&problem, &least)) {
        assert!((a - b).abs() < 1e-8, "{a} is not {b}");
    }
}

/// Cross-validated losses of the search equal the held-out losses of its models, with groups as folds.
#[test]
fn a_cross_validated_path_is_judged_by_its_own_models() {
    let groups: Vec<u32> = (0..48).map(|row| row % 4).collect();
    let problem = data::regression(48, 7, 6).problem().with_groups(groups.clone()).unwrap();
    let folds = CrossValidation::new(4);
    let chosen = fit(&problem, path(Choose::CrossValidated(folds))).chosen;
    for cell in chosen.table.unwrap().cells[0].iter().filter(|cell| cell.size > 0) {
        let mut sum = 0.0;
        for group in 0..4 {
            let rows = |held: bool| (0..48).filter(|&row| (groups[row] == group) == held).collect::<Vec<_>>();
            let (training, held) = (problem.select_rows(&rows(false)), problem.select_rows(&rows(true)));
            let selection = fit(&training, path(Choose::Size(cell.size)));
            let targets = held.targets().row(0).to_vec();
            sum += targets.iter().zip(predicted(&held, &selection)).map(|(y, p)| (y - p) * (y - p)).sum::<f64>();
        }
        assert!(
            (sum / 48.0 / cell.loss - 1.0).abs() < 1e-10,
            "size {}: {} is not {}",
            cell.size,
            sum / 48.0,
            cell.loss
        );
    }
}

#[test]
fn what_has_no_such_model_is_refused() {
    let problem = data::binary(30, 5, 7).problem();
    let refused = |selector: Selector| match linfa::ParamGuard::check(selector).unwrap().design(&problem) {
        Err(Error::Setting { field, message, .. }) => format!("{field}: {message}"),
        other => panic!("{other:?}"),
    };
    let two: Lambda = serde_json::from_str(r#"{"values": [0.1, 1.0]}"#).unwrap();
    let search = path(Choose::Last);
    for (selector, words) in [
        (Selector::params(Loo::default(), search.clone(), Rls { lambda: two, ..Rls::default() }), "no lambda"),
        (Selector::params(Loo::default(), search.clone(), Crrr::default()), "balanced"),
        (Selector::params(vaglio::criteria::Nhsic::default(), search.clone(), Rls::default()), "not those of columns"),
        (Selector::params(Loo::default(), search, Rls { intercept: false, ..learner() }), "with an intercept"),
    ] {
        let found = refused(selector);
        assert!(found.starts_with("search.coefficients: ") && found.contains(words), "{found}");
    }
}
