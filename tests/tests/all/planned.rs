//! What `vaglio plan` says of time and memory, phase by phase.

use crate::common::{Folder, pipeline, table};

const PHASES: [&str; 6] = ["read", "search", "choose", "evaluate", "fit", "report"];

/// The seconds from and to that a text tells.
fn span(text: &str) -> [f64; 2] {
    let unit = if text.contains("minutes") { 60.0 } else { 1.0 };
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    [unit * numbers[0], unit * numbers[1]]
}

/// A phase by name, with its seconds from and to, and its bytes.
type Phase = (String, [f64; 2], String);

/// The phases of a plan: names, seconds from and to, and what is told of memory; and the seconds of the total.
fn told(text: &str) -> (Vec<Phase>, [f64; 2]) {
    let from = text.lines().position(|line| line.starts_with("phases ")).unwrap_or_else(|| panic!("{text}"));
    let phases = text.lines().skip(from).take(PHASES.len()).map(|line| {
        let (name, rest) = line["phases".len()..].trim().split_once(' ').unwrap();
        let (seconds, bytes) = rest.split_once(',').unwrap_or((rest, ""));
        (name.to_owned(), span(seconds), bytes.trim().to_owned())
    });
    let total = text.lines().find(|line| line.starts_with("time ")).unwrap();
    (phases.collect(), span(total))
}

fn planned(folder: &Folder, lines: &str) -> String {
    folder.write("p.yaml", pipeline(lines));
    let ran = folder.vaglio(&["plan", "p.yaml", "--set", "engine.threads=1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{lines}");
    ran.out
}

#[test]
fn phases_sum_to_the_total() {
    let folder = Folder::new("plan-phases");
    folder.write("train.csv", table(60, 8, &[]));
    for lines in [
        "search: {kind: greedy, max_features: 3, choose: last}",
        "search: greedy",
        "evaluate: {nested: {folds: 3}, permutations: 5, stability: {pairs: 3}}",
    ] {
        let text = planned(&folder, lines);
        let (phases, total) = told(&text);
        assert_eq!(phases.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(), PHASES, "{text}");
        for end in [0, 1] {
            let sum: f64 = phases.iter().map(|(_, seconds, _)| seconds[end]).sum();
            // Every number is rounded to two digits or three decimals.
            assert!((sum - total[end]).abs() < 0.1 * total[end] + 0.004, "{sum} is not {}\n{text}", total[end]);
        }
        assert!(total[0] > 0.0 && total[1] <= 3.1 * total[0], "{text}");
    }
}

#[test]
fn what_is_repeated_has_a_phase_of_its_own() {
    let folder = Folder::new("plan-repeated");
    folder.write("train.csv", table(60, 8, &[]));
    let seconds = |lines: &str, phase: &str| {
        let (phases, _) = told(&planned(&folder, lines));
        phases.into_iter().find(|(name, ..)| name == phase).unwrap().1[1]
    };
    let last = "search: {kind: greedy, choose: last}";
    assert_eq!(seconds(last, "choose"), 0.0);
    assert!(seconds("search: greedy", "choose") > 0.0);
    assert_eq!(seconds(last, "evaluate"), 0.0);
    let nested = "search: greedy\nevaluate: {nested: {folds: 5}}";
    assert!(seconds(nested, "evaluate") > seconds(nested, "choose"));
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
        let (phases, _) = told(&ran.out);
        for (name, seconds, bytes) in &phases {
            let is_made = !["choose", "evaluate"].contains(&name.as_str());
            assert!(seconds[0] <= seconds[1] && seconds[1] < 10.0, "{name} of {lines}: {seconds:?}");
            assert_eq!(bytes.ends_with('B'), is_made, "{name} of {lines}: {bytes}");
        }
    }
}
