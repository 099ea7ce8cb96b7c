//! Every pipeline of the matrix is as it is made, runs, and gives scores that its criterion's definition gives.

use serde_json::Value;
use std::process::Command;
use vaglio::files::prepare;
use vaglio::pipeline::load;
use vaglio_examples::matrix::{Cell, cells, folder};
use vaglio_testkit::Near;

/// Relative to the score of the empty subset, which is 1 for criteria that are made so.
const TOLERANCE: f64 = 1e-8;

/// What the program prints for a cell's file is as the definition of its criterion says.
fn check(cell: &Cell, result: &Value) {
    let (pipeline, _) = load(&cell.text, &cell.file, &[]).unwrap();
    let prepared = prepare(&pipeline, &folder()).unwrap();
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train).unwrap();
    let path = result["path"].as_array().unwrap();
    assert!(!path.is_empty(), "{}: nothing was found", cell.file);
    let near = Near { tolerance: TOLERANCE, least: result["empty_score"].as_f64().unwrap().abs().max(1.0) };
    let record: vaglio::record::Record = serde_json::from_value(result.clone()).unwrap();
    for (entry, subset) in path.iter().zip(record.subsets()) {
        let defined = selector.criterion().evaluate(&design, &subset).unwrap().loss;
        near.assert(defined, entry["score"].as_f64().unwrap(), format!("{}, {subset:?}", cell.file));
    }
}

#[test]
fn the_files_are_what_is_made() {
    let mut found: Vec<String> =
        std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    let cells = cells();
    let again = "run `cargo run -p vaglio-examples --example matrix`";
    assert_eq!(found, cells.iter().map(|c| c.file.clone()).collect::<Vec<_>>(), "{again}");
    for cell in &cells {
        assert_eq!(std::fs::read_to_string(folder().join(&cell.file)).unwrap(), cell.text, "{again}");
    }
}

#[test]
fn every_cell_runs_from_its_file_and_scores_as_its_criterion_says() {
    let out = std::env::temp_dir().join(format!("vaglio-matrix-{}", std::process::id()));
    for cell in cells() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vaglio-of-the-book"));
        command.arg("run").arg(folder().join(&cell.file)).arg("--out").arg(&out).args(["--quiet", "--json"]);
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{}: {}", cell.file, String::from_utf8_lossy(&ran.stderr));
        check(&cell, &serde_json::from_slice(&ran.stdout).unwrap());
    }
    std::fs::remove_dir_all(out).unwrap();
}
