//! Models of linfa as learners of pipelines: what is saved predicts what linfa itself predicts on the chosen columns.

use crate::common::{Folder, names, pipeline, pipeline_on, side, table, third};
use linfa::prelude::*;
use ndarray::{Array1, Array2};
use std::collections::HashMap;

/// The table of a folder by column.
fn columns(text: &str) -> HashMap<String, Vec<String>> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<String>> = lines.collect();
    header.into_iter().enumerate().map(|(k, name)| (name, rows.iter().map(|row| row[k].clone()).collect())).collect()
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

/// A run on a table with two targets of classes and one of numbers.
struct Ran {
    folder: Folder,
    data: HashMap<String, Vec<String>>,
    record: serde_json::Value,
}

impl Ran {
    fn new(target: &str, lines: &str) -> Self {
        let folder = Folder::new("linfa-learners");
        let text = table(60, 6, &[("two", &side), ("three", &third)]);
        folder.write("train.csv", &text);
        let yaml = pipeline_on(target, &["y", "two", "three"], lines);
        let record = folder.run(&yaml.replace("target: two", "target: two, positive: high"));
        Ran { folder, data: columns(&text), record }
    }

    /// The chosen columns in the order of the table, rows × columns.
    fn x(&self) -> Array2<f64> {
        let mut chosen = names(&self.record);
        chosen.sort_unstable();
        let of: Vec<Vec<f64>> = chosen.iter().map(|name| numbers(&self.data[*name])).collect();
        Array2::from_shape_fn((60, of.len()), |(row, k)| of[k][row])
    }

    /// Predictions of the saved model, by the name of the column.
    fn predicted(&self, more: &[&str]) -> HashMap<String, Vec<String>> {
        let ran = self
            .folder
            .vaglio(&[&["predict", "--model", "out/model.json", "--data", "train.csv"], more].concat())
            .succeeded();
        columns(&ran.out)
    }
}

const SEARCH: &str = "criterion: {kind: kfold, folds: 5}\nsearch: {kind: greedy, max_features: 2, choose: last}";

#[test]
fn a_saved_model_of_classes_predicts_what_linfa_predicts_to_the_bit() {
    let of = |learner: &str| {
        let ran = Ran::new("two", &format!("learner: {learner}\n{SEARCH}"));
        let is_high: Array1<bool> = ran.data["two"].iter().map(|class| class == "high").collect();
        let found = ran.predicted(&[]);
        (Dataset::new(ran.x(), is_high), numbers(&found["prediction"]), found["label"].clone())
    };

    let (set, found, _) = of("{kind: logistic, lambda: 0.5}");
    let own = linfa_logistic::LogisticRegression::default().alpha(0.5).max_iterations(1000).fit(&set).unwrap();
    let sign = if own.labels().pos.class { 1.0 } else { -1.0 };
    assert_eq!(found, own.predict_probabilities(set.records()).mapv(|p| sign * (2.0 * p - 1.0)).to_vec());

    let (set, found, labels) = of("{kind: svm, c: 2.0, kernel: gaussian, width: 3.0}");
    let params = linfa_svm::Svm::<f64, bool>::params().eps(1e-7).pos_neg_weights(2.0, 2.0).gaussian_kernel(3.0);
    let own = params.fit(&set).unwrap();
    let expected: Vec<f64> = set.records().outer_iter().map(|row| own.weighted_sum(&row) - own.rho).collect();
    assert_eq!(found, expected);
    let classes: Array1<bool> = own.predict(set.records());
    assert_eq!(labels, classes.iter().map(|high| if *high { "high" } else { "low" }).collect::<Vec<_>>());

    // Of these two the classes are linfa's, and what goes out is more: the probability.
    let as_words = |classes: &Array1<bool>| -> Vec<&str> {
        classes.iter().map(|high| if *high { "high" } else { "low" }).collect()
    };
    let (set, _, labels) = of("{kind: tree, depth: 3, min_leaf: 4}");
    let params = linfa_trees::DecisionTree::params().max_depth(Some(3)).min_weight_leaf(4.0);
    assert_eq!(labels, as_words(&params.fit(&set).unwrap().predict(set.records())));
    let (set, found, labels) = of("naive_bayes");
    let own = linfa_bayes::GaussianNb::params().fit(&set).unwrap();
    assert_eq!(labels, as_words(&own.predict(set.records())));
    let (of, classes) = linfa_bayes::NaiveBayes::predict_proba(&own, set.records().view());
    let high = classes.iter().position(|class| **class).unwrap();
    for (found, p) in found.iter().zip(of.column(high)) {
        assert!((found - (2.0 * p - 1.0)).abs() < 1e-12, "{found} {p}");
    }
}

#[test]
fn a_saved_model_of_numbers_predicts_what_linfa_predicts_to_the_bit() {
    let of = |learner: &str| {
        let ran = Ran::new("y", &format!("learner: {learner}\n{SEARCH}"));
        let y = Array1::from(numbers(&ran.data["y"]));
        (Dataset::new(ran.x(), y), numbers(&ran.predicted(&[])["prediction"]))
    };
    let (set, found) = of("{kind: elastic_net, lambda: 0.05, l1_ratio: 0.7}");
    let params = linfa_elasticnet::ElasticNet::params().penalty(0.05).l1_ratio(0.7);
    let own = params.tolerance(1e-8).max_iterations(10_000).fit(&set).unwrap();
    assert_eq!(found, own.predict(set.records()).to_vec());
    let (set, found) = of("{kind: svm, c: 0.5, kernel: gaussian, width: 3.0, epsilon: 0.2}");
    let params = linfa_svm::Svm::<f64, f64>::params().eps(1e-7).c_svr(0.5, Some(0.2)).gaussian_kernel(3.0);
    assert_eq!(found, params.fit(&set).unwrap().predict(set.records()).to_vec());
}

/// One model of several classes: as the learner of the search, and as the final model of a ridge selection.
#[test]
fn ridge_logistic_regression_has_one_model_of_several_classes() {
    let search = "search: {kind: greedy, max_features: 3}";
    for (lines, chosen_by) in [
        (format!("learner: {{kind: logistic_ridge, lambda: 0.5}}\n{SEARCH}"), "logistic_ridge"),
        (format!("learner: rls\n{search}\nmodel: {{kind: logistic_ridge, lambda: 0.5}}"), "rls"),
    ] {
        let ran = Ran::new("three", &lines);
        assert_eq!(ran.record["pipeline"]["learner"], chosen_by);
        let found = ran.predicted(&[]);
        let classes = ["a", "b", "c"];
        let predictions = classes.map(|class| numbers(&found[&format!("prediction_{class}")]));
        let mut of_classes = [0.0; 3];
        for row in 0..60 {
            let p: Vec<f64> = predictions.iter().map(|of| (1.0 + of[row]) / 2.0).collect();
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p.iter().all(|p| *p >= 0.0), "{p:?}");
            (0..3).for_each(|k| of_classes[k] += p[k]);
            let most = (0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap();
            assert_eq!(found["label"][row], classes[most]);
        }
        // Intercepts are not penalized: at the minimum the probabilities of a class add up to its rows.
        for (k, class) in classes.iter().enumerate() {
            let rows = ran.data["three"].iter().filter(|own| own == class).count() as f64;
            assert!((of_classes[k] - rows).abs() < 1e-5, "{class}: {} of {rows}", of_classes[k]);
        }
    }
}

/// Probabilities are calibrated on rows held out, and the saved figures are losses of probabilities.
#[test]
fn probabilities_of_classes_are_written_and_judged() {
    for learner in ["logistic", "logistic_ridge", "naive_bayes", "tree", "svm"] {
        for target in ["two", "three"] {
            let lines = format!(
                "preprocess: [standardize]\nlearner: {learner}\ncriterion: {{kind: kfold, folds: 4, loss: log_loss}}\n\
                 search: {{kind: greedy, max_features: 2, choose: {{rule: best, folds: 4}}}}"
            );
            let ran = Ran::new(target, &lines);
            assert!(ran.record["score"].as_f64().unwrap() > 0.0, "{learner} {target}");
            let found = ran.predicted(&["--proba"]);
            let names: &[&str] = if target == "two" { &["high", "low"] } else { &["a", "b", "c"] };
            let of: Vec<Vec<f64>> = names.iter().map(|name| numbers(&found[&format!("proba_{name}")])).collect();
            for row in 0..60 {
                let total: f64 = of.iter().map(|p| p[row]).sum();
                assert!((total - 1.0).abs() < 1e-9 && of.iter().all(|p| (0.0..=1.0).contains(&p[row])), "{learner}");
            }
        }
    }
}

/// Row weights, numbers for classes and classes for numbers are refused by `plan` already, where the learner stands.
#[test]
fn what_linfa_cannot_learn_is_refused_where_it_stands() {
    let folder = Folder::new("linfa-refused");
    folder.write("train.csv", table(60, 6, &[("two", &side), ("w", &|row, _| format!("{}", 1 + row % 3))]));
    for (learner, data, says) in [
        ("logistic", "target: two, exclude: [y], weights: w", "takes no row weights"),
        ("elastic_net", "target: two, exclude: [y, w]", "the target is classes"),
        ("tree", "target: y, exclude: [two, w]", "the target is numbers"),
        ("{kind: svm, c: -1}", "target: y, exclude: [two, w]", "c"),
        ("{kind: logistic, lamda: 1}", "target: two, exclude: [y, w]", "lambda"),
    ] {
        for lines in [format!("learner: {learner}\nsearch: greedy"), format!("search: greedy\nmodel: {learner}")] {
            folder.write("p.yaml", pipeline(&lines).replace("target: y", data));
            let ran = folder.vaglio(&["plan", "p.yaml"]);
            assert_eq!(ran.code, Some(2), "{lines}: {}", ran.err);
            assert!(ran.err.contains(says) && ran.err.contains("p.yaml:"), "{lines}: {}", ran.err);
        }
    }
}
