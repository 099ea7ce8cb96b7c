//! Searches in turn: what a list of them finds is what the stages find one by one, and where it is wrong is said.

use crate::common::{Folder, pipeline, table};
use serde_json::Value;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(50, 9, &[]));
    folder
}

fn names(record: &Value) -> Vec<String> {
    record["selected"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap().into()).collect()
}

/// Stages by hand: the columns that the first takes are all that the second is given.
#[test]
fn a_chain_is_its_stages_run_by_hand() {
    let folder = folder("chain");
    for (criterion, first, second) in [
        ("loo", "{kind: rank, max_features: 5, choose: last}", "{kind: greedy, choose: best}"),
        (
            "{kind: kfold, folds: 4}",
            "{kind: backward, min_features: 4, choose: last}",
            "{kind: exhaustive, choose: best}",
        ),
        ("nhsic", "{kind: rank, max_features: 6, choose: last}", "{kind: lars, max_features: 3, choose: last}"),
        ("{kind: information, measure: bic}", "{kind: greedy, choose: best}", "{kind: floating, choose: best}"),
    ] {
        let yaml = |search: &str| pipeline(&format!("learner: rls\ncriterion: {criterion}\nsearch: {search}"));
        let chained = folder.run(&yaml(&format!("[{first}, {second}]")));
        let one = folder.run(&yaml(first));
        let taken = names(&one);
        let all: Vec<String> =
            one["candidates"].as_array().unwrap().iter().map(|n| n.as_str().unwrap().into()).collect();
        let excluded: Vec<&String> = all.iter().filter(|name| !taken.contains(name)).collect();
        let left: Vec<&str> = excluded.iter().map(|name| name.as_str()).collect();
        let two = yaml(second).replace("target: y", &format!("target: y, exclude: [{}]", left.join(", ")));
        let two = folder.run(&two);
        assert_eq!(names(&chained), names(&two), "{criterion}");
        let [a, b] = [&chained, &two].map(|record| record["score"].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{criterion}: {a} is not {b}");
        let stage = &chained["stages"][0];
        assert_eq!(stage["search"], one["pipeline"]["search"]);
        let of_stage: Vec<&str> =
            stage["taken"].as_array().unwrap().iter().map(|k| all[k.as_u64().unwrap() as usize].as_str()).collect();
        assert_eq!(of_stage, taken);
        assert_eq!(stage["score"], one["score"]);
    }
}

/// Without `choose` a stage hands on the largest subset, and the last is cross-validated with all before it.
#[test]
fn the_last_stage_chooses_and_the_configuration_repeats_the_run() {
    let folder = folder("chain-choose");
    let record = folder.run(&pipeline("search: [{kind: rank, max_features: 6}, greedy]"));
    assert_eq!(record["chosen"]["by"], "cross_validation");
    assert_eq!(record["stages"][0]["taken"].as_array().unwrap().len(), 6);
    let resolved = std::fs::read_to_string(folder.path("out/resolved.yaml")).unwrap();
    assert!(resolved.contains("search:\n- kind: rank") || resolved.contains("search:\n  - kind: rank"), "{resolved}");
    let again = folder.vaglio(&["run", "out/resolved.yaml", "--out", "again", "--json"]);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    for key in ["path", "steps", "stages", "chosen", "selected", "score"] {
        assert_eq!(record[key], again[key], "{key}");
    }
    folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).succeeded();
    folder.vaglio(&["plan", "p.yaml"]).succeeded();
    folder.vaglio(&["report", "out"]).succeeded();
}

#[test]
fn what_is_wrong_with_a_stage_names_its_place() {
    let folder = folder("chain-refused");
    for (search, message) in [
        ("[]", "`search`: a list of searches has none"),
        ("[{kind: rank, max: 3}, greedy]", "`search[0].max`: there is no key `max`"),
        ("[rank, gredy]", "`search[1].kind`: there is no search `gredy`; did you mean `greedy`?"),
        ("[{kind: rank, choose: {folds: 3}}, greedy]", "`search[0].choose`: the last search is cross-validated"),
        (
            "[{kind: greedy, max_features: 2}, {kind: greedy, forced: [x1, x2, x3, x4, x5, x6, x7, x8]}]",
            "was not taken by the search before",
        ),
    ] {
        folder.write("p.yaml", pipeline(&format!("search: {search}")));
        folder.vaglio(&["run", "p.yaml", "--out", "out"]).refused(2, message);
    }
}
