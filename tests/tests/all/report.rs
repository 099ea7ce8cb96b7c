//! `vaglio report`: the page of a run, made again from the files of its folder.

use crate::common::{Folder, pipeline_on, root, side, table, third};

/// A folder with data of every kind of target, the pipeline written by `lines` run into `out`.
fn made(name: &str, target: &str, lines: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("train.csv", table(60, 6, &[("class", &side), ("kind", &third)]));
    folder.run(&pipeline_on(target, &["y", "class", "kind"], lines));
    folder
}

#[test]
fn the_page_is_that_of_the_run_byte_for_byte() {
    for (name, target, lines) in [
        ("plain", "y", ""),
        ("nhsic", "y", "criterion: nhsic\nsearch: {kind: lars, max_features: 4}"),
        ("classes", "kind", "criterion: {kind: kfold, loss: zero_one}\nsearch: floating\npreprocess: [standardize]"),
        ("knn", "y", "learner: knn\nsearch: {kind: greedy, max_features: 2}"),
        ("binary", "class", "criterion: {kind: loo, loss: auc}\nsearch: {kind: backward, min_features: 2}"),
        ("none", "y", "criterion: mrmr\nsearch: {kind: exhaustive, max_features: 2}"),
        (
            "tuned",
            "y",
            "learner: {kind: elm, units: 5}\n\
             tune: {budget: 6, parameters: {learner.lambda: {from: 0.001, to: 100, scale: log}}}",
        ),
    ] {
        let folder = made(&format!("report-{name}"), target, lines);
        let page = folder.read("out/report.html");
        assert!(page.contains(&format!("<h1>Target {target} · out</h1>")), "{name}");
        folder.write("out/report.html", "gone");
        // The data are not read: the page is made of the folder's files alone.
        std::fs::remove_file(folder.path("train.csv")).unwrap();
        let ran = folder.vaglio(&["report", "out"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{name}: {}", ran.err);
        assert!(ran.err.contains("out/report.html"), "{}", ran.err);
        assert!(folder.read("out/report.html") == page, "{name}: the page is another");
        assert_eq!(
            folder.files("out"),
            ["journal.jsonl", "model.json", "report.html", "resolved.yaml", "selection.json"]
        );
    }
}

#[test]
fn the_page_of_a_small_table_is_short() {
    let folder = Folder::new("report-short");
    let pipeline = root().join("examples/pipelines/diabetes.yaml");
    folder.vaglio(&["run", pipeline.to_str().unwrap(), "--out", "out", "--quiet"]).succeeded();
    let page = folder.read("out/report.html");
    assert!(page.len() < 90_000, "{} bytes", page.len());
    let body = page.split_once("</style>").unwrap().1.replace("<svg", "</svg>");
    let outside_drawings: String = body.split("</svg>").step_by(2).collect();
    let texts = outside_drawings.split('<').filter_map(|piece| piece.split_once('>'));
    let words: usize = texts.map(|(_, text)| text.split_whitespace().count()).sum();
    assert!(words < 1250, "{words} words");
}

#[test]
fn a_result_that_calls_its_digests_sha256_is_read() {
    let folder = made("report-sha256", "y", "");
    let (page, result) = (folder.read("out/report.html"), folder.read("out/selection.json"));
    let older = result.replace("\"digest\":", "\"sha256\":");
    assert!(older != result);
    folder.write("out/selection.json", older);
    folder.vaglio(&["report", "out"]).succeeded();
    assert!(folder.read("out/report.html") == page, "the page is another");
}

#[test]
fn every_search_says_why_it_ended_and_what_it_is_called() {
    for (name, lines, sentences) in [
        ("all", "search: exhaustive", ["every subset was scored or proven worse", "exhaustive search"]),
        ("least", "search: backward", ["the smallest size was reached", "backward elimination"]),
        (
            "mrmr",
            "criterion: mrmr\nsearch: {kind: rank, max_features: 2}",
            ["the largest size was reached", "mRMR score"],
        ),
    ] {
        let page = made(&format!("sentences-{name}"), "y", lines).read("out/report.html");
        for sentence in sentences {
            assert!(page.contains(sentence), "{name}: {sentence}");
        }
    }
}

#[test]
fn files_that_are_missing_damaged_or_altered_are_refused() {
    let folder = made("report-refused", "y", "");
    let (selection, resolved) = (folder.read("out/selection.json"), folder.read("out/resolved.yaml"));
    let refused = |words: &str| {
        folder.write("out/report.html", "before");
        let ran = folder.vaglio(&["report", "out"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{words}\n{ran:?}");
        assert!(ran.err.starts_with("error: out/") && ran.err.contains(words), "{words}\n{}", ran.err);
        assert!(ran.err.trim_end().ends_with("run the pipeline again with `--out out`"), "{}", ran.err);
        assert_eq!(folder.read("out/report.html"), "before");
    };
    for (text, words) in [
        (selection[..selection.len() / 2].to_owned(), "selection.json: it is damaged"),
        (selection.replacen("\"size\": 1", "\"size\": 2", 2), "it was changed after it was written"),
        (selection.replace("\"report\"", "\"notes\""), "unknown field `notes`"),
    ] {
        folder.write("out/selection.json", text);
        refused(words);
    }
    std::fs::remove_file(folder.path("out/selection.json")).unwrap();
    refused("selection.json: there is no such file");
    folder.write("out/selection.json", &selection);
    folder.write("out/resolved.yaml", resolved.replace("kind: greedy", "kind: floating"));
    refused("resolved.yaml: it is not of the run of selection.json, whose search is `greedy`");
    folder.write("out/resolved.yaml", "a: [b");
    refused("resolved.yaml: it is damaged");
    std::fs::remove_file(folder.path("out/resolved.yaml")).unwrap();
    refused("resolved.yaml: there is no such file");
    let ran = folder.vaglio(&["report", "nowhere"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("nowhere/selection.json: there is no such file"), "{}", ran.err);
}
