//! `vaglio init`: from a table that nobody described to a result.

use crate::common::Folder;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, BinaryArray, Float64Array, ListArray, RecordBatch, Time64MicrosecondArray};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use vaglio_testkit::SplitMix64;

/// A clinic's table as it comes: identifiers, subjects with two visits, dates, missing cells, a word among numbers.
fn clinic(rows: usize) -> String {
    let mut random = SplitMix64::new(3);
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
        "{kind: one_hot, drop: if_binary}",
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
    let guessed = folder.vaglio(&["init", "clinic.csv", "--force", "--out", "clinic.yaml"]).succeeded();
    assert!(guessed.err.contains("to predict: outcome, classes (guessed"), "{}", guessed.err);
}

#[test]
fn names_are_checked_and_asked_for() {
    let folder = Folder::new("init_names");
    folder.write("clinic.csv", clinic(60));
    folder.vaglio(&["init", "clinic.csv", "--target", "outcom"]).refused(2, "did you mean `outcome`?");
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
    folder.vaglio(&["init", "data/a b.csv", "--out", "pipelines/a.yaml"]).succeeded();
    assert!(folder.read("pipelines/a.yaml").contains("train: \"../data/a b.csv\""));
    folder.vaglio(&["run", "pipelines/a.yaml", "--quiet"]).succeeded();
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

/// `init` with these options; what it wrote, and that it runs.
fn drafted(folder: &Folder, table: &str, options: &[&str]) -> (String, String) {
    let ran = folder.vaglio(&[&["init", table, "--out", "p.yaml", "--force"], options].concat());
    let text = folder.read("p.yaml");
    assert_eq!(ran.code, Some(0), "{}\n{text}", ran.err);
    let done = folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}\n{text}", done.err);
    (text, ran.err)
}

/// A table of rows that are made one by one.
fn written(header: &str, rows: usize, mut row: impl FnMut(usize, &mut SplitMix64) -> String) -> String {
    let mut random = SplitMix64::new(5);
    (0..rows).fold(format!("{header}\n"), |text, at| text + &row(at, &mut random) + "\n")
}

fn check(text: &str, has: &[&str], lacks: &[&str]) {
    has.iter().for_each(|words| assert!(text.contains(words), "lacks {words}:\n{text}"));
    lacks.iter().for_each(|words| assert!(!text.contains(words), "has {words}:\n{text}"));
}

#[test]
fn a_year_in_order_makes_later_rows_be_predicted_from_earlier_ones() {
    let folder = Folder::new("init_time");
    let row = |at: usize, random: &mut SplitMix64| format!("{},{},{}", 1950 + at, random.normal(), random.normal());
    folder.write("years.csv", written("year,a,y", 60, row));
    let (text, _) = drafted(&folder, "years.csv", &[]);
    check(&text, &["time: year", "test_last: 0.2", "{kind: forward, folds: 5}"], &["test_fraction", "exclude"]);
    // The same numbers by another name are no time.
    folder.write("ids.csv", written("id,a,y", 60, row));
    check(&drafted(&folder, "ids.csv", &[]).0, &["test_fraction", "criterion: loo"], &["time:", "forward"]);
    // Without another feature the time is one, and the file is in its order.
    folder.write("alone.csv", written("time,y", 60, |at, random| format!("{at},{}", random.normal())));
    check(&drafted(&folder, "alone.csv", &[]).0, &["the order of time", "test_last", "forward"], &["  time:"]);
    // In another order the time is taken where people name it.
    let mixed = |at: usize, random: &mut SplitMix64| format!("{},{},{}", at * 7 % 60, random.normal(), random.normal());
    folder.write("mixed.csv", written("when,a,y", 60, mixed));
    check(&drafted(&folder, "mixed.csv", &["--time", "when"]).0, &["time: when", "forward"], &[]);
}

#[test]
fn units_over_time_are_groups_or_series() {
    let folder = Folder::new("init_panel");
    let panel = |units: usize, times: usize| {
        written("state,year,a,b,y", units * times, move |at, random| {
            let numbers = [random.normal(), random.normal(), random.normal()].map(|x| x.to_string()).join(",");
            format!("s{},{},{numbers}", at / times, 1990 + at % times)
        })
    };
    folder.write("many.csv", panel(12, 8));
    let (text, _) = drafted(&folder, "many.csv", &[]);
    check(
        &text,
        &["  groups: state", "# series: state", "# time: year", "by: groups}", "# criterion: {kind: kfold, splits"],
        &[],
    );
    let (text, _) = drafted(&folder, "many.csv", &["--time", "year"]);
    check(&text, &["  series: state", "  time: year", "test_last: 0.2", "# groups: state"], &["\n  groups"]);
    folder.write("few.csv", panel(3, 30));
    check(&drafted(&folder, "few.csv", &[]).0, &["  series: state", "  time: year"], &["\n  groups"]);
    check(&drafted(&folder, "few.csv", &["--groups", "state", "--test", "0"]).0, &["  groups: state"], &["\n  test_"]);
    // A treatment called group is a candidate.
    let treated = |at: usize, random: &mut SplitMix64| {
        format!("{},{},{}", ["a", "b", "c"][at % 3], random.normal(), random.normal())
    };
    folder.write("treated.csv", written("group,x,y", 60, treated));
    check(&drafted(&folder, "treated.csv", &[]).0, &["criterion: loo", "one_hot"], &["groups:"]);
}

#[test]
fn rows_and_classes_are_taken_as_they_are() {
    let folder = Folder::new("init_rows");
    let row = |at: usize, random: &mut SplitMix64| {
        let (part, rare) = (if at.is_multiple_of(4) { "F" } else { "T" }, if at % 15 == 3 { "ill" } else { "well" });
        let (a, y) = (random.normal(), if at % 9 == 5 { String::new() } else { random.normal().to_string() });
        let (sex, town) = (["f", "m"][random.below(2)], random.below(60));
        format!("{a},{sex},town{town:02},{part},{rare},{y}")
    };
    folder.write("t.csv", written("a,sex,town,train,state,y", 900, row));
    let (text, told) = drafted(&folder, "t.csv", &["--target", "y"]);
    let words = [
        "missing_target: drop",
        "100 rows without a target are left out",
        "test_rows: {column: train, is: F}",
        "{kind: one_hot, drop: if_binary}",
        "types: {town: class}",
        "{kind: target_encode, columns: [town]}",
    ];
    check(&text, &words, &["test_fraction", "- train"]);
    check(&told, &["100 rows without a target are left out", "test rows: the 225 where train is F"], &[]);
    let done = folder.json("out/selection.json");
    let candidates: Vec<&str> =
        done["candidates"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(candidates, ["a", "sex=m", "town", "state=well"]);
    let (text, _) = drafted(&folder, "t.csv", &["--target", "state", "--test", "0.3"]);
    check(&text, &["kind: crrr", "loss: balanced_squared", "test_fraction: 0.3"], &["test_rows"]);
    folder.write("more.csv", written("a,sex,town,train,state,y", 50, row));
    check(
        &drafted(&folder, "t.csv", &["--target", "y", "--test", "more.csv"]).0,
        &["  test: more.csv"],
        &["test_fraction"],
    );
    let count = |at: usize, random: &mut SplitMix64| format!("{},{}", random.normal(), at % 3);
    folder.write("counts.csv", written("a,y", 60, count));
    check(&drafted(&folder, "counts.csv", &["--task", "classification"]).0, &["\n  task: multiclass"], &[]);
    check(&drafted(&folder, "counts.csv", &["--task", "regression"]).0, &["\n  task: regression"], &["multiclass"]);
    let refused = folder.vaglio(&["init", "counts.csv", "--test", "1.5", "--force"]);
    assert!(refused.code == Some(2) && refused.err.contains("`--test`: 1.5 is no share"), "{}", refused.err);
    let unknown = folder.vaglio(&["init", "counts.csv", "--groups", "z", "--out", "r.yaml"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("`--groups`: there is no column `z`"), "{}", unknown.err);
}

#[test]
fn panels_of_few_units_are_cross_validated() {
    let folder = Folder::new("init_few_units");
    for units in [5, 6, 7] {
        let row = |at: usize, random: &mut SplitMix64| {
            let (x, z) = (random.normal(), random.normal());
            format!("f{},{},{x},{z},{}", at / 8, 2010 + at % 8, x + 0.5 * random.normal())
        };
        folder.write("d.csv", written("firm,year,x,z,y", units * 8, row));
        let (text, told) = drafted(&folder, "d.csv", &["--target", "y"]);
        let done = folder.json("out/selection.json");
        assert!(!done["warnings"].to_string().contains("could not be cross-validated"), "{text}\n{}", done["warnings"]);
        assert!(text.contains("by: groups}") && !told.contains("cross-validated"), "{text}\n{told}");
    }
}

#[test]
fn events_of_some_dates_are_predicted_in_order() {
    let folder = Folder::new("init_events");
    let row = |at: usize, random: &mut SplitMix64| {
        let x = random.normal();
        format!("2025-01-{:02},{x},{}", 6 + at / 4, x + 0.3 * random.normal())
    };
    let in_order = written("sold,x,y", 60, row);
    folder.write("d.csv", &in_order);
    let (text, told) = drafted(&folder, "d.csv", &["--target", "y"]);
    check(&text, &["time: sold", "test_last: 0.2", "kind: forward, folds: 3"], &["loo", "test_fraction"]);
    check(&told, &["time: sold, 15 of them in 60 rows"], &[]);
    let test = folder.json("out/selection.json")["data"]["test_rows"].as_array().unwrap().len();
    assert_eq!(test % 4, 0, "whole days");
    // Mixed, the name says what it is, and another date does not.
    let mut lines: Vec<&str> = in_order.lines().skip(1).collect();
    lines.sort_by_key(|line| line.bytes().map(usize::from).sum::<usize>() % 13);
    folder.write("mixed.csv", format!("date,x,y\n{}\n", lines.join("\n")));
    check(&drafted(&folder, "mixed.csv", &["--target", "y"]).0, &["time: date"], &["loo"]);
    folder.write("born.csv", format!("birth_date,x,y\n{}\n", lines.join("\n")));
    check(&drafted(&folder, "born.csv", &["--target", "y"]).0, &["loo"], &["time:"]);
    check(&drafted(&folder, "born.csv", &["--target", "y", "--time", "birth_date"]).0, &["time: birth_date"], &["loo"]);
}

#[test]
fn columns_of_types_that_are_not_read_are_left_out() {
    let folder = Folder::new("init_types");
    let numbers = |of: fn(usize) -> f64| Arc::new(Float64Array::from_iter_values((0..60).map(of)));
    let lists = (0..60).map(|row| Some(vec![Some(f64::from(row)); 2]));
    let columns: [(&str, ArrayRef); 5] = [
        ("tags", Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists))),
        ("x", numbers(|row| (row * 7 % 11) as f64)),
        ("bytes", Arc::new(BinaryArray::from_vec(vec![b"a".as_slice(); 60]))),
        ("at", Arc::new(Time64MicrosecondArray::from_iter_values(0..60))),
        ("y", numbers(|row| (row * 7 % 11) as f64 + 0.1 * (row % 3) as f64)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path("d.parquet")).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let (text, told) = drafted(&folder, "d.parquet", &["--target", "y"]);
    for (name, what) in [("tags", "List"), ("bytes", "Binary"), ("at", "Time64")] {
        let why = format!("it is of type {what}, not numbers, truth values, text or dates");
        check(&text, &[&format!("    - {name}"), &why], &[]);
        check(&told, &[&format!("left out: {name}: {why}")], &[]);
    }
}
