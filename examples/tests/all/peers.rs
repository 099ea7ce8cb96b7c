//! Compares selections with those of other programs: the pipelines of `examples/peers` and the printed results of its
//! scripts.

use crate::pages::root;
use serde_json::Value;
use std::process::Command;

/// Printed result of a peer, and `selection.json` of the matching pipeline.
fn both(name: &str) -> (String, Value) {
    let peers = root().join("examples/peers");
    let out = std::env::temp_dir().join(format!("vaglio-peer-{name}-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_vaglio-of-the-book"));
    command.arg("run").arg(peers.join(format!("{name}.yaml"))).arg("--out").arg(&out).args(["--quiet", "--json"]);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
    std::fs::remove_dir_all(out).unwrap();
    (std::fs::read_to_string(peers.join(format!("{name}.txt"))).unwrap(), serde_json::from_slice(&ran.stdout).unwrap())
}

/// Selected columns in order of entry.
fn selected(result: &Value) -> Vec<&str> {
    result["selected"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect()
}

fn six_digits(number: &Value) -> String {
    format!("{:.6}", number.as_f64().unwrap())
}

#[test]
fn rlscore_adds_the_same_columns_at_the_same_losses() {
    let (printed, result) = both("greedy_rls");
    let steps = result["path"].as_array().unwrap();
    let ours = selected(&result).into_iter().zip(steps).skip(1); // The first is the constant.
    let ours: Vec<String> = ours.map(|(name, step)| format!("{name:<4} {}", six_digits(&step["score"]))).collect();
    assert_eq!(ours, printed.lines().collect::<Vec<_>>());
}

#[test]
fn scikit_learn_selects_the_same_columns_and_errs_alike() {
    let (printed, result) = both("sequential_feature_selector");
    let mut lines = printed.lines();
    let mut theirs: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let mut ours = selected(&result);
    theirs.sort_unstable();
    ours.sort_unstable();
    assert_eq!(ours, theirs);
    let test = &result["test"]["mse"];
    assert_eq!(lines.next(), Some(format!("test {}", six_digits(test)).as_str()));
}

#[test]
fn pyhsiclasso_walks_the_same_path() {
    let (printed, result) = both("hsic_lasso");
    assert_eq!(selected(&result), printed.lines().collect::<Vec<_>>());
}
