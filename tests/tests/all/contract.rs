//! Files and output of a run.

use crate::common::{Folder, case_stride, pipeline, ran, root, table, timeless};
use serde_json::Value;
use vaglio_testkit::tries_all_cases;

const FILES: [&str; 5] = ["journal.jsonl", "model.json", "report.html", "resolved.yaml", "selection.json"];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn small(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(30, 5, &[("class", &crate::common::side)]));
    folder.write(
        "p.yaml",
        pipeline("search: {kind: greedy, max_features: 3}").replace("target: y", "target: y, exclude: [class]"),
    );
    folder
}

#[test]
fn a_run_writes_exactly_its_files_with_every_key_in_order() {
    let folder = small("files");
    folder.write("p.yaml", folder.read("p.yaml").replace("exclude", "test_fraction: 0.2, exclude"));
    folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
    assert_eq!(folder.files("out"), FILES);
    let selection = folder.json("out/selection.json");
    let top = "schema status stop_reason version seed warnings pipeline data candidates empty_score steps path chosen \
               selected outside score lambda intercept equation excluded numerics test nested permutations stability verify seconds \
               peak_memory_bytes report";
    assert_eq!(keys(&selection), top.split_whitespace().collect::<Vec<_>>());
    for (value, names) in [
        (&selection["pipeline"], "learner criterion search loss engine settings"),
        (&selection["data"], "rows features outputs targets classes digest test_rows columns"),
        (&selection["steps"][0], "step action index name score standard_error lambda size tied"),
        (
            &selection["path"][0],
            "size step score standard_error lambda cross_validated cross_validated_error difference_error train mse r2 \
             adjusted_r2 freedom aicc bic cp test",
        ),
        (
            &selection["chosen"],
            "by rule size lambda cross_validated standard_error empty_loss folds repeats interval level differences gain_test sizes",
        ),
        (&selection["selected"][0], "index name weight original_weight without substitutes alone vif"),
        (
            &selection["test"],
            "rows loss empty_loss mse r2 nrmse error_rate balanced_error_rate auc standard_error confusion",
        ),
        (&selection["seconds"], "read search choose evaluate fit total"),
    ] {
        assert_eq!(keys(value), names.split(' ').collect::<Vec<_>>());
    }
    assert_eq!(selection["schema"], "vaglio.selection/2");
    assert_eq!((&selection["status"], &selection["stop_reason"]), (&"complete".into(), &"max_features".into()));
    assert_eq!((&selection["data"]["rows"], &selection["data"]["outputs"]), (&24.into(), &1.into()));
    assert_eq!((&selection["nested"], &selection["verify"]), (&Value::Null, &Value::Null));
    for (k, step) in selection["steps"].as_array().unwrap().iter().enumerate() {
        let entry = &selection["path"][k];
        assert_eq!((step["step"].as_u64(), &step["action"]), (Some(k as u64 + 1), &"add".into()));
        assert_eq!((&step["size"], &step["score"]), (&entry["size"], &entry["score"]));
        assert_eq!((&entry["step"], &entry["subset"]), (&step["step"], &Value::Null));
    }
    let report = folder.read("out/report.html");
    assert!(report.contains("<html") && !report.contains("src=\"http"));
}

#[test]
fn data_go_to_standard_output_and_words_to_standard_error() {
    let folder = small("streams");
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json"]).succeeded();
    assert_eq!(ran.out, folder.read("out/selection.json"));
    assert!(ran.err.contains("out/report.html"), "{}", ran.err);
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.out.contains("x1") && ran.out.contains("score") && ran.out.lines().count() < 20, "{}", ran.out);
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet", "--json", "-vv"]);
    assert_eq!(ran.out, folder.read("out/selection.json"));
    assert!(ran.err.contains("search"), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let ran = folder.vaglio(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(ran.out.contains("vaglio") || ran.out.contains("Usage"), "{}", ran.out);
    }
}

#[test]
fn the_folder_is_runs_and_the_stem_and_assignments_win() {
    let folder = small("default");
    std::fs::create_dir(folder.path("sub")).unwrap();
    let text = folder.read("p.yaml").replace("train.csv", "../train.csv");
    folder.write("sub/my.first.yaml", text);
    folder
        .vaglio(&["run", "sub/my.first.yaml", "--set", "search.max_features=2", "--set", "learner.lambda=0.5"])
        .succeeded();
    assert_eq!(folder.files("runs/my.first"), FILES);
    let selection = folder.json("runs/my.first/selection.json");
    assert_eq!(selection["steps"].as_array().unwrap().len(), 2);
    assert_eq!(selection["lambda"], 0.5);
    assert!(folder.read("runs/my.first/resolved.yaml").contains("max_features: 2"));
}

#[test]
fn the_resolved_configuration_repeats_the_run() {
    let folder = small("resolved");
    folder.write("sub/train.csv", folder.read("train.csv"));
    let more =
        "preprocess: [standardize]\nlearner: {kind: rls, lambda: {grid: {from: 0.01, to: 100, points: 5}}}\nseed: 3";
    folder.write("sub/p.yaml", folder.read("p.yaml").replace("exclude", "test_fraction: 0.3, exclude") + more);
    folder.vaglio(&["run", "sub/p.yaml", "--out", "a/first"]).succeeded();
    let resolved = folder.read("a/first/resolved.yaml");
    for word in [
        "intercept: true",
        "loss: squared",
        "seed: 3",
        "rule: best",
        "folds: 5",
        "per: path",
        "threads: 0",
        "points: 5",
    ] {
        assert!(resolved.contains(word), "{word}\n{resolved}");
    }
    folder.vaglio(&["run", "a/first/resolved.yaml", "--out", "second"]).succeeded();
    assert_eq!(timeless(folder.json("a/first/selection.json")), timeless(folder.json("second/selection.json")));
    assert_eq!(folder.read("a/first/model.json"), folder.read("second/model.json"));
    folder.vaglio(&["run", "second/resolved.yaml", "--out", "second"]).succeeded();
    assert_eq!(timeless(folder.json("a/first/selection.json")), timeless(folder.json("second/selection.json")));
}

#[test]
fn threads_change_no_bit_and_instruction_sets_no_choice() {
    let folder = small("threads");
    folder.write("train.csv", table(101, 40 / case_stride(2), &[]));
    for lines in ["", "criterion: {kind: loo, loss: absolute}\nsearch: {kind: greedy, max_features: 6}"] {
        folder.write("p.yaml", pipeline(lines));
        let mut texts = Vec::new();
        for threads in ["1", "2", "3"] {
            let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--threads", threads, "--json"]).succeeded();
            texts.push(serde_json::to_string(&timeless(serde_json::from_str(&ran.out).unwrap())).unwrap());
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "{lines}");
        let first: Value = serde_json::from_str(&texts[0]).unwrap();
        for level in ["baseline", "avx2", "avx512"] {
            let ran = ran(folder.command(&["run", "p.yaml", "--out", "out", "--json"]).env("VAGLIO_CPU", level));
            let other: Value = serde_json::from_str(&ran.out).unwrap();
            assert_eq!(first["steps"].as_array().unwrap().len(), other["steps"].as_array().unwrap().len());
            for (a, b) in first["steps"].as_array().unwrap().iter().zip(other["steps"].as_array().unwrap()) {
                assert_eq!(a["index"], b["index"], "{level}");
                let (a, b) = (a["score"].as_f64().unwrap(), b["score"].as_f64().unwrap());
                assert!((a - b).abs() <= 1e-12 * a.abs(), "{level}: {a} {b}");
            }
        }
    }
}

#[test]
fn an_earlier_result_is_set_aside() {
    let folder = small("previous");
    folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
    let first = folder.read("out/selection.json");
    for refused in
        [&["--set", "search.max_feature=2"][..], &["--set", "seed=7", "--resume"], &["--set", "data.target=x9"]]
    {
        let ran = folder.vaglio(&[&["run", "p.yaml", "--out", "out"], refused].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{refused:?}: {}", ran.err);
        // Settings that are refused leave the result as it is.
        assert_eq!(folder.read("out/selection.json"), first, "{refused:?}");
        assert!(folder.path("out/model.json").exists() && !folder.path("out/model.previous.json").exists());
    }
    let table = folder.read("train.csv");
    folder.write("train.csv", table.replacen('\n', "\nx,", 1));
    assert_eq!(folder.vaglio(&["run", "p.yaml", "--out", "out"]).code, Some(3));
    assert!(!folder.path("out/selection.json").exists());
    assert_eq!(folder.read("out/selection.previous.json"), first);
    folder.write("train.csv", table);
    folder.vaglio(&["run", "p.yaml", "--out", "out"]).succeeded();
    assert_eq!(folder.read("out/selection.previous.json"), first);
    assert_eq!(folder.json("out/selection.json")["status"], "complete");
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_the_search() {
    let folder = small("unwritable");
    folder.write("file", "in the way");
    for out in ["file", "file/below"] {
        let ran = folder.vaglio(&["run", "p.yaml", "--out", out]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.err.contains(out) && ran.err.contains("cannot be written"), "{}", ran.err);
    }
    assert_eq!(folder.read("file"), "in the way");
}

/// Pages of the book print the results of most examples, which another test compares; the others are run here: as far as
/// two columns, or whole with `VAGLIO_CASES=all`.
#[test]
fn examples_without_a_page_run() {
    let folder = Folder::new("examples");
    let pages: String = crate::tidy::files("book/src", ".md").into_iter().map(|(_, text)| text).collect();
    let mut on_pages = 0;
    for group in ["pipelines", "cookbook"] {
        for entry in std::fs::read_dir(root().join("examples").join(group)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "yaml") {
                continue;
            }
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if pages.contains(&format!("\n$ vaglio run examples/{group}/{name}")) {
                on_pages += 1;
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let data = text.lines().find_map(|line| line.trim().strip_prefix("train: ")).unwrap();
            if !path.parent().unwrap().join(data).exists() || data.starts_with("../../../shared") {
                continue;
            }
            let short: &[&str] = if tries_all_cases() { &[] } else { &["--set", "search.max_features=2"] };
            let ran = folder.vaglio(&[&["run", path.to_str().unwrap(), "--out", "out", "--json"], short].concat());
            assert_eq!(ran.code, Some(0), "{}\n{}", path.display(), ran.err);
        }
    }
    assert!(on_pages >= 35, "{on_pages}");
}
