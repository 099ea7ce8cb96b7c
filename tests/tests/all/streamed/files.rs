//! Tables of several files and formats.

use super::{GRID, OTHERS, alike, folder, same};
use crate::common::{Folder, Ran};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Date32Array, DictionaryArray, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use std::fs::File;
use std::sync::Arc;

/// A text of cells without quotes as a batch: columns of numbers, and of text.
fn batch(text: &str) -> RecordBatch {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let column = |(k, name): (usize, &&str)| -> (String, ArrayRef, bool) {
        let cells = rows.iter().map(|row| Some(row[k]).filter(|cell| !cell.is_empty()));
        let numbers: Option<Vec<Option<f64>>> =
            cells.clone().map(|cell| cell.map_or(Some(None), |cell| cell.parse().ok().map(Some))).collect();
        let dates: Option<Vec<i32>> = cells.clone().map(|cell| days(cell?)).collect();
        let array: ArrayRef = match (numbers, dates) {
            (Some(numbers), _) => Arc::new(Float64Array::from(numbers)),
            (None, Some(dates)) => Arc::new(Date32Array::from(dates)),
            (None, None) => Arc::new(cells.collect::<StringArray>()),
        };
        ((*name).to_owned(), array, true)
    };
    RecordBatch::try_from_iter_with_nullable(header.iter().enumerate().map(column)).unwrap()
}

/// Days since the beginning of 1970 of a date of 2024.
fn days(cell: &str) -> Option<i32> {
    let rest = cell.strip_prefix("2024-")?;
    let (month, day) = rest.split_once('-')?;
    let before = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335];
    Some(19_722 + before[month.parse::<usize>().ok()? - 1] + day.parse::<i32>().ok()?)
}

/// The same as a Parquet file of row groups of so many rows.
pub fn parquet(folder: &Folder, name: &str, text: &str, rows: usize) {
    folder.write(name, "");
    let batch = batch(text);
    let properties =
        parquet::file::properties::WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(folder.path(name)).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// The same as an Arrow file of batches of so many rows.
fn arrow(folder: &Folder, name: &str, text: &str, rows: usize, is_compressed: bool) {
    folder.write(name, "");
    let batch = batch(text);
    let options = IpcWriteOptions::default()
        .try_with_compression(is_compressed.then_some(arrow_ipc::CompressionType::ZSTD))
        .unwrap();
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
    for first in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(first, rows.min(batch.num_rows() - first))).unwrap();
    }
    writer.finish().unwrap();
}

/// The same as a stream of batches of so many rows.
fn stream(folder: &Folder, name: &str, batches: &[RecordBatch], compression: Option<arrow_ipc::CompressionType>) {
    folder.write(name, "");
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = StreamWriter::try_new_with_options(file, &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
}

/// Some of the rows of a text, below its header.
fn some(text: &str, rows: std::ops::Range<usize>) -> String {
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let rows = lines.skip(rows.start).take(rows.len());
    std::iter::once(header).chain(rows).map(|line| format!("{line}\n")).collect()
}

/// Runs the same lines on the same files, in batches and in memory.
pub fn both(folder: &Folder, data: &str, lines: &str) -> [Value; 2] {
    ["always", "never"].map(|stream| {
        folder.write("p.yaml", format!("version: 1\ndata: {{{data}}}\n{lines}\nengine: {{stream: {stream}}}\n"));
        let ran = folder.vaglio(&["run", "p.yaml", "--out", stream, "--quiet", "--json"]);
        assert_eq!(ran.code, Some(0), "{data}\n{lines}\n{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    })
}

#[test]
fn tables_of_all_formats_are_read_alike_alone_and_in_parts() {
    let folder = folder("streamed-files", 500);
    let text = folder.read("train.csv");
    let parts = [some(&text, 0..200), some(&text, 200..201), some(&text, 201..500)];
    // Columns may be in any order in later files.
    let reordered: String =
        parts[1].lines().map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n").collect();
    folder.write("parts/a.csv", &parts[0]);
    folder.write("parts/b.csv", reordered);
    folder.write("parts/c.csv", &parts[2]);
    parquet(&folder, "one.parquet", &text, 70);
    arrow(&folder, "one.arrow", &text, 64, false);
    arrow(&folder, "one.feather", &text, 500, true);
    let whole = batch(&text);
    let batches: Vec<RecordBatch> = (0..10).map(|k| whole.slice(50 * k, 50)).collect();
    stream(&folder, "one.arrows", &batches, None);
    stream(&folder, "lz4.arrows", &batches[..4], Some(arrow_ipc::CompressionType::LZ4_FRAME));
    stream(&folder, "zstd.arrows", &batches[4..], Some(arrow_ipc::CompressionType::ZSTD));
    for (k, part) in parts.iter().enumerate() {
        parquet(&folder, &format!("several/{k}.parquet"), part, 100);
        arrow(&folder, &format!("several/{k}.arrow"), part, 33, k == 1);
        for (ending, folder_of) in [("parquet", "of-parquet"), ("arrow", "of-arrow"), ("csv", "of-text")] {
            let name = format!("{folder_of}/part={k}/kind=k%20{}/rows.{ending}", k % 2);
            match ending {
                "parquet" => parquet(&folder, &name, part, 1000),
                "arrow" => arrow(&folder, &name, part, 50, false),
                _ => folder.write(&name, part),
            }
        }
    }
    let lines = format!(
        "search: {{kind: greedy, max_features: 4, choose: last}}\ncriterion: {{kind: kfold, folds: 5}}\n{GRID}preprocess: [standardize]"
    );
    let mut steps: Option<Value> = None;
    for train in [
        "train.csv",
        "parts/*.csv",
        "[parts/a.csv, parts/b.csv, parts/c.csv]",
        "one.parquet",
        "one.arrow",
        "one.feather",
        "one.arrows",
        "[lz4.arrows, zstd.arrows]",
        "several/*.parquet",
        "several/*.arrow",
    ] {
        let both = both(&folder, &format!("train: {train}, target: y, test_fraction: 0.1, {OTHERS}"), &lines);
        same(train, &both);
        assert!(alike(steps.get_or_insert(both[0]["steps"].clone()), &both[0]["steps"]), "{train}");
    }
    // What folders say is a column: here a feature, and the folds.
    for train in ["of-parquet", "of-arrow", "of-text"] {
        let lines = lines.replace("folds: 5", "assignment: kind").replace("preprocess: [standardize]", "");
        let found = both(&folder, &format!("train: {train}, target: y, {OTHERS}"), &lines);
        same(train, &found);
        assert_eq!(found[0]["candidates"].as_array().unwrap().last().unwrap(), "part");
        let lines = lines.replace("kind: kfold, assignment: kind", "kind: kfold, folds: 5, by: groups");
        let found =
            both(&folder, &format!("train: {train}, target: y, groups: g, exclude: [class, w, fold, kind]"), &lines);
        same(train, &found);
    }
}

#[test]
fn streams_may_replace_their_dictionaries() {
    let folder = Folder::new("streamed-dictionaries");
    let part = |part: usize| {
        let rows = 60 * part..60 * part + 60;
        let numbers = |of: &dyn Fn(f64) -> f64| -> ArrayRef {
            Arc::new(rows.clone().map(|row| of(row as f64)).collect::<Float64Array>())
        };
        let words = [["b", "a", "c"], ["c", "b", "a"], ["a", "c", "b"]][part % 3];
        let words: DictionaryArray<Int32Type> = rows.clone().map(|row| words[row * 7 % 5 % 3]).collect();
        let columns: [(&str, ArrayRef); 4] = [
            ("x", numbers(&|row| (row * 1.3).sin())),
            ("z", numbers(&|row| (row * 0.7).cos())),
            ("word", Arc::new(words)),
            ("y", numbers(&|row| (row * 1.3).sin() + 0.3 * (row * 2.1).sin())),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let batches: Vec<RecordBatch> = (0..7).map(part).collect();
    stream(&folder, "t.arrows", &batches, None);
    let lines = format!(
        "search: {{kind: greedy, max_features: 3, choose: last}}\ncriterion: {{kind: kfold, folds: 4}}\n{GRID}preprocess: [one_hot]"
    );
    let found = both(&folder, "train: t.arrows, target: y", &lines);
    same("t.arrows", &found);
    // What is cut off is told as by a run in memory.
    let bytes = std::fs::read(folder.path("t.arrows")).unwrap();
    std::fs::write(folder.path("t.arrows"), &bytes[..bytes.len() / 2]).unwrap();
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
    assert!(code != Some(0) && err.contains("a message is longer than what is left of it"), "{code:?} {err}");
}

#[test]
fn files_that_do_not_go_together_are_refused_by_name() {
    let folder = folder("streamed-apart", 60);
    let text = folder.read("train.csv");
    folder.write("other.csv", text.replacen("x3", "z3", 1));
    folder.write("train.latin.csv", [text.as_bytes(), b"\xe9"].concat());
    let lines = "search: {kind: greedy, max_features: 2, choose: last}\ncriterion: {kind: kfold, folds: 3}\nengine: {stream: always}";
    for (train, words) in [
        ("[train.csv, other.csv]", "other.csv: has no column `x3`, and "),
        ("[train.csv, ./train.csv]", "train.csv is named twice; its rows would count twice"),
        ("none-*.csv", "no file fits the pattern"),
    ] {
        folder.write("p.yaml", format!("version: 1\ndata: {{train: {train}, target: y, {OTHERS}}}\n{lines}\n"));
        let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
        assert!(code != Some(0) && err.contains(words), "{train}: {code:?} {err}");
    }
    folder.write(
        "p.yaml",
        format!("version: 1\ndata: {{train: train.csv, target: y, read: {{encoding: latin1}}, {OTHERS}}}\n{lines}\n"),
    );
    let Ran { code, err, .. } = folder.vaglio(&["run", "p.yaml"]);
    assert!(
        code == Some(2)
            && err.contains("train.csv cannot be read in batches, as Parquet, Arrow files and text in UTF-8"),
        "{err}"
    );
}
