//! Tables that are read in batches where they are too large, and because of that.

use super::alike;
use crate::common::{Folder, Ran};
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use std::fs::File;
use std::sync::Arc;

/// A Parquet file of so many rows and columns, of which the last is the target.
fn written(folder: &Folder, name: &str, rows: usize, columns: usize) {
    let column = |k: usize| {
        let entry = |row: usize| ((row * (2 * k + 1) * 7919 + k * row / 3) % 1009) as f64 / 8.0;
        match k + 1 == columns {
            true => (0..rows)
                .map(|row| (row * 7919 % 1009) as f64 / 4.0 - (row * 23_757 % 1009) as f64 / 8.0 + (row % 17) as f64)
                .collect(),
            false => (0..rows).map(entry).collect::<Vec<f64>>(),
        }
    };
    let name_of = |k: usize| if k + 1 == columns { "y".to_owned() } else { format!("x{k}") };
    let arrays = (0..columns).map(|k| (name_of(k), Arc::new(Float64Array::from(column(k))) as ArrayRef));
    let batch = RecordBatch::try_from_iter(arrays).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(folder.path(name)).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn tables_beyond_the_limit_are_read_in_batches_and_others_are_not() {
    let folder = Folder::new("streamed-auto");
    // In memory 120 MB and 8 MB.
    written(&folder, "large.parquet", 300_000, 50);
    written(&folder, "small.parquet", 20_000, 50);
    let greedy = "search: {kind: greedy, max_features: 2, choose: last}";
    let run = |train: &str, lines: &str| {
        folder.write(
            "p.yaml",
            format!("version: 1\ndata: {{train: {train}, target: y}}\n{greedy}\n{lines}\nlimits: {{memory: 115MB}}\n"),
        );
        folder.vaglio(&["run", "p.yaml", "--quiet", "--json"])
    };
    let kfold = "criterion: {kind: kfold, folds: 3}";
    let is_streamed = |train: &str| {
        let Ran { code, out, err } = run(train, kfold);
        assert_eq!(code, Some(0), "{train}: {err}");
        let found: Value = serde_json::from_str(&out).unwrap();
        assert!(alike(&found["steps"][0]["name"], &"x0".into()), "{}", found["steps"]);
        found["warnings"].as_array().unwrap().iter().any(|warning| warning["kind"] == "streamed")
    };
    assert!(is_streamed("large.parquet"));
    assert!(!is_streamed("small.parquet"));
    let Ran { code, err, .. } = run("large.parquet", "criterion: loo");
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("`limits.memory`: ") && err.contains("the limit is 115.0 MB"), "{err}");
    let why = "and it cannot be read in batches: `criterion`: `loo` looks at single rows, and `engine.stream` keeps none; use `kfold`";
    assert!(err.contains(why), "{err}");
    // What is read whole for another reason says no more than before.
    let Ran { code, err, .. } = run("large.parquet", &format!("{kfold}\nengine: {{stream: never}}"));
    assert!(code == Some(2) && err.contains("`limits.memory`: ") && !err.contains("in batches"), "{err}");
}
