//! Outputs of parts in the result, in the journal and in the report.

use crate::common::Folder;
use serde_json::Value;
use vaglio_testkit::SplitMix64;

/// Numbers above 0, of which a power is normal.
fn table() -> String {
    let mut random = SplitMix64::new(5);
    let mut text = String::from("a,b,c,d,y\n");
    for _ in 0..60 {
        let x: Vec<f64> = (0..4).map(|_| random.normal().exp()).collect();
        x.iter().for_each(|x| text += &format!("{x},"));
        text += &format!("{}\n", x[0].ln() + 0.5 * x[1] + 0.3 * random.normal());
    }
    text
}

fn found(folder: &Folder, lines: &str) -> Value {
    folder.run(&format!("version: 1\nseed: 1\ndata: {{train: train.csv, target: y}}\n{lines}"))["found"].clone()
}

#[test]
fn criteria_learners_models_and_maps_tell_what_they_found() {
    let folder = Folder::new("found");
    folder.write("train.csv", table());
    let told = found(
        &folder,
        "preprocess: [{kind: power, method: box_cox}, standardize]\ncriterion: qpfs\nsearch: {kind: rank, max_features: 2, choose: last}\n\
         model: {kind: fs_ls_svm, landmarks: 20, lambda: 0.1}\n",
    );
    let exponents = told["preprocess"][0]["found"]["exponents"].as_object().unwrap();
    // The columns are powers of normal numbers with an exponent near 0.
    assert!(exponents.len() == 4 && exponents.values().all(|value| value.as_f64().unwrap().abs() < 0.5), "{told}");
    let weights = told["criterion"]["weights"].as_array().unwrap();
    let selection = folder.json("out/selection.json");
    assert_eq!(weights.len(), selection["selected"].as_array().unwrap().len());
    let sum: f64 = weights.iter().map(|weight| weight["weight"].as_f64().unwrap()).sum();
    assert!((sum + selection["score"].as_f64().unwrap()).abs() < 1e-12, "the score is the negative sum: {told}");
    let model = &told["model"];
    assert_eq!(model["landmarks"], 20);
    assert!(model["entropy"].is_number() && model["spectrum"].as_array().unwrap().len() == 20, "{model}");
    let report = folder.read("out/report.html");
    for shown in [
        "What the parts found",
        "Spectrum",
        "Entropy",
        "What the parts found: map 1 (power)",
        "What the parts found: the criterion",
    ] {
        assert!(report.contains(shown), "{shown}");
    }
    let reservoir = found(
        &folder,
        "learner: {kind: reservoir, units: 20, connectivity: 0.3}\nsearch: {kind: greedy, max_features: 2, choose: last}\n",
    );
    assert!(reservoir["learner"]["drawn_spectral_radius"].as_f64().unwrap() > 0.0, "{reservoir}");
    assert_eq!(found(&folder, "search: {kind: greedy, max_features: 2, choose: last}\n"), Value::Null);
    assert!(!folder.read("out/report.html").contains("What the parts found"));
}

#[test]
fn relevance_and_redundancy_are_the_score_of_mrmr() {
    let folder = Folder::new("found_mrmr");
    folder.write("train.csv", table());
    let told = found(&folder, "criterion: mrmr\nsearch: {kind: greedy, max_features: 3, choose: last}\n");
    let score = folder.json("out/selection.json")["score"].as_f64().unwrap();
    let of = |side: &str| {
        let columns = told["criterion"]["columns"].as_array().unwrap();
        columns.iter().map(|column| column[side].as_f64().unwrap()).sum::<f64>()
    };
    // The redundancy of the objective is over all pairs, each column with itself among them.
    let expected = (3.0 + 2.0 * of("redundancy")) / 9.0 - of("relevance") / 3.0;
    assert!((score - expected).abs() < 1e-12, "{score} {expected}");
}
