//! Pipelines whose `model` is trained on the chosen columns: they are two runs by hand, and everything judges the model.

use crate::common::{Folder, case_stride};
use linfa::prelude::*;
use ndarray::{Array1, Array2, Axis};
use serde_json::Value;
use vaglio::{Rows, prelude::*};
use vaglio_testkit::SplitMix64;

/// Learners of numbers, of every form, as pipeline files have them.
const LEARNERS: [&str; 8] = [
    "{kind: rls, lambda: {values: [0.01, 1.0, 100.0]}}",
    "{kind: rls, lambda: {grid: auto}}",
    "{kind: fs_ls_svm, landmarks: 12, lambda: {values: [0.01, 1.0]}}",
    "{kind: elm, units: 15, lambda: {values: [0.1, 10.0]}}",
    "{kind: reservoir, units: 12, connectivity: 0.5, lambda: 0.5}",
    "{kind: knn, neighbours: 3}",
    "{kind: elastic_net, lambda: 0.05}",
    "{kind: svm, kernel: gaussian, width: 3.0, tolerance: 0.001}",
];

/// Learners of classes.
const OF_CLASSES: [&str; 11] = [
    "{kind: rls, lambda: {values: [0.01, 1.0, 100.0]}}",
    "{kind: crrr, lambda: {values: [0.001, 0.1]}}",
    "{kind: fs_ls_svm, landmarks: 12, lambda: {values: [0.01, 1.0]}}",
    "{kind: elm, units: 15, lambda: {values: [0.1, 10.0]}}",
    "{kind: reservoir, units: 12, connectivity: 0.5, lambda: 0.5}",
    "{kind: kernel_logistic, lambda: 0.1}",
    "{kind: logistic, lambda: 0.5}",
    "{kind: logistic_ridge, lambda: 0.5}",
    "{kind: naive_bayes, smoothing: 0.01}",
    "{kind: tree, depth: 3, min_leaf: 3}",
    "{kind: svm, c: 2.0, tolerance: 0.001}",
];

/// Criteria by which λ of a model may be taken; learners without one do not ask.
const CRITERIA: [&str; 4] = [
    "loo",
    "{kind: kfold, folds: 4}",
    "{kind: kfold, splits: {kind: repeated, folds: 3, repeats: 2}}",
    "{kind: kfold, folds: 5, loss: absolute}",
];

/// A target that bends in one column and follows another.
fn data(rows: usize) -> (Array2<f64>, Array1<f64>, Vec<String>) {
    let mut random = SplitMix64::new(8);
    let x = Array2::from_shape_fn((rows, 7), |_| random.normal());
    let y = Array1::from_shape_fn(rows, |row| {
        (1.5 * x[[row, 2]]).sin() + 0.7 * x[[row, 5]] + 0.4 * x[[row, 1]] + 0.2 * random.normal()
    });
    // Rows of a group follow each other, as those of a series must.
    let groups = (0..rows).map(|row| format!("g{}", row * 5 / rows)).collect();
    (x, y, groups)
}

fn selection(settings: &str) -> Pipeline {
    Pipeline::from_yaml(&format!("version: 1\nseed: 3\nlearner: {{kind: rls, lambda: 1.0}}\n{settings}")).unwrap()
}

/// The learner on all columns of a table, λ by leave-one-out.
fn alone(learner: &str) -> Pipeline {
    alone_by("loo", learner)
}

/// The learner on all columns of a table, λ by a criterion.
fn alone_by(criterion: &str, learner: &str) -> Pipeline {
    let search = "search: {kind: all, choose: last}";
    Pipeline::from_yaml(&format!("version: 1\nseed: 3\nlearner: {learner}\ncriterion: {criterion}\n{search}")).unwrap()
}

/// Whether λ is taken by the criterion.
fn has_lambda(learner: &str) -> bool {
    ["rls", "crrr", "fs_ls_svm", "elm", "reservoir"].iter().any(|kind| learner.contains(&format!("kind: {kind},")))
}

fn cut(x: &Array2<f64>, y: &Array1<f64>, rows: &[usize], columns: &[usize]) -> Dataset<f64, f64, ndarray::Ix1> {
    Dataset::new(x.select(Axis(0), rows).select(Axis(1), columns), y.select(Axis(0), rows))
}

fn sorted(columns: &[usize]) -> Vec<usize> {
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Training rows and rows held out of each group, which is a fold.
fn folds(groups: &[String]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let part = |k: usize| (0..groups.len()).partition(|&row| groups[row] != format!("g{k}"));
    (0..5).map(part).collect()
}

#[test]
fn it_is_two_runs_by_hand_to_the_last_bit() {
    let (x, y, _) = data(60);
    let rows: Vec<usize> = (0..60).collect();
    let whole = Dataset::new(x.clone(), y.clone());
    let search = "search: {kind: greedy, max_features: 3, choose: last}\n";
    let chosen = selection(search).fit(&whole).unwrap();
    let part = cut(&x, &y, &rows, &sorted(chosen.indices()));
    for (learner, criterion) in LEARNERS.iter().flat_map(|learner| CRITERIA.map(|criterion| (*learner, criterion))) {
        let on = format!("{learner} by {criterion}");
        let by = if has_lambda(learner) { criterion } else { "loo" };
        let by_hand = alone_by(by, learner).fit(&part).unwrap();
        let expected: Array1<f64> = by_hand.predict(&part);
        let model = format!("{search}model: {{learner: {learner}, criterion: {criterion}}}\n");
        let fitted = selection(&model).fit(&whole).unwrap();
        assert_eq!(fitted.indices(), chosen.indices(), "{on}");
        let found: Array1<f64> = fitted.predict(&whole);
        assert_eq!(found, expected, "{on}");
        let model = fitted.selection().unwrap().final_model.as_ref().unwrap();
        assert_eq!(model.record.lambda, by_hand.lambda(), "{on}");
    }
}

/// Two classes and three, after a filter and after a selection by the learner's own score. Learners take turns; with
/// `VAGLIO_CASES=all`, all follow each.
#[test]
fn of_classes_it_is_two_runs_by_hand_to_the_last_bit() {
    let (x, y, _) = data(60);
    let two = |y: f64| if y > 0.1 { "high" } else { "low" }.to_owned();
    let three = |y: f64| {
        if y > 0.5 {
            "c".to_owned()
        } else if y > -0.5 {
            "b".to_owned()
        } else {
            "a".to_owned()
        }
    };
    let stride = case_stride(2);
    for (first, labels) in [y.mapv(two), y.mapv(three)].into_iter().enumerate() {
        let whole = Dataset::new(x.clone(), labels.clone());
        for (place, criterion) in ["nhsic", "mrmr", "{kind: kfold, folds: 4}"].into_iter().enumerate() {
            let search = format!("criterion: {criterion}\nsearch: {{kind: greedy, max_features: 3, choose: last}}\n");
            let chosen = selection(&search).fit(&whole).unwrap();
            let part = Dataset::new(x.select(Axis(1), &sorted(chosen.indices())), labels.clone());
            // Without a criterion of its own λ is taken by that of the pipeline, or by leave-one-out.
            let by = if criterion.contains("kfold") { criterion } else { "loo" };
            let fits = |learner: &&&str| !learner.contains("crrr") || labels.iter().all(|l| l.len() > 1);
            for learner in OF_CLASSES.iter().filter(fits).skip((first + place) % stride).step_by(stride) {
                let on = format!("{learner} after {criterion}");
                let by_hand = alone_by(by, learner).fit(&part).unwrap();
                let fitted = selection(&format!("{search}model: {learner}\n")).fit(&whole).unwrap();
                assert_eq!(fitted.indices(), chosen.indices(), "{on}");
                let expected = by_hand.decision_values(&part).unwrap();
                assert_eq!(fitted.decision_values(&whole).unwrap(), expected, "{on}");
            }
        }
    }
}

#[test]
fn choose_judges_the_model_at_every_size() {
    let (x, y, groups) = data(60);
    let whole = Dataset::new(x.clone(), y.clone());
    let given = Rows::new().groups(groups.clone());
    // Behind rows held out a reservoir begins anew, which a dataset of the training rows alone cannot say.
    for learner in LEARNERS.into_iter().filter(|learner| !learner.contains("reservoir")) {
        let choose = "search: {kind: greedy, max_features: 4, choose: {rule: best, folds: 5}}\n";
        let fitted = selection(&format!("{choose}model: {learner}\n")).fit_with(&whole, &given).unwrap();
        let chosen = &fitted.selection().unwrap().chosen;
        let mut losses = [0.0; 5];
        for (training, held) in folds(&groups) {
            let last = selection("search: {kind: greedy, max_features: 4, choose: last}\n");
            let walk = last.fit(&cut(&x, &y, &training, &[0, 1, 2, 3, 4, 5, 6])).unwrap();
            let mean = training.iter().map(|&row| y[row]).sum::<f64>() / training.len() as f64;
            losses[0] += held.iter().map(|&row| (y[row] - mean).powi(2)).sum::<f64>();
            for entry in walk.entries() {
                let columns = sorted(&entry.subset);
                let model = alone(learner).fit(&cut(&x, &y, &training, &columns)).unwrap();
                let predicted: Array1<f64> = model.predict(&cut(&x, &y, &held, &columns));
                let squares = held.iter().zip(&predicted).map(|(&row, p)| (y[row] - p).powi(2));
                losses[columns.len()] += squares.sum::<f64>();
            }
        }
        let table = chosen.table.as_ref().unwrap();
        for cell in &table.cells[0] {
            let expected = losses[cell.size] / 60.0;
            assert!(
                (cell.loss - expected).abs() <= 1e-10 * expected,
                "{learner} {}: {} {expected}",
                cell.size,
                cell.loss
            );
        }
        assert_eq!(table.cells[0].len(), 5);
        let best = (0..5).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
        assert_eq!(chosen.size, best, "{learner}");
    }
}

#[test]
fn nested_is_a_plain_loop() {
    let (x, y, groups) = data(60);
    let whole = Dataset::new(x.clone(), y.clone());
    for learner in LEARNERS.into_iter().filter(|learner| !learner.contains("reservoir")) {
        let pipeline = selection(&format!("search: {{kind: greedy, choose: {{folds: 2}}}}\nmodel: {learner}\n"));
        let nested = pipeline.nested_with(5, 1, &whole, &Rows::new().groups(groups.clone())).unwrap();
        let mut expected = 0.0;
        for (training, held) in folds(&groups) {
            let own: Vec<String> = training.iter().map(|&row| groups[row].clone()).collect();
            let all: Vec<usize> = (0..7).collect();
            let fitted = pipeline.fit_with(&cut(&x, &y, &training, &all), &Rows::new().groups(own)).unwrap();
            let predicted: Array1<f64> = fitted.predict(&cut(&x, &y, &held, &all));
            expected += held.iter().zip(&predicted).map(|(&row, p)| (y[row] - p).powi(2)).sum::<f64>() / 60.0;
        }
        assert!((nested.loss - expected).abs() <= 1e-10 * expected, "{learner}: {} {expected}", nested.loss);
    }
}

/// Rows of [`data`] as a table, with the groups in `part`.
fn table() -> String {
    let (x, y, groups) = data(80);
    let mut text = String::from("a,b,c,d,e,f,g,part,y\n");
    for row in 0..80 {
        x.row(row).iter().for_each(|value| text += &format!("{value},"));
        text += &format!("{},{}\n", groups[row], y[row]);
    }
    text
}

const HEAD: &str = "version: 1\nseed: 3\ndata: {train: train.csv, target: y, exclude: [part], test_fraction: 0.25}\n\
                    preprocess: [standardize]\nlearner: {kind: rls, lambda: 1.0}\n";

#[test]
fn a_run_tells_selection_and_model_and_predicts_by_the_model() {
    let folder = Folder::new("final_model");
    folder.write("train.csv", table());
    let model = "model: {learner: {kind: fs_ls_svm, landmarks: 20, lambda: {values: [0.1, 1.0]}}, criterion: loo}\n";
    let evaluate =
        "search: {kind: greedy, max_features: 4}\nevaluate: {nested: {folds: 3}, permutations: 3, intervals: 0.8}\n";
    let ridge = folder.run(&format!("{HEAD}{evaluate}"));
    let record = folder.run(&format!("{HEAD}{model}{evaluate}"));
    assert_eq!(record["pipeline"]["learner"], "rls");
    assert_eq!((&record["model"]["kind"], &record["model"]["criterion"]), (&"fs_ls_svm".into(), &"loo".into()));
    assert!([0.1, 1.0].contains(&record["model"]["lambda"].as_f64().unwrap()));
    // The first step is the ridge regression's in both; the figures are not.
    assert_eq!(record["steps"][0], ridge["steps"][0]);
    for figure in ["/test/loss", "/nested/loss", "/chosen/cross_validated", "/path/0/test"] {
        let of = |record: &Value| record.pointer(figure).unwrap().as_f64().unwrap();
        assert_ne!(of(&record), of(&ridge), "{figure}");
    }
    assert_eq!((&record["selected"][0]["weight"], &record["intercept"]), (&Value::Null, &Value::Null));
    let linear = folder.run(&format!("{HEAD}{evaluate}model: {{kind: rls, lambda: 0.5}}\n"));
    let half = folder.run(&format!("{}{evaluate}", HEAD.replace("lambda: 1.0", "lambda: 0.5")));
    // At the same size and on the same columns a ridge regression as the model is that ridge regression.
    let is_same = linear["selected"].as_array().unwrap().len() == half["selected"].as_array().unwrap().len();
    for (a, b) in linear["selected"].as_array().unwrap().iter().zip(half["selected"].as_array().unwrap()) {
        assert!(is_same && a["name"] == b["name"], "{a} {b}");
        let of = |column: &Value| column["weight"].as_f64().unwrap();
        assert!((of(a) - of(b)).abs() < 1e-10 * of(b).abs(), "{a} {b}");
    }
    // What is on disk predicts what the figures were made of.
    folder.run(&format!("{HEAD}{model}{evaluate}"));
    folder
        .vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--interval", "--evaluate"])
        .succeeded();
    folder.vaglio(&["run", "out/resolved.yaml", "--out", "again"]).succeeded();
    assert_eq!(folder.json("again/selection.json")["model"], record["model"]);
    let report = folder.read("again/report.html");
    assert!(report.contains("fs_ls_svm"), "the report names the model");
}

/// Without cross-validated walks the model is trained without each fold of the criterion, or of ten.
#[test]
fn probabilities_of_a_model_do_without_walks_in_folds() {
    for criterion in ["nhsic", "{kind: kfold, folds: 4}", "loo"] {
        for model in ["{kind: logistic_ridge, lambda: 0.5}", "{kind: fs_ls_svm, landmarks: 20, lambda: 0.1}"] {
            let folder = Folder::new("final_model_probabilities");
            let class = |_: usize, y: f64| if y > 5.0 { "up".to_owned() } else { "down".to_owned() };
            folder.write("train.csv", crate::common::table(60, 5, &[("class", &class)]));
            let lines = format!("criterion: {criterion}\nsearch: {{kind: greedy, max_features: 2, choose: last}}\n");
            let text = crate::common::pipeline(&format!("learner: rls\n{lines}model: {model}"));
            folder.run(&text.replace("target: y", "target: class, exclude: [y]"));
            let saved = folder.read("out/model.json");
            assert!(saved.contains("\"calibration\":{\"from\":\"folds\",\"rows\":60,"), "{criterion}: {saved}");
            let ran =
                folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv", "--proba"]).succeeded();
            let header: Vec<&str> = ran.out.lines().next().unwrap().split(',').collect();
            let at = |name: &str| header.iter().position(|own| *own == name).unwrap();
            let mut right = 0;
            for line in ran.out.lines().skip(1) {
                let cells: Vec<&str> = line.split(',').collect();
                let p = [at("proba_up"), at("proba_down")].map(|at| cells[at].parse::<f64>().unwrap());
                assert!((p[0] + p[1] - 1.0).abs() < 1e-12 && p.iter().all(|p| *p > 0.0), "{line}");
                right += usize::from((p[0] > p[1]) == (cells[at("label")] == "up"));
            }
            assert!(right >= 57, "{criterion} {model}: {right}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    let folder = Folder::new("final_model_refused");
    folder.write("train.csv", table());
    let refused = |model: &str, lines: &str, says: &[&str]| {
        folder.write("p.yaml", format!("{HEAD}{lines}model: {model}\n"));
        for command in ["plan", "run"] {
            let ran = folder.vaglio(&[command, "p.yaml"]);
            assert_eq!(ran.code, Some(2), "{command} {model}: {}", ran.err);
            says.iter().for_each(|says| assert!(ran.err.contains(says), "{command} {model}: {}", ran.err));
        }
    };
    refused("{kind: rls, lambda: -1.0}", "", &["model.lambda", "p.yaml:6:"]);
    refused("{learner: {kind: rls, lambda: -1.0}, criterion: loo}", "", &["model.learner.lambda", "p.yaml:6:"]);
    refused("{kind: rsl}", "", &["rsl", "`rls`", "p.yaml:6:"]);
    refused("{kind: rls, lamda: 1.0}", "", &["lamda", "lambda"]);
    refused("{learner: rls, criterion: nhsic}", "", &["model.criterion", "no loss"]);
    refused("{criterion: loo}", "", &["learner"]);
    refused("{learner: rls, search: all}", "", &["search"]);
    let tune = "{learner: {kind: rls}, tune: {parameters: {learner.lamda: {from: 1, to: 2}}}}";
    refused(tune, "", &["lamda"]);
    let elm = HEAD.replace("{kind: rls, lambda: 1.0}", "elm");
    folder.write("p.yaml", format!("{elm}model: rls\n"));
    let ran = folder.vaglio(&["plan", "p.yaml"]);
    assert!(ran.code == Some(2) && ran.err.contains("columns of the table"), "{}", ran.err);
}

#[test]
fn its_settings_are_tuned_by_its_own_criterion() {
    let folder = Folder::new("final_model_tuned");
    folder.write("train.csv", table());
    let tune = "tune: {budget: 6, parameters: {learner.kernel.bandwidth: {from: 0.5, to: 5.0}}}";
    let learner = "{kind: fs_ls_svm, landmarks: 15, lambda: 0.1, kernel: {kind: rbf, bandwidth: 1.0}}";
    let search = "search: {kind: greedy, max_features: 3, choose: last}\n";
    let record = folder.run(&format!("{HEAD}{search}model: {{learner: {learner}, criterion: loo, {tune}}}\n"));
    let model = &record["model"];
    assert!(model["tuned"].is_object(), "{model}");
    let bandwidth = model["settings"]["kernel"]["bandwidth"].as_f64().unwrap();
    assert!((0.5..=5.0).contains(&bandwidth) && model["score"].is_number(), "{model}");
}
