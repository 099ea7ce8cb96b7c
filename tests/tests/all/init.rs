//! `vaglio init`: from a table that nobody described to a result.

use crate::common::Folder;
use std::io::Write;
use std::process::Stdio;
use vaglio_testkit::Random;

/// A clinic's table as it comes: identifiers, subjects with two visits, dates, missing cells, a word among numbers.
fn clinic(rows: usize) -> String {
    let mut random = Random::new(3);
    let mut text = "record_id;subject;visit;age;BMI;smoker;note;empty;outcome\n".to_owned();
    for row in 0..rows {
        let age = 20 + random.below(60);
        let bmi = if row % 9 == 4 { "n/a".into() } else { format!("{},{}", 18 + random.below(20), random.below(10)) };
        let bmi = if row == 7 { "unknown".into() } else { bmi };
        let smoker = ["yes", "no", ""][random.below(20).min(2) % 3];
        let outcome = if age as f64 + 10.0 * random.normal() > 50.0 { "ill" } else { "well" };
        let (subject, day) = (row / 2, 1 + random.below(28));
        text += &format!("r{row};s{subject};2024-03-{day:02};{age};{bmi};{smoker};words {row};;{outcome}\n");
    }
    text
}

#[test]
fn a_table_that_nobody_described_becomes_a_pipeline_that_runs() {
    let folder = Folder::new("init");
    folder.write("clinic.csv", clinic(120));
    let ran = folder.vaglio(&["init", "clinic.csv", "--target", "outcome"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert!(ran.err.ends_with("wrote clinic.yaml\nnext: vaglio run clinic.yaml\n"), "{}", ran.err);
    let text = folder.read("clinic.yaml");
    for words in [
        "train: clinic.csv",
        "target: outcome",
        "groups: subject",
        "- record_id",
        "- note",
        "\"unknown\"",
        "{kind: date_parts}",
        "{kind: impute, how: mean}",
        "{kind: impute, how: most_frequent}",
        "{kind: one_hot}",
        "test_fraction: 0.2",
    ] {
        assert!(text.contains(words), "lacks {words}:\n{text}");
    }
    let ran = folder.vaglio(&["run", "clinic.yaml", "--out", "out", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}\n{text}", ran.err);
    let done = folder.json("out/selection.json");
    let taken: Vec<String> =
        done["data"]["columns"].as_array().unwrap().iter().map(|c| c["name"].to_string()).collect();
    assert!(taken.contains(&"\"BMI\"".to_owned()), "{taken:?}");
    let again = folder.vaglio(&["init", "clinic.csv"]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("clinic.yaml is there already") && again.err.contains("--force"), "{}", again.err);
    assert_eq!(folder.read("clinic.yaml"), text);
    let guessed = folder.vaglio(&["init", "clinic.csv", "--force", "--out", "clinic.yaml"]);
    assert_eq!(guessed.code, Some(0), "{}", guessed.err);
    assert!(guessed.err.contains("to predict: outcome, classes (guessed"), "{}", guessed.err);
}

#[test]
fn names_are_checked_and_asked_for() {
    let folder = Folder::new("init_names");
    folder.write("clinic.csv", clinic(60));
    let ran = folder.vaglio(&["init", "clinic.csv", "--target", "outcom"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("did you mean `outcome`?"), "{}", ran.err);
    assert!(!folder.path("clinic.yaml").exists());
    let mut command = folder.command(&["init", "clinic.csv", "--interactive", "--out", "asked.yaml"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"age\nrecord_id, note, outcome\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{err}");
    assert!(err.contains("columns to predict, with commas between [outcome]: "), "{err}");
    let text = folder.read("asked.yaml");
    assert!(text.contains("target: age") && text.contains("- outcome"), "{text}");
    let missing = folder.vaglio(&["init", "nothing.csv"]);
    assert_eq!(missing.code, Some(3));
    assert!(missing.err.contains("nothing.csv: there is no such file"), "{}", missing.err);
}

#[test]
fn a_table_in_another_folder_is_named_from_the_pipeline() {
    let folder = Folder::new("init_folders");
    folder.write("data/a b.csv", "x,y\n1,2\n2,3.5\n3,4\n4,6\n5,7\n6,7.5\n7,8\n8,11\n");
    folder.write("pipelines/readme", "");
    let ran = folder.vaglio(&["init", "data/a b.csv", "--out", "pipelines/a.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(folder.read("pipelines/a.yaml").contains("train: \"../data/a b.csv\""));
    assert_eq!(folder.vaglio(&["run", "pipelines/a.yaml", "--quiet"]).code, Some(0));
}

#[test]
fn classes_have_their_share_of_test_rows() {
    let folder = Folder::new("shares");
    let mut text = "x,y\n".to_owned();
    (0..100).for_each(|row| text += &format!("{},{}\n", row * row % 17, if row % 10 == 3 { "rare" } else { "often" }));
    folder.write("train.csv", text);
    for seed in 0..5 {
        let data = "train: train.csv, target: y, test_fraction: 0.3";
        let done = folder.run(&format!("version: 1\nseed: {seed}\ndata: {{{data}}}\nsearch: all\n"));
        let test: Vec<usize> =
            done["data"]["test_rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect();
        assert_eq!(test.len(), 30);
        assert_eq!(test.iter().filter(|row| (**row - 1) % 10 == 3).count(), 3, "{test:?}");
    }
}
