//! Estimates of time and memory by `vaglio plan`, and the time that they take.

use crate::common::{Folder, pipeline, table};
use std::time::{Duration, Instant};

/// The seconds that a plan tells.
fn seconds(plan: &str) -> f64 {
    let line = plan.lines().find(|line| line.starts_with("time ")).unwrap_or_else(|| panic!("{plan}"));
    assert!(line.contains(" at 2 Gflop/s"), "{line}");
    let unit = [" s ", " minutes ", " hours "].iter().position(|unit| line.contains(unit)).unwrap();
    let number = line.split_whitespace().find_map(|word| word.parse::<f64>().ok()).unwrap();
    number * 60_f64.powi(unit as i32)
}

fn planned(folder: &Folder, lines: &str) -> String {
    folder.write("p.yaml", pipeline(lines));
    let ran = folder.vaglio(&["plan", "p.yaml", "--set", "engine.threads=1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{lines}");
    ran.out
}

#[test]
fn time_follows_the_work() {
    let folder = Folder::new("plan-time");
    folder.write("train.csv", table(60, 8, &[]));
    let one = seconds(&planned(&folder, "search: {kind: greedy, max_features: 3, choose: last}"));
    assert!(one > 0.0 && one < 5.0, "{one}");
    let nested = "search: greedy\nevaluate: {nested: {folds: 5, repeats: 50}, permutations: 20000}";
    assert!(seconds(&planned(&folder, nested)) > 10.0 * one);
}

#[test]
fn every_engine_has_an_estimate_of_time_and_memory() {
    let folder = Folder::new("plan-engines");
    folder.write("train.csv", table(60, 8, &[("c", &|_, y| if y > 5.0 { "b" } else { "a" }.into())]));
    let exclude = "version: 1\ndata: {train: train.csv, target: y, exclude: [c]}\n";
    let classes = "version: 1\ndata: {train: train.csv, target: c, exclude: [y]}\n";
    let search = "search: {kind: greedy, max_features: 3, choose: last}\n";
    for (data, lines, engine) in [
        (exclude, "criterion: loo", "states"),
        (exclude, "criterion: {kind: kfold, folds: 5, engine: moments}", "moments"),
        (exclude, "criterion: {kind: kfold, folds: 5, loss: absolute}", "rows_held_out"),
        (exclude, "criterion: {kind: kfold, folds: 5, engine: rows_held_out}", "rows_held_out"),
        (exclude, "criterion: loo\nlearner: {kind: rls, lambda: {search: {from: 0.1, to: 10}}}", "decomposition"),
        (exclude, "criterion: {kind: kfold, folds: 5}\nlearner: knn", "refit"),
        (exclude, "criterion: nhsic", ""),
        (exclude, "criterion: mrmr", ""),
        (exclude, "criterion: {kind: information, measure: bic}", ""),
        (classes, "criterion: {kind: kfold, folds: 5, loss: auc}", "rows_held_out"),
        (classes, "criterion: {kind: kfold, folds: 5}\nlearner: {kind: crrr, lambda: 1}", ""),
    ] {
        folder.write("p.yaml", format!("{data}{search}{lines}\n"));
        let ran = folder.vaglio(&["plan", "p.yaml", "--set", "engine.threads=1"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{lines}");
        let of_engine = ran.out.lines().find(|line| line.starts_with("engine ")).unwrap();
        assert!(of_engine.contains(engine), "{lines}: {of_engine}");
        let seconds = seconds(&ran.out);
        assert!(0.0 < seconds && seconds < 10.0, "{lines}: {}", ran.out);
        assert!(ran.out.contains("for the search"), "{lines}: {}", ran.out);
    }
}

/// A second in the program as it is built for users.
#[test]
fn a_plan_comes_soon_whatever_is_set() {
    let folder = Folder::new("plan-soon");
    folder.write("train.csv", table(400, 60, &[]));
    for (lines, refusal) in [
        ("search: exhaustive", ""),
        ("search: {kind: exhaustive, max_features: 4}\ncriterion: {kind: loo, loss: absolute}", ""),
        ("criterion: {kind: nhsic, kernel: {approximation: nystrom, points: 1000000}}", "kernel.points"),
        ("criterion: {kind: nhsic, kernel: {approximation: exact}}", ""),
        ("learner: {kind: elm, units: 100000}", ""),
        ("learner: {kind: elm, units: 100000000}", "elm"),
        ("learner: {kind: elm, units: 1000000}", ""),
        ("learner: {kind: reservoir, units: 20000}", ""),
        ("learner: {kind: fs_ls_svm, landmarks: 400}\ncriterion: {kind: kfold, folds: 5}", ""),
        ("learner: {kind: svm, kernel: gaussian}\ncriterion: loo\nsearch: backward", ""),
        (
            "evaluate: {nested: {folds: 10, repeats: 100}, permutations: 100000, stability: {pairs: 10000}, shares: true}",
            "",
        ),
        ("tune: {parameters: {learner.lambda: {from: 0.001, to: 1000}}, budget: 100000}", ""),
    ] {
        folder.write("p.yaml", pipeline(lines));
        let begun = Instant::now();
        let ran = folder.vaglio(&["plan", "p.yaml"]);
        let passed = begun.elapsed();
        println!("{passed:?} {lines}");
        match refusal {
            "" => assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{lines}"),
            _ => assert!(ran.code == Some(2) && ran.err.contains(refusal), "{lines}: {:?} {}", ran.code, ran.err),
        }
        assert!(passed < Duration::from_secs(8), "{lines}: {passed:?}");
    }
}
