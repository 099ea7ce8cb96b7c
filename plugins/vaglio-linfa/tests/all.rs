//! The learners keep every law and predict like linfa.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

use linfa::prelude::*;
use linfa_bayes::NaiveBayes as _;
use ndarray::Array1;
use vaglio_core::{Error, Learner, Model, Problem};
use vaglio_linfa::{ElasticNet, Logistic, LogisticRidge, NaiveBayes, Svm, SvmKernel, Tree, matrix};
use vaglio_testkit::{check_learner_on_standard_data, data, registry};

const SUBSET: [usize; 2] = [0, 3];

fn predict(learner: &dyn Learner, problem: &Problem) -> Vec<f64> {
    let model = learner.fit(problem, &SUBSET, None).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    let saved: Model = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&saved).unwrap(), text);
    assert_eq!(serde_json::to_string(&learner.fit(problem, &SUBSET, None).unwrap()).unwrap(), text);
    let columns = problem.columns().select(&SUBSET);
    let found = model.predict(&columns, None).unwrap();
    assert_eq!(saved.predict(&columns, None).unwrap(), found);
    found.row(0).to_vec()
}

fn classes(problem: &Problem) -> Array1<bool> {
    problem.targets().row(0).mapv(|y| y > 0.0)
}

#[test]
fn every_law_holds_on_the_standard_data() {
    let gaussian = Svm { kernel: SvmKernel::Gaussian, width: 4.0, ..Svm::default() };
    let learners: [(&str, &dyn Learner, f64); 7] = [
        ("logistic", &Logistic::default(), 1e-12),
        ("elastic_net", &ElasticNet::default(), 1e-12),
        ("svm", &Svm::default(), 1e-12),
        ("gaussian svm", &gaussian, 1e-12),
        ("tree", &Tree::default(), 0.0),
        ("naive_bayes", &NaiveBayes::default(), 1e-12),
        ("logistic_ridge", &LogisticRidge::default(), 1e-6),
    ];
    for (name, learner, tolerance) in learners {
        if let Err(broken) = check_learner_on_standard_data(learner, tolerance) {
            panic!("{name}: {broken}");
        }
    }
    if let Err(broken) = registry::check_registry(&[]) {
        panic!("{broken}");
    }
}

#[test]
fn predictions_are_those_of_linfa() {
    let problem = data::binary(60, 6, 3).problem();
    let x = matrix(&problem.columns().select(&SUBSET));
    let set = Dataset::new(x.clone(), classes(&problem));

    let own = linfa_logistic::LogisticRegression::default().max_iterations(1000).fit(&set).unwrap();
    let sign = if own.labels().pos.class { 1.0 } else { -1.0 };
    let expected = own.predict_probabilities(&x).mapv(|p| sign * (2.0 * p - 1.0)).to_vec();
    assert_eq!(predict(&Logistic::default(), &problem), expected);

    let own = linfa_svm::Svm::<f64, bool>::params().pos_neg_weights(1.0, 1.0).linear_kernel().fit(&set).unwrap();
    let expected: Vec<f64> = x.outer_iter().map(|row| own.weighted_sum(&row) - own.rho).collect();
    assert_eq!(predict(&Svm::default(), &problem), expected);

    let numbers = Dataset::new(x.clone(), classes(&problem).mapv(usize::from));
    let own = linfa_bayes::GaussianNb::params().fit(&numbers).unwrap();
    let (probabilities, _) = own.predict_proba(x.view());
    for (found, expected) in predict(&NaiveBayes::default(), &problem).iter().zip(probabilities.rows()) {
        assert!((found - (expected[1] - expected[0])).abs() < 1e-12, "{found} {expected}");
    }

    let own = linfa_trees::DecisionTree::params().max_depth(Some(5)).fit(&set).unwrap();
    let own = own.predict(&x);
    for (found, expected) in predict(&Tree::default(), &problem).iter().zip(own) {
        assert!(*found == 0.0 || (*found > 0.0) == expected, "{found} {expected}");
    }
}

#[test]
fn predictions_of_numbers_are_those_of_linfa() {
    let problem = data::regression(60, 6, 3).problem();
    let x = matrix(&problem.columns().select(&SUBSET));
    let set = Dataset::new(x.clone(), problem.targets().row(0).to_owned());
    let own = linfa_elasticnet::ElasticNet::params().penalty(0.1).l1_ratio(0.5).tolerance(1e-8).max_iterations(10_000);
    assert_eq!(predict(&ElasticNet::default(), &problem), own.fit(&set).unwrap().predict(&x).to_vec());
    let own = linfa_svm::Svm::<f64, f64>::params().c_svr(1.0, Some(0.1)).linear_kernel().fit(&set).unwrap();
    assert_eq!(predict(&Svm::default(), &problem), own.predict(&x).to_vec());
}

#[test]
fn a_tree_depends_on_the_values_alone() {
    // Few distinct values, so that many rows tie.
    let column = |k: usize| (0..40).map(|row| ((row * (7 + 4 * k)) % 5) as f64).collect::<Vec<f64>>();
    let targets: Vec<f64> = (0..40).map(|row| if (row * row) % 7 < 3 { 1.0 } else { -1.0 }).collect();
    let task = data::binary(4, 4, 1).problem().task().clone();
    let columns: Vec<Vec<f64>> = (0..4).map(column).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&targets], task).unwrap();
    let first = serde_json::to_string(&Tree::default().fit(&problem, &SUBSET, None).unwrap()).unwrap();
    for shift in 1..40 {
        let rows: Vec<usize> = (0..40).map(|row| (row * 3 + shift) % 40).collect();
        let again = Tree::default().fit(&problem.select_rows(&rows), &[3, 0], None).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), first);
    }
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let weighted = data::binary(20, 4, 1).weighted().problem();
    let learners: [&dyn Learner; 4] = [&Logistic::default(), &Svm::default(), &Tree::default(), &NaiveBayes::default()];
    for learner in learners {
        assert_eq!(learner.fit(&weighted, &SUBSET, None).unwrap_err().field(), Some("kind"));
    }
    assert!(LogisticRidge::default().fit(&weighted, &SUBSET, None).is_ok());
    let problem = data::binary(20, 4, 1).problem();
    let one: Vec<usize> = (0..20).filter(|&row| problem.targets()[[0, row]] > 0.0).collect();
    for learner in [&Logistic::default() as &dyn Learner, &Svm::default(), &Tree::default(), &LogisticRidge::default()]
    {
        let error = learner.fit(&problem.select_rows(&one), &SUBSET, None).unwrap_err();
        assert!(matches!(error, Error::Shape(_)), "{error}");
    }
}

/// Computes the gradient of ridge logistic regression at saved coefficients, over the sum of weights.
fn gradient(problem: &Problem, model: &serde_json::Value, lambda: f64) -> f64 {
    let x = matrix(&problem.columns().select(&SUBSET));
    let data = &model["weights"]["data"];
    let outputs = problem.targets().nrows();
    let weight = |k: usize, o: usize| data[k * outputs + o].as_f64().unwrap();
    let row_weight = |row: usize| problem.weights().map_or(1.0, |all| all[row]);
    let mut slopes = vec![[0.0; 3]; outputs];
    for row in 0..problem.rows() {
        let score = |o: usize| {
            model["intercept"][o].as_f64().unwrap() + (0..2).map(|k| weight(k, o) * x[[row, k]]).sum::<f64>()
        };
        let scores: Vec<f64> = (0..outputs).map(score).collect();
        let total: f64 = scores.iter().map(|s| s.exp()).sum();
        for (o, slopes) in slopes.iter_mut().enumerate() {
            let p = if outputs == 1 { 1.0 / (1.0 + (-scores[0]).exp()) } else { scores[o].exp() / total };
            let miss = row_weight(row) * (p - if problem.targets()[[o, row]] > 0.0 { 1.0 } else { 0.0 });
            (0..2).for_each(|k| slopes[k] += miss * x[[row, k]]);
            slopes[2] += miss;
        }
    }
    for (o, slopes) in slopes.iter_mut().enumerate() {
        (0..2).for_each(|k| slopes[k] += lambda * weight(k, o));
    }
    let total: f64 = (0..problem.rows()).map(row_weight).sum();
    slopes.iter().flatten().map(|slope| slope.abs() / total).fold(0.0, f64::max)
}

#[test]
fn ridge_logistic_regression_is_at_its_minimum() {
    for lambda in [1e-3, 0.5, 100.0] {
        for problem in [
            data::binary(60, 6, 3).problem(),
            data::binary(60, 6, 3).weighted().problem(),
            data::multiclass(60, 6, 3, 3).problem(),
            data::multiclass(60, 6, 3, 3).weighted().problem(),
        ] {
            let model = LogisticRidge { lambda, ..LogisticRidge::default() }.fit(&problem, &SUBSET, None).unwrap();
            let text = serde_json::to_value(&model).unwrap();
            let found = gradient(&problem, inside(&text), lambda);
            assert!(found < 1e-7, "{lambda}: {found}");
        }
    }
}

/// Returns the coefficients in a serialized model.
fn inside(text: &serde_json::Value) -> &serde_json::Value {
    match text.get("weights") {
        Some(_) => text,
        None => text.as_object().unwrap().values().find(|v| v.get("weights").is_some()).unwrap(),
    }
}

/// Classes that are pure noise, so that values near the minimum differ by rounding only.
#[test]
fn ridge_logistic_regression_ends_where_rounding_decides() {
    let mut random = vaglio_testkit::SplitMix64::new(8);
    for round in 0..60 {
        let columns: Vec<Vec<f64>> = (0..4).map(|_| (0..60).map(|_| random.normal()).collect()).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let targets: Vec<f64> =
            (0..60).map(|row| if columns[round % 4][row] + random.normal() > 0.1 { 1.0 } else { -1.0 }).collect();
        let task = data::binary(4, 4, 1).problem().task().clone();
        let problem = data::given(&columns, &[&targets], task).unwrap();
        let learner = LogisticRidge { lambda: 10.0_f64.powi(round as i32 % 6 - 3), ..LogisticRidge::default() };
        learner.fit(&problem, &SUBSET, None).unwrap();
    }
}
