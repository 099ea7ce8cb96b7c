//! Models of a path at any penalty, and the one that cross-validation takes.

use super::common::{Signs, descent, factors, moments, walk};
use vaglio::core::{Lambda, Problem, StopReason, standardize};
use vaglio::criteria::{KFold, Loo};
use vaglio::learners::Rls;
use vaglio::search::{Chain, Choose, CrossValidation, EntryFit, Lars, Penalties, Rank, Rule, Search, Silent};
use vaglio::{Selection, Selector};
use vaglio_testkit::data;

fn at(penalties: Penalties) -> Search {
    Lars { penalties: Some(penalties), ..Lars::default().with_path_coefficients() }.into()
}

fn values(values: &[f64]) -> Search {
    at(Penalties::Values(values.to_vec()))
}

fn selector(search: impl Into<Search>) -> Selector {
    Selector::params(Loo::default(), search, Rls { lambda: Lambda::from(0.5), ..Rls::default() })
}

fn fit(problem: &Problem, search: impl Into<Search>) -> Selection {
    linfa::ParamGuard::check(selector(search)).unwrap().select(problem, &mut Silent).unwrap()
}

#[test]
fn models_at_any_penalty_are_those_of_coordinate_descent() {
    let mut left = 0;
    for seed in 20..26 {
        let design = factors(60, 8, seed);
        let (c, q) = moments(&design);
        let asked: Vec<f64> = (1..40).map(|k| 1.1 * 0.85_f64.powi(k)).collect();
        let path = walk(&values(&asked), &KFold::default(), &design);
        assert_eq!((path.at_penalties.len(), path.stop_reason), (39, StopReason::Penalty));
        let knots = walk(&Search::new(Lars::default()), &KFold::default(), &design).steps;
        assert_eq!(path.steps[..], knots[..path.steps.len()]);
        left += path.steps.iter().filter(|step| step.action == vaglio::core::Action::Remove).count();
        for (lambda, model) in &path.at_penalties {
            let mut alpha = [0.0; 8];
            match &model.fit {
                EntryFit::Coefficients(own) => model.subset.iter().zip(own).for_each(|(&f, a)| alpha[f] = *a),
                _ => assert!(model.subset.is_empty()),
            }
            for (own, plain) in alpha.iter().zip(descent(&c, &q, *lambda, Signs::Any)) {
                assert!((own - plain).abs() < 1e-10, "seed {seed}, λ = {lambda}: {own} is not {plain}");
            }
        }
    }
    assert!(left > 0);
}

/// The loss of the lasso at a penalty on rows held out, by descent on the training rows.
fn by_hand(training: &Problem, held: &Problem, lambda: f64) -> Vec<f64> {
    let frame = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>().sqrt())
    };
    let columns: Vec<Vec<f64>> = training.columns().iter().map(|column| column.values().to_vec()).collect();
    let y = training.targets().row(0).to_vec();
    let unit: Vec<Vec<f64>> = columns.iter().map(|column| standardize(column, None)).collect();
    let along = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let c: Vec<f64> = unit.iter().map(|x| along(x, &standardize(&y, None))).collect();
    let q = ndarray::Array2::from_shape_fn((unit.len(), unit.len()), |(i, j)| along(&unit[i], &unit[j]));
    let (alpha, (mean, norm)) = (descent(&c, &q, lambda, Signs::Any), frame(&y));
    let target = |row: usize| held.targets()[[0, row]];
    let of_row = |row: usize| {
        let terms = alpha.iter().zip(&columns).enumerate().map(|(k, (alpha, column))| {
            let (middle, own) = frame(column);
            alpha * norm / own * (held.columns().column(k).get(row) - middle)
        });
        target(row) - mean - terms.sum::<f64>()
    };
    (0..held.rows()).map(|row| of_row(row) * of_row(row)).collect()
}

#[test]
fn the_penalty_that_is_taken_loses_least_on_rows_held_out() {
    let groups: Vec<u32> = (0..48).map(|row| row % 4).collect();
    let problem = data::regression(48, 7, 6).problem().with_groups(groups.clone()).unwrap();
    let search = at(Penalties::Points(25)).choose(Choose::CrossValidated(CrossValidation::new(4)));
    let selection = fit(&problem, search);
    let table = selection.chosen.table.unwrap();
    let largest = table.lambdas[24].unwrap();
    assert_eq!(table.lambdas.len(), 25);
    assert!((table.lambdas[0].unwrap() / largest - 1e-3).abs() < 1e-15);
    let mut best = (f64::INFINITY, f64::NAN);
    for (lambda, cells) in table.lambdas.iter().zip(&table.cells) {
        let [cell] = &cells[..] else { panic!("{cells:?}") };
        let mut lost = Vec::new();
        for group in 0..4 {
            let rows = |held: bool| (0..48).filter(|&row| (groups[row] == group) == held).collect::<Vec<_>>();
            let (training, held) = (problem.select_rows(&rows(false)), problem.select_rows(&rows(true)));
            lost.extend(by_hand(&training, &held, lambda.unwrap()));
        }
        let loss = lost.iter().sum::<f64>() / 48.0;
        assert!((loss / cell.loss - 1.0).abs() < 1e-10, "λ = {lambda:?}: {loss} is not {}", cell.loss);
        best = if loss < best.0 { (loss, lambda.unwrap()) } else { best };
    }
    assert_eq!((selection.chosen.lambda, selection.chosen.penalty), (Some(best.1), Some(best.1)));
    // At the largest penalty no column has entered, but for folds with a larger one.
    assert!(selection.chosen.empty.unwrap().loss >= table.cells[24][0].loss);
    assert!(best.1 < largest);
    // The model is the lasso at that penalty.
    let inputs = problem.columns().select(selection.model.inputs());
    let predicted = selection.model.predict(&inputs, None).unwrap();
    let plain = by_hand(&problem, &problem, best.1);
    for (row, plain) in plain.iter().enumerate() {
        let own = problem.targets()[[0, row]] - predicted[[0, row]];
        assert!((own * own - plain).abs() < 1e-10, "{row}");
    }
}

/// min ½‖Y − XW‖² + λ Σ‖w_i‖ by descent over rows.
fn by_rows(c: &[Vec<f64>], q: &ndarray::Array2<f64>, lambda: f64) -> Vec<Vec<f64>> {
    let (n, outputs) = (q.nrows(), c.len());
    let mut w = vec![vec![0.0; outputs]; n];
    for _ in 0..200_000 {
        let mut moved: f64 = 0.0;
        for j in 0..n {
            let rest = |o: usize| (0..n).filter(|k| *k != j).map(|k| q[(j, k)] * w[k][o]).sum::<f64>();
            let left: Vec<f64> = (0..outputs).map(|o| c[o][j] - rest(o)).collect();
            let norm = left.iter().map(|v| v * v).sum::<f64>().sqrt();
            let share = if norm > lambda { (norm - lambda) / norm / q[(j, j)] } else { 0.0 };
            let new: Vec<f64> = left.iter().map(|v| v * share).collect();
            moved = new.iter().zip(&w[j]).map(|(a, b)| (a - b).abs()).fold(moved, f64::max);
            w[j] = new;
        }
        if moved < 1e-15 {
            break;
        }
    }
    w
}

#[test]
fn models_of_several_outputs_at_any_penalty_are_those_of_the_group_lasso() {
    let recipes = [data::regression(60, 8, 3).outputs(3), data::regression(40, 12, 4).outputs(2).weighted()];
    for problem in [recipes[0].problem(), recipes[1].problem(), data::multiclass(60, 8, 3, 5).problem()] {
        let design = super::common::ridge_design(&problem);
        let geometry = vaglio::search::correlation(&design);
        let c = vaglio::core::Geometry::relevances(&geometry).unwrap();
        let (_, q) = moments(&design);
        let path = walk(&at(Penalties::Points(30)), &Loo::default(), &design);
        assert_eq!(path.at_penalties.len(), 30);
        for (lambda, model) in &path.at_penalties {
            let plain = by_rows(&c, &q, *lambda);
            let empty = Vec::new();
            let own = if let EntryFit::Coefficients(own) = &model.fit { own } else { &empty };
            for (feature, row) in plain.iter().enumerate() {
                let place = model.subset.iter().position(|f| *f == feature);
                for (output, plain) in row.iter().enumerate() {
                    let own = place.map_or(0.0, |place| own[place * row.len() + output]);
                    assert!((own - plain).abs() < 1e-10, "λ = {lambda}: {own} is not {plain}");
                }
            }
        }
    }
}

#[test]
fn one_penalty_is_taken_without_folds() {
    let problem = data::regression(60, 8, 4).problem();
    let selection = fit(&problem, values(&[0.2]).choose(Choose::Last));
    let path = selection.path;
    assert_eq!(path.result(), Some(&path.at_penalties[0].1));
    let above = fit(&problem, values(&[1.5]).choose(Choose::Last));
    assert!(above.path.result().is_none() && above.path.steps.is_empty());
}

#[test]
fn rules_limits_and_sizes_are_kept_to() {
    let problem = data::regression(60, 12, 9).problem();
    let grid = || at(Penalties::Grid { points: 40, least: 1e-4 });
    let with = |how: CrossValidation| Choose::CrossValidated(how);
    let best = fit(&problem, grid().choose(with(CrossValidation::new(5)))).chosen;
    let rule = CrossValidation { rule: Rule::OneSe, ..CrossValidation::new(5) };
    let near = fit(&problem, grid().choose(with(rule))).chosen;
    assert!(near.size <= best.size && near.lambda >= best.lambda);
    let few = CrossValidation { at_most: Some(2), ..CrossValidation::new(5) };
    let few = fit(&problem, grid().choose(with(few))).chosen;
    assert!(few.size <= 2 && few.lambda > best.lambda);
    let cut = fit(&problem, grid().max_features(3));
    assert!(cut.chosen.size <= 3 && cut.path.at_penalties.len() < 40);
    let many = fit(&problem, grid().min_features(6));
    assert!(many.chosen.size >= 6, "{}", many.chosen.size);
}

#[test]
fn chains_take_penalties_too() {
    let problem = data::regression(60, 12, 9).problem();
    let grid = || at(Penalties::Points(20));
    let alone = fit(&problem, grid());
    let chain = fit(&problem, Chain::new(Rank::new(12)).then(grid()));
    assert_eq!((chain.chosen.lambda, chain.chosen.cell), (alone.chosen.lambda, alone.chosen.cell));
}

#[test]
fn penalties_without_meaning_are_refused() {
    let problem = data::regression(30, 5, 7).problem();
    let refused = |search: Search| {
        let checked = linfa::ParamGuard::check(selector(search)).and_then(|valid| valid.design(&problem).map(drop));
        let error = checked.unwrap_err();
        (error.field().unwrap().to_owned(), error.to_string())
    };
    for (field, search) in [
        ("search.penalties", Lars { penalties: Some(Penalties::Values(vec![0.1])), ..Lars::default() }.into()),
        ("search.penalties", at(Penalties::Points(1))),
        ("search.penalties", values(&[])),
        ("search.penalties[1]", values(&[0.1, -0.5])),
        ("search.penalties[0]", values(&[f64::NAN])),
        ("search.penalties.least", at(Penalties::Grid { points: 5, least: 1.0 })),
        ("search.penalties.points", at(Penalties::Grid { points: 0, least: 0.1 })),
        ("search.choose", values(&[0.1]).choose(Choose::Best)),
        ("search.choose", values(&[0.1]).choose(Choose::Size(2))),
    ] {
        let (found, message) = refused(search);
        assert_eq!(found, field, "{message}");
    }
    let below = values(&[1e-9]).max_features(1);
    for search in [below.clone(), below.choose(Choose::Last)] {
        let valid = linfa::ParamGuard::check(selector(search)).unwrap();
        assert_eq!(valid.select(&problem, &mut Silent).unwrap_err().field(), Some("search.penalties"));
    }
}

#[test]
fn penalties_are_written_as_they_are_read() {
    for text in ["20", "[0.5,0.25]", r#"{"points":10,"least":0.01}"#] {
        let read: Penalties = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    for bad in [r#"{"points":10,"least":0.01,"most":1}"#, "\"many\"", "-3", r#"{"points":10}"#] {
        assert!(serde_json::from_str::<Penalties>(bad).is_err(), "{bad}");
    }
}
