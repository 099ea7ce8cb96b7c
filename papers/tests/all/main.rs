//! Every table of the papers is made once from a small table under the name of its file, so that the commands of the book
//! that take hours are known to run.
#![allow(clippy::unwrap_used)]

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use vaglio_testkit::SplitMix64;

/// A folder of this test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("vaglio-papers-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn write(folder: &Path, file: &str, columns: Vec<(String, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(folder.join(format!("{file}.parquet"))).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn numbers(values: impl Iterator<Item = f64>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

/// Columns of noise of which the first three are shifted by the class, and the classes.
fn of_classes(rows: usize, columns: usize, classes: usize) -> Vec<(String, ArrayRef)> {
    let mut random = SplitMix64::new(columns as u64);
    let mut column = |k: usize| {
        let shift = |row: usize| if k < 3 { (row % classes) as f64 } else { 0.0 };
        (format!("x{k}"), numbers((0..rows).map(|row| shift(row) + random.normal()).collect::<Vec<_>>().into_iter()))
    };
    let mut all: Vec<_> = (0..columns).map(&mut column).collect();
    let labels = (0..rows).map(|row| Some(format!("c{}", row % classes))).collect::<StringArray>();
    all.push(("target".into(), Arc::new(labels)));
    all
}

/// Two columns and the target that follows from them.
fn of_numbers(rows: usize) -> Vec<(String, ArrayRef)> {
    let mut random = SplitMix64::new(5);
    let x: Vec<Vec<f64>> = (0..4).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    let target = numbers(
        (0..rows).map(|row| x[0][row] + x[1][row].abs() + 0.1 * random.normal()).collect::<Vec<_>>().into_iter(),
    );
    let columns = x.into_iter().enumerate().map(|(k, x)| (format!("x{k}"), numbers(x.into_iter())));
    columns.chain([("target".to_owned(), target)]).collect()
}

/// Series of twelve steps, of two classes that swing at different speeds.
fn of_series(count: usize) -> Vec<(String, ArrayRef)> {
    let mut random = SplitMix64::new(7);
    let places: Vec<(usize, usize)> = (0..count).flat_map(|series| (0..12).map(move |t| (series, t))).collect();
    let swing = |(series, t): &(usize, usize)| (*t as f64 * (1 + series % 2) as f64).sin();
    let labels = places.iter().map(|(series, _)| Some(format!("c{}", series % 2))).collect::<StringArray>();
    vec![
        ("series".into(), numbers(places.iter().map(|of| of.0 as f64))),
        ("t".into(), numbers(places.iter().map(|of| of.1 as f64))),
        ("target".into(), Arc::new(labels)),
        ("u".into(), numbers(places.iter().map(swing))),
        ("v".into(), numbers(places.iter().map(|_| random.normal()).collect::<Vec<_>>().into_iter())),
    ]
}

/// The tables of one command on the files of a folder: so many rows with a part of this name in their first cell.
fn has_rows(folder: &Path, arguments: &[&str], (name, rows): (&str, usize)) {
    let out = Command::new(env!("CARGO_BIN_EXE_vaglio-papers"))
        .args(arguments)
        .args(["--data", folder.to_str().unwrap(), "--seeds", "1", "--folds", "2", "--threads", "2"])
        .output()
        .unwrap();
    let (text, told) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8_lossy(&out.stderr).into_owned());
    assert!(out.status.success(), "{arguments:?}: {told}");
    let found = text.lines().filter(|line| line.starts_with(&format!("| {name}"))).count();
    assert_eq!(found, rows, "{arguments:?}: rows of {name} in\n{text}");
}

#[test]
fn tables_of_redundancy_and_of_honest_losses_are_made() {
    let folder = folder("classes");
    write(&folder, "ar10p", of_classes(40, 60, 4));
    write(&folder, "colon_alon", of_classes(40, 40, 2));
    has_rows(&folder, &["n3lars", "--only", "AR10P"], ("AR10P", 14));
    has_rows(&folder, &["honest", "--only", "colon"], ("colon", 3));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tables_of_ridge_and_of_greedy_selection_are_made() {
    let folder = folder("ridge");
    write(&folder, "servo", of_numbers(60));
    write(&folder, "australian", of_classes(60, 14, 2));
    has_rows(&folder, &["ridge", "--only", "Servo"], ("Servo", 3));
    has_rows(&folder, &["greedy", "--only", "australian"], ("australian", 1));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tables_of_reservoirs_are_made() {
    let folder = folder("series");
    write(&folder, "japanese_vowels_train", of_series(8));
    write(&folder, "japanese_vowels_test", of_series(6));
    has_rows(&folder, &["reservoir", "--only", "Vowels"], ("Japanese Vowels", 7));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tables_of_simulated_data_are_made() {
    let folder = folder("simulated");
    has_rows(&folder, &["fdr", "--only", "independent 200"], ("independent", 1));
    std::fs::remove_dir_all(folder).unwrap();
}
