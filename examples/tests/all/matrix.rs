//! Every pipeline of the matrix is as it is made, runs, and gives scores that its criterion's definition gives.

use std::process::Command;
use vaglio::core::Silent;
use vaglio::pipeline::{load, prepare};
use vaglio_examples::matrix::{Cell, cells, folder};

/// Relative to the score of the empty subset, which is 1 for criteria that are made so.
const TOLERANCE: f64 = 1e-8;

fn check(cell: &Cell) {
    let (pipeline, _) = load(&cell.text, &cell.file, &[]).unwrap();
    let prepared = prepare(&pipeline, &folder()).unwrap();
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train).unwrap();
    let selection = selector.select(&prepared.train, &mut Silent).unwrap();
    assert!(!selection.path.entries.is_empty(), "{}: nothing was found", cell.file);
    let scale = selection.path.empty.loss.abs().max(1.0);
    for entry in &selection.path.entries {
        let defined = pipeline.criterion.evaluate(&design, &entry.subset).unwrap().loss;
        let error = (entry.score.loss - defined).abs();
        assert!(
            error <= TOLERANCE * scale,
            "{}: {:?} scores {}, not {defined}",
            cell.file,
            entry.subset,
            entry.score.loss
        );
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
fn every_cell_scores_as_its_criterion_says() {
    cells().iter().for_each(check);
}

#[test]
fn every_cell_runs_from_its_file() {
    let out = std::env::temp_dir().join(format!("vaglio-matrix-{}", std::process::id()));
    for cell in cells() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vaglio-of-the-book"));
        let ran = command.arg("run").arg(folder().join(&cell.file)).arg("--out").arg(&out).output().unwrap();
        assert!(ran.status.success(), "{}: {}", cell.file, String::from_utf8_lossy(&ran.stderr));
    }
    std::fs::remove_dir_all(out).unwrap();
}
