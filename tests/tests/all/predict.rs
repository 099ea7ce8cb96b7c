//! Predictions of new rows from a model file.

use crate::common::{Folder, column, pipeline, table};

/// A table with its columns in reverse order and a column of text appended.
fn reversed(text: &str) -> String {
    let mut out = String::new();
    for (row, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').rev().collect();
        out +=
            &format!("{},{}\n", cells.join(","), if row == 0 { "remark" } else { "ü, \"x\"" }.replace(", \"x\"", ""));
    }
    out
}

#[test]
fn predictions_are_those_of_the_weights_by_name() {
    let folder = Folder::new("predict");
    let data = table(25, 6, &[]);
    folder.write("train.csv", &data);
    folder.write("other.csv", reversed(&data));
    let done = folder.run(&pipeline("search: {kind: greedy, max_features: 3, choose: last}"));
    let ran = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).succeeded_silently();
    assert_eq!(ran.out.lines().next(), Some("prediction"));
    let found = column(&ran.out, "prediction");
    for (row, value) in found.iter().enumerate() {
        let mut expected = done["intercept"].as_f64().unwrap();
        for chosen in done["selected"].as_array().unwrap() {
            let cell: f64 = column(&data, chosen["name"].as_str().unwrap())[row].parse().unwrap();
            expected += chosen["weight"].as_f64().unwrap() * cell;
        }
        assert!((value.parse::<f64>().unwrap() - expected).abs() < 1e-12);
    }
    let other = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "other.csv"]);
    assert_eq!(other.out, ran.out);
    let written = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "other.csv", "--out", "p.csv"]);
    assert_eq!((written.code, written.out.as_str(), written.err.as_str()), (Some(0), "", ""));
    assert_eq!(folder.read("p.csv"), ran.out);
    let nowhere = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "other.csv", "--out", "no/p.csv"]);
    assert_eq!((nowhere.code, nowhere.out.as_str()), (Some(3), ""));
    let of_folder = folder.vaglio(&["predict", "--model", "out", "--data", "other.csv"]);
    assert_eq!((of_folder.code, of_folder.out.as_str()), (Some(0), ran.out.as_str()));
    let lost = folder.vaglio(&["predict", "--model", "out", "--data", "other.csv", "--out", "out/model.json"]);
    assert!(lost.code == Some(2) && lost.err.contains("out/model.json is the model"), "{}", lost.err);
    folder.write("few.csv", "y\n1\n");
    let few = folder.vaglio(&["predict", "--model", "out", "--data", "few.csv"]);
    assert!(few.code == Some(2) && few.err.starts_with("error: few.csv: `data`: there is no column `"), "{}", few.err);
    let missing = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "nowhere.csv"]);
    assert_eq!((missing.code, missing.err.as_str()), (Some(3), "error: nowhere.csv: there is no such file\n"));
    let missing = folder.vaglio(&["predict", "--model", "none.json", "--data", "other.csv"]);
    assert_eq!((missing.code, missing.err.as_str()), (Some(3), "error: none.json: there is no such file\n"));
}

#[test]
fn classes_come_with_labels() {
    let folder = Folder::new("labels");
    folder.write("train.csv", table(40, 4, &[("two", &crate::common::side), ("three", &crate::common::third)]));
    let yaml = |target: &str, other: &str| {
        pipeline("preprocess: [standardize]").replace("target: y", &format!("target: {target}, exclude: [y, {other}]"))
    };
    let done = folder.run(&yaml("two", "three"));
    assert_eq!(done["data"]["outputs"], 1);
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    assert_eq!(out.lines().next(), Some("prediction,label"));
    for (value, label) in column(&out, "prediction").iter().zip(column(&out, "label")) {
        assert_eq!(label, if value.parse::<f64>().unwrap() > 0.0 { "low" } else { "high" });
    }
    let truth = column(&folder.read("train.csv"), "two");
    let right = column(&out, "label").iter().zip(&truth).filter(|(a, b)| a == b).count();
    assert!(right >= 34, "{right}");

    let done = folder.run(&yaml("three", "two"));
    assert_eq!(done["data"]["outputs"], 3);
    assert_eq!(done["selected"][0]["weight"].as_array().unwrap().len(), 3);
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    assert_eq!(out.lines().next(), Some("prediction_a,prediction_b,prediction_c,label"));
    for line in out.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let values: Vec<f64> = cells[..3].iter().map(|c| c.parse().unwrap()).collect();
        let largest = (0..3).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
        assert_eq!(cells[3], ["a", "b", "c"][largest]);
    }
    let done = folder.run(&pipeline("").replace("target: y", "target: two, positive: high, exclude: [y, three]"));
    assert_eq!(done["data"]["outputs"], 1);
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    let first = column(&out, "prediction")[0].parse::<f64>().unwrap();
    assert_eq!(column(&out, "label")[0], if first > 0.0 { "high" } else { "low" });
}

#[test]
fn a_changed_model_is_refused() {
    let folder = Folder::new("changed");
    folder.write("train.csv", table(15, 3, &[]));
    folder.run(&pipeline(""));
    let model = folder.read("out/model.json");
    let at = model.find("weights").unwrap();
    let digit = at + model[at..].find(|c: char| c.is_ascii_digit()).unwrap();
    let mut one_digit = model.clone();
    one_digit.replace_range(digit..=digit, if &model[digit..=digit] == "3" { "4" } else { "3" });
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("a digit", one_digit.into_bytes(), "its checksum does not fit"),
        ("cut", model.as_bytes()[..model.len() / 2].to_vec(), "damaged"),
        ("last", model.as_bytes()[..model.len() - 1].to_vec(), "checksum"),
        ("empty", Vec::new(), "damaged"),
        ("version", model.replace("vaglio.model/1", "vaglio.model/2").into_bytes(), "version `vaglio.model/2`"),
        ("longer", format!("{model} ").into_bytes(), "checksum"),
        ("bytes", b"\xff\xfe{}".to_vec(), "not text"),
        ("other", folder.read("out/selection.json").into_bytes(), "no model file"),
    ];
    for (what, bytes, words) in cases {
        assert_ne!(bytes, model.as_bytes(), "{what}");
        folder.write("bad.json", bytes);
        let ran = folder.vaglio(&["predict", "--model", "bad.json", "--data", "train.csv"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{what}: {ran:?}");
        assert!(
            ran.err.starts_with("error: bad.json: model refused: ") && ran.err.contains(words),
            "{what}: {}",
            ran.err
        );
    }
}

#[test]
fn scaled_targets_are_predicted_in_their_own_units() {
    let folder = Folder::new("units");
    folder.write("train.csv", table(60, 4, &[]));
    let scaled = "preprocess: [{kind: standardize, target: true}]\nlearner: {kind: rls, lambda: 1e-6}";
    let selection = folder.run(&pipeline(scaled));
    assert_eq!(selection["pipeline"]["standardized_target"], true);
    let page = folder.read("out/report.html");
    assert!(page.contains("on the scale of the standardized target"));
    folder.write("p.yaml", pipeline(scaled));
    let said = folder.vaglio(&["run", "p.yaml", "--out", "out"]).out;
    assert!(said.contains(") on the scale of the standardized target"), "{said}");
    let out = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    let truth = column(&folder.read("train.csv"), "y");
    let (mut error, mut mean) = (0.0, 0.0);
    for (a, b) in column(&out, "prediction").iter().zip(&truth) {
        let (a, b) = (a.parse::<f64>().unwrap(), b.parse::<f64>().unwrap());
        error += (a - b) * (a - b) / 60.0;
        mean += a / 60.0;
    }
    assert!(error < 0.2, "{error}");
    assert!((mean - 5.0).abs() < 1.0, "{mean}");
    let plain = folder.run(&pipeline("preprocess: [{kind: standardize}]\nlearner: {kind: rls, lambda: 1e-6}"));
    assert_eq!((&plain["status"], plain["pipeline"].get("standardized_target")), (&"complete".into(), None));
    let other = folder.vaglio(&["predict", "--model", "out/model.json", "--data", "train.csv"]).out;
    for (a, b) in column(&out, "prediction").iter().zip(column(&other, "prediction")) {
        assert!((a.parse::<f64>().unwrap() - b.parse::<f64>().unwrap()).abs() < 1e-4);
    }
}
