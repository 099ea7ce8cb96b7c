//! Verdicts on columns: in the result, the report and the terminal, and as a choice.

use crate::common::{Folder, names, table};
use serde_json::Value;

const DATA: &str = "version: 1\nseed: 3\ndata: {train: train.csv, target: y}\npreprocess: [standardize]\n\
                    learner: {kind: rls, lambda: 1.0}\n";

fn verdicts<'v>(selection: &'v Value, verdict: &str) -> Vec<&'v str> {
    let columns = selection["fdr"]["columns"].as_array().unwrap();
    let of = columns.iter().filter(|column| column["verdict"] == verdict);
    of.map(|column| column["name"].as_str().unwrap()).collect()
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

#[test]
fn every_column_has_a_verdict_and_a_q_value() {
    let folder = Folder::new("fdr-verdicts");
    let copy = |_: usize, y: f64| (y * 0.0).to_string();
    folder.write("train.csv", table(80, 15, &[("constant", &copy)]));
    for search in ["greedy", "{kind: lars, max_features: 10}", "{kind: backward}"] {
        let selection = folder.run(&format!("{DATA}search: {search}\nevaluate: {{fdr: 0.1}}\n"));
        let fdr = &selection["fdr"];
        assert_eq!((fdr["rate"].as_f64(), fdr["experiments"].as_u64()), (Some(0.1), Some(20)), "{search}");
        assert_eq!((fdr["dummies"].as_u64(), fdr["are_virtual"].as_bool()), (Some(150), Some(true)));
        assert_eq!(verdicts(&selection, "confirmed"), ["x1", "x2"], "{search}");
        assert_eq!(fdr["columns"].as_array().unwrap().len(), 16);
        for column in fdr["columns"].as_array().unwrap() {
            let q = column["q"].as_f64();
            match column["verdict"].as_str().unwrap() {
                "confirmed" => assert!(q.unwrap() <= 0.1 && column["votes"].as_f64().unwrap() > 0.5),
                "tentative" => assert!(q.is_none_or(|q| q > 0.1 && q <= 0.2)),
                _ => assert_eq!(q, None),
            }
        }
        let said = folder.vaglio(&["explain", "out", "x1", "x5"]).out;
        assert!(
            said.contains("  as a discovery confirmed (q 0") && said.contains("  as a discovery rejected\n"),
            "{said}"
        );
    }
    let report = folder.read("out/report.html");
    assert!(report.contains("False discoveries") && report.contains("confirmed"));
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.out.contains("2 columns are confirmed at a false discovery rate of 0.1 (x1, x2)"), "{}", ran.out);
    let planned = folder.vaglio(&["plan", "p.yaml"]);
    assert!(planned.out.contains("20 experiments of 15 columns with at most 150 dummies"), "{}", planned.out);
}

#[test]
fn the_confirmed_columns_are_the_result() {
    let folder = Folder::new("fdr-choose");
    folder.write("train.csv", table(80, 15, &[]));
    for (search, expected) in [
        ("{kind: greedy, choose: {fdr: 0.1}}", vec!["x1", "x2"]),
        ("{kind: lars, choose: {fdr: 0.1}}", vec!["x1", "x2"]),
        ("{kind: greedy, max_features: 1, choose: {fdr: 0.1}}", vec!["x1"]),
        ("{kind: greedy, excluded: [2], choose: {fdr: 0.1}}", vec!["x1"]),
    ] {
        let selection = folder.run(&format!("{DATA}search: {search}\nevaluate: {{nested: {{folds: 3}}}}\n"));
        assert_eq!(sorted(names(&selection)), expected, "{search}");
        assert_eq!(
            (selection["chosen"]["by"].as_str(), selection["status"].as_str()),
            (Some("false_discoveries"), Some("complete"))
        );
        let held_out = &selection["nested"];
        assert!(held_out["loss"].as_f64().unwrap() < 0.5 * held_out["empty_loss"].as_f64().unwrap());
        let again = format!("{DATA}search: {search}\nevaluate: {{nested: {{folds: 3}}, fdr: 0.1}}\n");
        assert_eq!(selection["fdr"], folder.run(&again)["fdr"]);
        let resolved = folder.read("out/resolved.yaml");
        assert!(resolved.contains("fdr: 0.1"), "{resolved}");
    }
    let strict = format!("{DATA}search: {{kind: greedy, choose: {{fdr: 1.0e-9}}}}\n");
    let selection = folder.run(&strict);
    assert!(names(&selection).is_empty());
    let ran = folder.vaglio(&["run", "p.yaml", "--out", "out"]);
    assert!(ran.out.contains("No column is taken: none is confirmed."), "{}", ran.out);
}

#[test]
fn classes_weights_outputs_and_dependence_are_judged_too() {
    let folder = Folder::new("fdr-tasks");
    let weight = |row: usize, _: f64| (1 + row % 3).to_string();
    let twice = |_: usize, y: f64| (0.5 * y).to_string();
    let extra: [crate::common::Made<'_>; 4] =
        [("side", &crate::common::side), ("third", &crate::common::third), ("w", &weight), ("z", &twice)];
    folder.write("train.csv", table(90, 8, &extra));
    for (data, parts, are_virtual) in [
        ("target: side, exclude: [y, z, third, w]", "search: greedy", true),
        ("target: third, exclude: [y, z, side, w]", "search: {kind: lars, max_features: 3}", true),
        ("target: [y, z], exclude: [side, third, w]", "search: greedy", true),
        ("target: y, weights: w, exclude: [z, side, third]", "search: greedy", false),
        (
            "target: y, exclude: [z, side, third, w]",
            "criterion: nhsic\nsearch: {kind: lars, max_features: 4, choose: 2}",
            false,
        ),
    ] {
        let yaml = DATA.replace("target: y", data);
        let selection = folder.run(&format!("{yaml}{parts}\nevaluate: {{fdr: 0.1}}\n"));
        assert_eq!(selection["fdr"]["are_virtual"].as_bool(), Some(are_virtual), "{data}");
        let found = verdicts(&selection, "confirmed");
        assert!(found.contains(&"x1") && found.len() <= 3, "{data} {parts}: {found:?}");
    }
}

#[test]
fn what_cannot_be_judged_is_refused_by_name() {
    let folder = Folder::new("fdr-refused");
    let group = |row: usize, _: f64| (row % 5).to_string();
    let time = |row: usize, _: f64| row.to_string();
    folder.write("train.csv", table(40, 5, &[("g", &group), ("t", &time)]));
    let plain = "target: y, exclude: [g, t]";
    for (data, lines, words) in [
        (plain, "evaluate: {fdr: 0}", "`evaluate.fdr`: 0 is not above 0 and below 1"),
        (plain, "evaluate: {fdr: 1.5}", "`evaluate.fdr`: 1.5 is not above 0 and below 1"),
        (plain, "search: {kind: greedy, choose: {fdr: 0}}", "`search.choose.fdr`: 0 is not above 0 and below 1"),
        (plain, "search: {kind: lars, choose: {fdr: -1}}", "`search.choose.fdr`: -1 is not above 0 and below 1"),
        (plain, "search: {kind: greedy, choose: {fdr: 0.1, folds: 3}}", "folds"),
        (
            plain,
            "search: {kind: greedy, forced: [x1], choose: {fdr: 0.1}}",
            "`search.forced`: the confirmed columns are",
        ),
        ("target: y, groups: g, exclude: [t]", "evaluate: {fdr: 0.1}", "`evaluate.fdr`: dummies are drawn row by row"),
        ("target: y, time: t, exclude: [g]", "evaluate: {fdr: 0.1}", "`evaluate.fdr`: dummies are drawn row by row"),
        (
            "target: y, series: g, exclude: [t]",
            "search: {kind: greedy, choose: {fdr: 0.1}}",
            "`search.choose.fdr`: dummies are drawn row by row",
        ),
    ] {
        folder.write("p.yaml", format!("{}{lines}\n", DATA.replace("target: y", data)));
        for command in ["run", "plan"] {
            let out: &[&str] = if command == "run" { &["--out", "out"] } else { &[] };
            folder.vaglio(&[&[command, "p.yaml"], out].concat()).refused(2, words);
        }
        assert!(!folder.path("out/selection.json").exists());
    }
}
