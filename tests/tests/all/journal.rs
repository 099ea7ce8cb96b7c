//! Runs that go on from a journal end as if they had never been stopped; journals of others are refused.

use crate::common::{Folder, Ran, case_stride, pipeline, ran, table, third, timeless};
use serde_json::Value;
use std::collections::BTreeSet;

/// A run that keeps every piece, however little work it was.
pub fn run(folder: &Folder, out: &str, more: &[&str]) -> Ran {
    let arguments = [&["run", "p.yaml", "--quiet", "--out", out], more].concat();
    ran(folder.command(&arguments).env("VAGLIO_JOURNAL", "every"))
}

fn columns(rows: usize) -> String {
    let g = |row: usize, _: f64| (row % 6).to_string();
    table(rows, 7, &[("class", &third), ("g", &g)])
}

/// A pipeline on numbers, or on classes where it says so.
fn yaml(lines: &str) -> String {
    let target = if lines.contains("by: groups") {
        "target: y, exclude: [class], groups: g"
    } else if lines.contains("# classes") {
        "target: class, exclude: [y, g]"
    } else {
        "target: y, exclude: [class, g]"
    };
    pipeline(lines).replace("target: y", target)
}

/// Entries of a journal in any order, without the positions of searches of all subsets.
fn pieces(journal: &str) -> BTreeSet<String> {
    let piece = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        format!("{} {}", line["key"], line["value"])
    };
    journal.lines().skip(1).filter(|line| !line.contains("/tree/")).map(piece).collect()
}

/// Cuts a journal after each of its lines, or `most` of them at even distances, and after the last, and goes on from there.
/// Where not all cases are tried, it is a quarter of the lines, without the first.
fn resumes_everywhere(name: &str, lines: &str, most: usize) {
    let folder = Folder::new(name);
    folder.write("train.csv", columns(36));
    folder.write("p.yaml", yaml(lines));
    let whole = run(&folder, "whole/out", &[]);
    assert_eq!(whole.code, Some(0), "{lines}\n{}", whole.err);
    let journal = folder.read("whole/out/journal.jsonl");
    let count = journal.lines().count();
    assert!(count > 3, "{lines}\n{journal}");
    let stride = case_stride(4);
    let distance = count.div_ceil(most) * stride;
    let first = if stride == 1 { 1 } else { distance / 2 };
    for cut in (first..count).step_by(distance).chain([count]) {
        let mut kept: String = journal.split_inclusive('\n').take(cut).collect();
        // Part of the next line, as a kill leaves it.
        kept.extend(journal.split_inclusive('\n').nth(cut).and_then(|line| line.get(..line.len() / 2)));
        folder.write("cut/out/journal.jsonl", kept);
        let again = run(&folder, "cut/out", &["--resume"]);
        assert_eq!(again.code, Some(0), "{lines}\nafter line {cut} of {count}: {}", again.err);
        let [a, b] = ["whole", "cut"].map(|at| timeless(folder.json(&format!("{at}/out/selection.json"))));
        assert!(a == b, "{lines}\nafter line {cut} of {count}:\n{a:#}\n{b:#}");
        for file in ["model.json", "resolved.yaml"] {
            let [a, b] = ["whole", "cut"].map(|at| folder.read(&format!("{at}/out/{file}")));
            assert_eq!(a, b, "{lines}\nafter line {cut} of {count}: {file}");
        }
        let [a, b] = [&journal, &folder.read("cut/out/journal.jsonl")].map(|journal| pieces(journal));
        let apart: Vec<&String> = a.symmetric_difference(&b).take(2).collect();
        assert!(apart.is_empty(), "{lines}\nafter line {cut} of {count}: {apart:#?}");
        std::fs::remove_dir_all(folder.path("cut")).unwrap();
    }
}

#[test]
fn constrained_searches_go_on_from_every_line() {
    for (name, search) in [
        ("signs", "{kind: floating, max_features: 4, choose: best, constraints: {signs: {x*: positive}}}"),
        ("rules", "{kind: backward, choose: {folds: 3}, constraints: {at_most: {x*: 4}, signs: {x1: positive}}}"),
        ("costs", "{kind: exhaustive, choose: best, constraints: {signs: {x1: positive}, costs: {x*: 1}, budget: 3}}"),
        (
            "absolute",
            "{kind: exhaustive, choose: best, constraints: {at_most: {x*: 3}}}\ncriterion: {kind: loo, loss: absolute}",
        ),
    ] {
        let lines = format!("learner: {{kind: rls, lambda: {{values: [0.1, 1.0, 10.0]}}}}\nsearch: {search}");
        resumes_everywhere(&format!("journal_constrained_{name}"), &lines, 12);
    }
}

/// Each search meets two of the criteria in turn; with `VAGLIO_CASES=all`, all.
#[test]
fn every_search_goes_on_from_every_line() {
    let stride = case_stride(2);
    for (first, (name, search)) in [
        ("greedy", "{kind: greedy, max_features: 5, choose: last}"),
        ("floating", "{kind: floating, max_features: 5, choose: best}"),
        ("backward", "{kind: backward, choose: best}"),
        ("exhaustive", "{kind: exhaustive, choose: best}"),
        ("beam", "{kind: beam, width: 3, max_features: 4, choose: best}"),
        ("swaps", "{kind: random, max_features: 3, polish: swaps, choose: best}"),
        ("blocks", "{kind: greedy, blocks: {p: [x0, x3]}, max_features: 4, choose: best}"),
        ("rank", "{kind: rank, max_features: 4, choose: best}"),
        ("chain", "[{kind: rank, max_features: 6}, {kind: exhaustive, max_features: 4, choose: best}]"),
    ]
    .into_iter()
    .enumerate()
    {
        for (place, criterion) in [
            "criterion: loo",
            "criterion: {kind: kfold, folds: 4}",
            "# classes\ncriterion: {kind: loo, loss: zero_one}\nlearner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0]}}",
            "# classes\ncriterion: {kind: kfold, folds: 4, loss: zero_one}\nlearner: crrr",
        ]
        .into_iter()
        .enumerate()
        .skip(first % stride)
        .step_by(stride)
        {
            resumes_everywhere(&format!("{name}-{place}"), &format!("{criterion}\nsearch: {search}"), 5);
        }
    }
}

#[test]
fn every_criterion_goes_on_from_every_line() {
    for (place, lines) in [
        "criterion: nhsic\nsearch: {kind: lars, max_features: 4}",
        "criterion: nhsic\nsearch: {kind: beam, width: 2, max_features: 4}",
        "criterion: hsic\nsearch: {kind: backward}",
        "criterion: mrmr\nsearch: {kind: greedy, max_features: 5}",
        "criterion: {kind: information, measure: aic}\nsearch: {kind: floating, max_features: 5}",
        "criterion: {kind: kfold, folds: 4}\nlearner: {kind: rls, lambda: {search: {from: 0.01, to: 100.0}}}\nsearch: {kind: greedy, max_features: 3, choose: best}",
        "criterion: {kind: kfold, folds: 4}\nlearner: {kind: knn, neighbours: 3}\nsearch: {kind: greedy, max_features: 3, choose: best}",
        "criterion: loo\nlearner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0], per: path}}\nsearch: {kind: greedy, max_features: 4, choose: best}",
        "# classes\ncriterion: {kind: kfold, splits: {kind: repeated, folds: 3, repeats: 2}, loss: zero_one}\nsearch: {kind: floating, max_features: 4, choose: best}",
        "criterion: {kind: kfold, by: groups}\nlearner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0]}}\nsearch: {kind: greedy, polish: swaps, max_features: 4, choose: best}",
        "criterion: {kind: kfold, folds: 4, loss: absolute}\npreprocess: [{kind: standardize, scope: fold}]\nsearch: {kind: floating, max_features: 5, tolerance: -1.0, choose: best}",
        "criterion: loo\nsearch: {kind: lars, coefficients: path, max_features: 4, choose: best}",
    ]
    .into_iter()
    .enumerate()
    {
        resumes_everywhere(&format!("criterion-{place}"), lines, 6);
    }
}

#[test]
fn walks_of_folds_and_repetitions_go_on_from_every_line() {
    let grid = "learner: {kind: rls, lambda: {values: [0.1, 1.0, 10.0]}}";
    for (place, lines) in [
        format!("{grid}\nsearch: {{kind: greedy, max_features: 4, choose: {{rule: one_se, folds: 3, repeats: 2}}}}"),
        format!("{grid}\nsearch: {{kind: floating, max_features: 3}}\nevaluate: {{nested: {{folds: 3}}, permutations: 3, stability: {{pairs: 2}}, intervals: 0.8}}"),
        "search: {kind: greedy, max_features: 3, choose: {fdr: 0.2}}\nevaluate: {nested: {folds: 2}, fdr: 0.3}".into(),
        "# classes\npreprocess: [standardize]\nsearch: {kind: greedy, max_features: 3}\nevaluate: {nested: {folds: 3}}".into(),
        "search: {kind: exhaustive, max_features: 3}\nevaluate: {permutations: 4, alternatives: {within: one_se}}".into(),
        "criterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 3}\nevaluate: {alternatives: {within: one_se}, shares: true, learning_curve: true}".into(),
        "search: {kind: lars, coefficients: path, penalties: 12}\nevaluate: {nested: {folds: 2}, permutations: 2}".into(),
        "tune: {search: [{kind: lars, coefficients: path, penalties: 6}, {kind: greedy, max_features: 3}]}".into(),
        "tune: {budget: 8, parameters: {learner.lambda: {from: 0.01, to: 10.0, scale: log}}}\nsearch: {kind: greedy, max_features: 3}\nevaluate: {nested: {folds: 2}}".into(),
        "tune: {budget: 4, score: search, parameters: {learner.lambda: {from: 0.01, to: 10.0, scale: log}}}\nsearch: {kind: greedy, max_features: 3}".into(),
    ]
    .into_iter()
    .enumerate()
    {
        resumes_everywhere(&format!("repeated-{place}"), &lines, 10);
    }
}

/// A folder with a finished run in `out`.
fn finished(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", columns(30));
    folder.write("p.yaml", yaml("search: {kind: greedy, max_features: 3, choose: best}"));
    run(&folder, "out", &[]).succeeded();
    folder
}

fn refused(folder: &Folder, more: &[&str], words: &str) {
    let ran = run(folder, "out", &[&["--resume"], more].concat()).refused(2, words);
    assert!(ran.err.contains("to begin anew, leave `--resume` out"), "{}", ran.err);
}

#[test]
fn altered_lines_are_refused() {
    let folder = finished("altered");
    let journal = folder.read("out/journal.jsonl");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let changed = |number: usize, line: &str| {
        let mut lines = lines.clone();
        lines[number - 1] = line;
        lines.concat()
    };
    let mut swapped = lines.clone();
    swapped.swap(1, 2);
    let third = lines[2].replacen(|c: char| c.is_ascii_digit(), "7", 3);
    for (text, number) in [
        (changed(3, &third), 3),
        (changed(3, ""), 3),
        (swapped.concat(), 2),
        (changed(4, "{}\n"), 4),
        (changed(1, &lines[0].replace("0.1.0", "0.2.0")), 1),
    ] {
        folder.write("out/journal.jsonl", &text);
        refused(&folder, &[], &format!("journal.jsonl: line {number} was altered after it was written"));
        assert_eq!(folder.read("out/journal.jsonl"), text);
    }
    folder.write("out/journal.jsonl", changed(2, &format!("\n{}", lines[1])));
    refused(&folder, &[], "a line was emptied after it was written");
}

#[test]
fn journals_of_other_runs_are_refused_and_say_what_differs() {
    let folder = finished("others");
    for (set, path) in [
        ("seed=7", "seed"),
        ("search.max_features=4", "search.max_features"),
        ("criterion=kfold", "criterion.kind"),
        ("evaluate.permutations=3", "evaluate"),
    ] {
        refused(&folder, &["--set", set], &format!("it is of a run with other settings: `{path}` differs"));
    }
    let journal = folder.read("out/journal.jsonl");
    assert_eq!(resealed(&journal), journal);
    folder.write("out/journal.jsonl", resealed(&journal.replace("\"version\":\"0.1.0\"", "\"version\":\"0.0.9\"")));
    refused(&folder, &[], "it was written by version 0.0.9 (vaglio.journal/1), and this is 0.1.0");
    folder.write("out/journal.jsonl", &journal);
    folder.write("train.csv", columns(31));
    refused(&folder, &[], "the data have changed since it was written");
}

#[test]
fn threads_and_limits_may_change_and_a_finished_run_ends_alike() {
    let folder = finished("alike");
    let first = timeless(folder.json("out/selection.json"));
    let journal = folder.read("out/journal.jsonl");
    for more in [&["--threads", "1"][..], &["--time-limit", "1h"], &["--set", "limits.memory=1GiB"]] {
        run(&folder, "out", &[&["--resume"], more].concat()).succeeded();
        let again = timeless(folder.json("out/selection.json"));
        assert_eq!(first["steps"], again["steps"]);
        assert_eq!(journal, folder.read("out/journal.jsonl"));
    }
    // Without the option a new journal begins, and the old one is kept.
    run(&folder, "out", &[]).succeeded();
    assert_eq!(pieces(&journal), pieces(&folder.read("out/journal.jsonl")));
    assert_eq!(journal, folder.read("out/journal.previous.jsonl"));
    // Nothing to resume, or nothing whole, is a beginning.
    for text in ["", "{\"format\":\"vaglio.jou"] {
        folder.write("out/journal.jsonl", text);
        run(&folder, "out", &["--resume"]).succeeded();
        assert_eq!(pieces(&journal), pieces(&folder.read("out/journal.jsonl")));
    }
}

#[test]
fn journals_hold_a_line_a_step() {
    let folder = finished("steps");
    let selection = folder.json("out/selection.json");
    let journal = folder.read("out/journal.jsonl");
    let steps: Vec<Value> = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["key"].as_str().is_some_and(|key| key.starts_with("walk/0/step/")))
        .collect();
    assert_eq!(steps.len(), selection["steps"].as_array().unwrap().len());
    for (line, step) in steps.iter().zip(selection["steps"].as_array().unwrap()) {
        assert_eq!(line["value"]["feature"], step["index"]);
        assert_eq!(line["value"]["score"][0], step["score"]);
    }
}

#[test]
fn a_hash_that_comes_behind_leaves_the_same_journal() {
    let folder = finished("behind");
    let keep = ["class", "g", "y", "x0", "x1", "x2", "x3", "x4", "x5", "x6"].map(|name| ["--keep", name]).concat();
    let written = ["predict", "--model", "out/model.json", "--data", "train.csv", "--out", "train.parquet"];
    folder.vaglio(&[&written[..], &keep].concat()).succeeded();
    let numbers = ["y", "x0", "x1", "x2", "x3", "x4", "x5", "x6"].map(|name| format!("{name}: number")).join(", ");
    let yaml = folder.read("p.yaml").replace("train.csv", "train.parquet");
    let yaml = yaml.replace("[class, g]", &format!("[class, g, prediction], types: {{{numbers}}}"));
    folder.write("p.yaml", yaml);
    let journal = |threads: &str| {
        let out = format!("{threads}/out");
        run(&folder, &out, &["--threads", threads]).succeeded();
        let journal = folder.read(&format!("{out}/journal.jsonl"));
        run(&folder, &out, &["--threads", threads, "--resume"]).succeeded();
        assert_eq!(journal, folder.read(&format!("{out}/journal.jsonl")));
        journal
    };
    let [alone, behind] = ["1", "2"].map(journal);
    assert_eq!(alone.lines().next(), behind.lines().next());
    assert_eq!(pieces(&alone), pieces(&behind));
    let digits = |out: &str| folder.json(&format!("{out}/out/selection.json"))["data"]["digest"].clone();
    let expected = format!("blake3:{}", blake3::hash(&std::fs::read(folder.path("train.parquet")).unwrap()));
    assert_eq!([digits("1"), digits("2")], [expected.as_str(), expected.as_str()]);
    let of_header: Value = serde_json::from_str(behind.lines().next().unwrap()).unwrap();
    assert_eq!(of_header["data"], expected);
}

/// A journal whose lines were changed, with the checksums that they have now.
fn resealed(journal: &str) -> String {
    let mut sum = String::new();
    let seal = |line: &str| {
        let open = &line[..line.len() - 26];
        sum = blake3::hash(format!("{sum}{open}").as_bytes()).to_hex()[..16].to_owned();
        format!("{open},\"sum\":\"{sum}\"}}\n")
    };
    journal.lines().map(seal).collect()
}
