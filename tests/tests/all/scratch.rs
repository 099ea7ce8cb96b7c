//! Tables in scratch space, beside the same tables in memory.

use crate::common::{Folder, Made, Ran, case_stride, ran, side, table, third, timeless};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Rows whose columns of bytes take 20 kB: 16 kB and more go to a scratch file.
const ROWS: usize = 20_000;

/// Lines of pipelines whose every part works on large vectors.
const PIPELINES: [&str; 8] = [
    "criterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 3, choose: {folds: 2, rule: one_se}}\n\
     preprocess: [{kind: impute, scope: fold}, one_hot, standardize]\nevaluate: {nested: {folds: 2}, intervals: 0.9}",
    "criterion: loo\nsearch: {kind: floating, max_features: 3, choose: last}\npreprocess: [{kind: impute, how: median}, one_hot]",
    "criterion: {kind: information, measure: bic}\nsearch: {kind: exhaustive, max_features: 2}\n\
     preprocess: [impute, one_hot]\nevaluate: {shares: true, alternatives: {}}",
    "criterion: mrmr\nsearch: {kind: greedy, max_features: 3, choose: last}\npreprocess: [impute, {kind: ordinal}]",
    "criterion: {kind: kfold, folds: 3}\nsearch: {kind: lars, choose: last}\n\
     preprocess: [impute, one_hot, {kind: interactions, columns: [x0, x1, x2]}]",
    "criterion: {kind: kfold, folds: 3, loss: absolute}\nsearch: {kind: greedy, max_features: 1, choose: last}\n\
     preprocess: [impute, one_hot]\ntarget_map: {kind: power, lambda: 1.5}",
    "criterion: {kind: loo}\nsearch: {kind: greedy, max_features: 2, choose: last}\nengine: {precision: single}\n\
     preprocess: [impute, one_hot]",
    "criterion: {kind: kfold, folds: 3}\nsearch: {kind: backward, choose: last}\npreprocess: [impute, {kind: target_encode, columns: [word]}]\n\
     evaluate: {learning_curve: true, permutations: 2}",
];

fn folder(name: &str, rows: usize) -> Folder {
    let folder = Folder::on_disk(name);
    let gap = |row: usize, _: f64| {
        if row.is_multiple_of(7) { String::new() } else { format!("{:.2}", 3.0 * (0.37 * row as f64).sin()) }
    };
    let word = |row: usize, y: f64| third(row + 1, y);
    let extra: [Made<'_>; 3] = [("gap", &gap), ("word", &word), ("side", &side)];
    folder.write("train.csv", table(rows, 4, &extra));
    folder.write("space/kept", "");
    folder
}

fn pipeline(folder: &Folder, lines: &str) {
    folder.write("p.yaml", format!("version: 1\ndata: {{train: train.csv, target: y, exclude: [side]}}\n{lines}\n"));
}

/// The files of a run whose settings differ only by where columns lie.
fn results(folder: &Folder, out: &str) -> (Value, Vec<String>) {
    let mut selection = timeless(folder.json(&format!("{out}/selection.json")));
    selection["pipeline"]["settings"]["data"]["scratch"] = Value::Null;
    let files = ["model.json", "resolved.yaml"].map(|name| folder.read(&format!("{out}/{name}")));
    let is_place = |line: &&str| !line.trim_start().starts_with("scratch:");
    (selection, files.iter().map(|text| text.lines().filter(is_place).collect::<Vec<_>>().join("\n")).collect())
}

#[test]
fn results_are_those_of_tables_in_memory() {
    let folder = folder("scratch-same", ROWS);
    for lines in PIPELINES.iter().step_by(case_stride(3)) {
        pipeline(&folder, lines);
        for scratch in ["never", "space"] {
            let place = format!("data.scratch={scratch}");
            let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml", "--out", scratch, "--quiet", "--set", &place]);
            assert_eq!(code, Some(0), "{lines}\n{err}");
        }
        let [memory, scratch] = ["never", "space"].map(|out| results(&folder, out));
        assert_eq!(memory.1, scratch.1, "{lines}");
        assert!(memory.0 == scratch.0, "{lines}\n{:#}\n{:#}", memory.0, scratch.0);
        let planned = folder.vaglio(&["plan", "p.yaml", "--set", "data.scratch=space"]);
        assert!(planned.out.contains("\nscratch     a file in "), "{}{}", planned.out, planned.err);
    }
}

#[test]
fn tables_beyond_the_memory_go_to_scratch_space() {
    let folder = folder("scratch-auto", 300_000);
    // Cells of text are many small blocks, which stay in memory.
    let lines = "criterion: {kind: loo}\nsearch: {kind: greedy, max_features: 2, choose: last}\npreprocess: [impute]";
    folder.write(
        "p.yaml",
        format!("version: 1\ndata: {{train: train.csv, target: y, exclude: [side, word]}}\n{lines}\n"),
    );
    let run = |memory: &str, scratch: &str, out: &str| {
        let (memory, scratch) = (format!("limits.memory={memory}"), format!("data.scratch={scratch}"));
        let mut command = folder.command(&["run", "p.yaml", "--out", out, "-v", "--set", &memory, "--set", &scratch]);
        ran(command.env("TMPDIR", folder.path("space")))
    };
    let Ran { code, err, .. } = run("25MB", "never", "never");
    assert!(code == Some(2) && err.contains("`limits.memory`: ") && !err.contains("scratch"), "{err}");
    for (memory, is_told) in [("25MB", true), ("2GB", false)] {
        let Ran { code, err, .. } = run(memory, "auto", memory);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(err.contains("what does not fit the memory goes to scratch space"), is_told, "{err}");
    }
    assert_eq!(folder.read("25MB/model.json"), folder.read("2GB/model.json"));
    assert_eq!(folder.files("space"), ["kept"]);
}

#[test]
fn a_scratch_file_has_no_name_and_ends_with_its_process() {
    // Columns of doubles take 48 kB.
    let folder = folder("scratch-killed", 6_000);
    pipeline(&folder, PIPELINES[0]);
    let run = |out: &str, more: &[&str]| {
        let mut command =
            folder.command(&[&["run", "p.yaml", "--out", out, "--set", "data.scratch=space"], more].concat());
        command.env("VAGLIO_JOURNAL", "every").stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(run("whole", &[]).status().unwrap().success());
    for wait in [20, 60, 120, 250, 500, 1000] {
        let mut child = run("out", &["--resume"]).spawn().unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(wait) {
            let named = folder.files("space");
            assert!(named.len() <= 2, "{named:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(folder.files("space"), ["kept"]);
    }
    assert!(run("out", &["--resume"]).status().unwrap().success());
    assert_eq!(results(&folder, "whole"), results(&folder, "out"));
}

#[test]
fn what_cannot_be_is_refused_and_old_words_are_read() {
    let folder = folder("scratch-words", 500);
    pipeline(&folder, "search: {kind: greedy, max_features: 1}\npreprocess: [impute, one_hot]");
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml", "--set", "data.scratch=nowhere"]);
    assert!(code == Some(2) && err.contains("`data.scratch`: ") && err.contains("nowhere: No such file"), "{err}");
    for (word, code) in [("auto", 0), ("always", 0), ("never", 0), ("often", 2)] {
        let old = format!("engine.stream={word}");
        let found = folder.vaglio(&["run", "p.yaml", "--out", word, "--quiet", "--set", &old]);
        assert_eq!(found.code, Some(code), "{}", found.err);
    }
    assert!(
        folder.read("always/resolved.yaml").contains("scratch: auto")
            && !folder.read("always/resolved.yaml").contains("stream")
    );
}
