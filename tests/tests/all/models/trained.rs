//! Models of every learner, trained once for all tests.

use crate::common::{Folder, pipeline, table};
use std::sync::LazyLock;
use vaglio::core::{Description, Role, descriptions};

/// Small settings for learners whose defaults are made for larger data.
fn settings(kind: &str) -> String {
    let more = match kind {
        "elm" => ", units: 8",
        "fs_ls_svm" => ", landmarks: 8",
        "reservoir" => ", units: 8, connectivity: 0.6",
        "knn" => ", neighbours: 3, weights: distance",
        _ => "",
    };
    format!("{{kind: {kind}{more}}}")
}

fn learners() -> Vec<&'static str> {
    let all: Vec<&'static Description> =
        descriptions().into_iter().filter(|d| d.role == Role::Learner && d.package != "vaglio-external").collect();
    assert!(all.len() >= 3, "{all:?}");
    all.into_iter().map(|d| d.kind).collect()
}

/// A table with classes and colours.
fn training() -> String {
    let class = |row: usize, _: f64| ["a", "b", "c"][row % 3].to_owned();
    let colour = |row: usize, _: f64| ["rot", "grün"][row / 2 % 2].to_owned();
    table(30, 4, &[("class", &class), ("colour", &colour)])
}

/// A folder with the model of each learner, and the names of their files.
pub fn models(name: &str) -> (Folder, Vec<String>) {
    static MODELS: LazyLock<Vec<(String, String)>> = LazyLock::new(trained);
    let folder = Folder::new(name);
    folder.write("train.csv", training());
    MODELS.iter().for_each(|(name, text)| folder.write(name, text));
    (folder, MODELS.iter().map(|(name, _)| name.clone()).collect())
}

/// The model file of each learner on classes and one_hot columns, and, where it can be, on numbers, with its name.
fn trained() -> Vec<(String, String)> {
    let folder = Folder::new("models");
    folder.write("train.csv", training());
    let mut made = Vec::new();
    for kind in learners() {
        for target in ["class, exclude: [y]", "y, exclude: [class]"] {
            let lines = format!(
                "preprocess: [one_hot, {{kind: standardize, target: {}}}]\nlearner: {}\nsearch: {{kind: greedy, max_features: 3, choose: last}}\ncriterion: {{kind: kfold, folds: 3}}",
                target.starts_with('y'),
                settings(kind)
            );
            folder.write("p.yaml", pipeline(&lines).replace("target: y", &format!("target: {target}")));
            let out = format!("{kind}-{}", &target[..1]);
            let ran = folder.vaglio(&["run", "p.yaml", "--out", &out, "--quiet"]);
            let of_classes =
                ["crrr", "kernel_logistic", "logistic", "logistic_ridge", "naive_bayes", "tree"].contains(&kind);
            if if target.starts_with('y') { of_classes } else { kind == "elastic_net" } {
                assert_eq!(ran.code, Some(2), "{}", ran.err);
                continue;
            }
            assert_eq!(ran.code, Some(0), "{lines}\n{}", ran.err);
            made.push(format!("{out}/model.json"));
        }
    }
    // One with the models of outer folds beside its own.
    let lines = "preprocess: [one_hot, {kind: standardize, target: true}]\n\
                 search: {kind: greedy, max_features: 3, choose: last}\n\
                 evaluate: {intervals: 0.8, nested: {folds: 2}}";
    folder.write("p.yaml", pipeline(lines).replace("target: y", "target: y, exclude: [class]"));
    folder.vaglio(&["run", "p.yaml", "--out", "intervals", "--quiet"]).succeeded();
    made.push("intervals/model.json".into());
    made.into_iter().map(|name: String| (name.clone(), folder.read(&name))).collect()
}
