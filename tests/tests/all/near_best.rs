//! Which models are as good, the share of each column, the learning curve, and figures of every size.

use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

/// The 47 provinces of Switzerland in 1888 of R's `swiss`: fertility, agriculture, examination, education, Catholic, infant
/// mortality.
const SWISS: &str = include_str!("swiss.csv");

fn close(found: &Value, expected: f64, by: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is not {expected}"));
    assert!((found - expected).abs() <= by, "{found} is not {expected}");
}

#[test]
fn figures_of_sizes_are_those_that_r_prints() {
    let folder = Folder::new("swiss");
    folder.write("train.csv", SWISS);
    let selection = folder.run(
        "version: 1\n\
         data: {train: train.csv, target: Fertility}\n\
         learner: {kind: rls, lambda: 1e-9}\n\
         criterion: loo\n\
         search: {kind: backward, min_features: 1, choose: best}\n",
    );
    let of =
        |size: u64| selection["path"].as_array().unwrap().iter().find(|entry| entry["size"] == size).unwrap().clone();
    let all = of(5);
    // summary(lm(Fertility ~ ., swiss)): R² 0.7067, adjusted 0.671; residual standard error 7.165 on 41 degrees of freedom.
    close(&all["r2"], 0.7067, 5e-5);
    close(&all["adjusted_r2"], 0.671, 5e-4);
    close(&all["freedom"], 6.0, 1e-6);
    let error = all["mse"].as_f64().unwrap();
    assert!(((47.0 * error / 41.0).sqrt() - 7.165).abs() < 5e-4);
    // step(lm(Fertility ~ ., swiss)): AIC 190.69 with all columns and 189.86 without Examination, of n ln E + 2p.
    let (n, k) = (47.0_f64, 7.0);
    close(&all["aicc"], 190.69 - 12.0 + 2.0 * k * n / (n - k - 1.0), 5e-3);
    close(&all["bic"], 190.69 - 12.0 + k * n.ln(), 5e-3);
    let four = of(4);
    close(&four["aicc"], 189.86 - 10.0 + 2.0 * 6.0 * n / (n - 6.0 - 1.0), 5e-3);
    // Cp of ISLR, (RSS + 2pσ̂²)/n with σ̂² = 7.165²; of all columns it is σ̂²(n + p)/n.
    close(&all["cp"], 7.165 * 7.165 * (47.0 + 6.0) / 47.0, 1e-2);
    // The step without Examination is the one that AIC, BIC and Cp prefer.
    for figure in ["aicc", "bic", "cp"] {
        let value = |entry: &Value| entry[figure].as_f64().unwrap();
        let best = selection["path"].as_array().unwrap().iter().min_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
        assert_eq!(best["size"], 4, "{figure}");
    }
    assert!(folder.read("out/report.html").contains("R², AICc, BIC and Cp are in “path” of selection.json"));
}

#[test]
fn figures_of_sizes_are_those_of_the_information_criterion() {
    let folder = Folder::new("swiss-ridge");
    folder.write("train.csv", SWISS);
    for (measure, key) in [("aicc", "aicc"), ("bic", "bic"), ("cp", "cp"), ("training", "mse")] {
        let selection = folder.run(&format!(
            "version: 1\n\
             data: {{train: train.csv, target: Fertility}}\n\
             preprocess: [standardize]\n\
             learner: {{kind: rls, lambda: 7.5}}\n\
             criterion: {{kind: information, measure: {measure}}}\n\
             search: {{kind: greedy, choose: last}}\n"
        ));
        for entry in selection["path"].as_array().unwrap() {
            let score = entry["score"].as_f64().unwrap();
            close(&entry[key], score, 1e-9 * score.abs());
        }
        assert_eq!(selection["path"].as_array().unwrap().len(), 5);
    }
}

/// Two classes by three of six columns, two of which say much the same.
fn classes(folder: &Folder) {
    let mut random = SplitMix64::new(21);
    let mut text = String::from("a,b,c,d,e,f,y\n");
    for _ in 0..120 {
        let x: Vec<f64> = (0..6).map(|_| random.normal()).collect();
        let b = 0.8 * x[0] + 0.6 * x[1];
        let y = if x[0] + b + x[2] + random.normal() > 0.0 { "yes" } else { "no" };
        text += &format!("{},{b},{},{},{},{},{y}\n", x[0], x[2], x[3], x[4], x[5]);
    }
    folder.write("train.csv", text);
}

const ALL: &str = "version: 1\n\
    data: {train: train.csv, target: y, test_fraction: 0.25}\n\
    criterion: {kind: kfold, folds: 5, loss: squared}\n\
    search: {kind: greedy, max_features: 5}\n\
    evaluate: {nested: {folds: 4}, alternatives: {within: one_se, count: 20}, shares: true, learning_curve: true}\n";

#[test]
fn all_of_it_is_in_the_result_the_report_and_the_table() {
    let folder = Folder::new("near-best");
    classes(&folder);
    folder.write("pipeline.yaml", ALL);
    let ran = folder.vaglio(&["run", "pipeline.yaml", "--out", "out"]).succeeded();
    let selection: Value = serde_json::from_str(&folder.read("out/selection.json")).unwrap();
    let near = &selection["alternatives"];
    assert!(near["met"].as_u64().unwrap() >= near["count"].as_u64().unwrap() && near["limit"].is_null());
    let chosen: Vec<&Value> = selection["selected"].as_array().unwrap().iter().map(|of| &of["name"]).collect();
    let own = |of: &&Value| {
        of["columns"].as_array().unwrap().len() == chosen.len()
            && chosen.iter().all(|name| of["columns"].as_array().unwrap().contains(name))
    };
    let is_listed =
        near["subsets"].as_array().unwrap().iter().chain(near["smallest"].as_array().unwrap()).any(|of| own(&of));
    assert!(is_listed, "{near}");
    let shares = &selection["shares"];
    let sum: f64 = shares["columns"].as_array().unwrap().iter().map(|of| of["share"].as_f64().unwrap()).sum();
    let score = |key: &str| selection[key].as_f64().unwrap();
    close(&sum.into(), score("empty_score") - score("score"), 1e-9);
    let points = selection["learning_curve"]["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    assert_eq!(points[3]["loss"], selection["nested"]["loss"]);
    let calibration = &selection["calibration"];
    assert_eq!((&calibration["from"], &calibration["rows"]), (&"nested".into(), &selection["data"]["rows"]));
    assert_eq!(calibration["brier"], selection["nested"]["figures"]["brier"]);
    assert!(calibration["brier"].as_f64().unwrap() < calibration["base"].as_f64().unwrap());
    let report = folder.read("out/report.html");
    for heading in ["Share of each column", "Subsets as good", "Learning curve", "Calibration of probabilities"] {
        assert!(report.contains(&format!(">{heading}</h2>")), "{heading}");
    }
    for sentence in
        ["subsets that the search visited", "Shapley values of the decrease of the score", "the held-out loss"]
    {
        assert!(ran.out.contains(sentence), "{sentence}: {}", ran.out);
    }

    // The Brier score of the test rows is that of the probabilities that `predict` gives them.
    let brier = selection["test"]["brier"].as_f64().unwrap();
    assert!(brier > 0.0 && brier < 0.5);
    let plan = folder.vaglio(&["plan", "pipeline.yaml"]);
    for line in [
        "the same on 12 parts of their training rows",
        "all 32 subsets of 5 chosen columns",
        "at most 400 subsets that the search visits",
    ] {
        assert!(plan.out.contains(line), "{line}: {}", plan.out);
    }

    // The same bits for any number of threads.
    folder.vaglio(&["run", "pipeline.yaml", "--out", "one", "--threads", "1"]).succeeded();
    let one: Value = serde_json::from_str(&folder.read("one/selection.json")).unwrap();
    for key in ["alternatives", "shares", "learning_curve", "calibration", "path", "test"] {
        assert_eq!(one[key], selection[key], "{key}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_its_name() {
    let folder = Folder::new("near-refused");
    folder.write("train.csv", SWISS);
    let pipeline = |criterion: &str, evaluate: &str| {
        format!(
            "version: 1\n\
             data: {{train: train.csv, target: Fertility}}\n\
             criterion: {criterion}\n\
             search: {{kind: greedy, max_features: 3, choose: last}}\n\
             evaluate: {evaluate}\n"
        )
    };
    for (evaluate, field) in [
        ("{alternatives: {within: one_se}}", "evaluate.alternatives.within"),
        ("{alternatives: {within: -1}}", "evaluate.alternatives.within"),
        ("{alternatives: {count: 0}}", "evaluate.alternatives.count"),
    ] {
        folder.write("pipeline.yaml", pipeline("nhsic", evaluate));
        folder.vaglio(&["plan", "pipeline.yaml"]).refused(2, field);
    }
    // A score that is no loss is shared all the same, and the report says so.
    let selection = folder.run(&pipeline("nhsic", "{alternatives: {within: 0.1}, shares: true}"));
    assert_eq!(selection["shares"]["columns"].as_array().unwrap().len(), 3);
    assert!(
        folder.read("out/report.html").contains("is no loss of predictions, and the shares are those of the score")
    );
}
