//! Pipeline files for every pair of criterion and search.

use std::path::{Path, PathBuf};
use vaglio_core::{Role, descriptions};

/// A pipeline of the matrix: file name and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// `criterion_search.yaml`.
    pub file: String,
    /// The pipeline.
    pub text: String,
}

/// Folder of the files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("matrix")
}

/// One pipeline for every pair of criterion and search in this build, in alphabetical order of their files. Leaves out
/// the parts of the example programs and external programs.
pub fn cells() -> Vec<Cell> {
    // The program's plug-ins are part of the matrix.
    let _ = vaglio_cli::main as fn() -> std::process::ExitCode;
    let kinds = |role: Role| {
        let others = [env!("CARGO_PKG_NAME"), "vaglio-external"];
        let mut kinds: Vec<&str> =
            descriptions().iter().filter(|d| d.role == role && !others.contains(&d.package)).map(|d| d.kind).collect();
        kinds.sort_unstable();
        kinds
    };
    let mut cells = Vec::new();
    for criterion in kinds(Role::Criterion) {
        for search in kinds(Role::Search) {
            let most = if search == "all" { "" } else { ", max_features: 4" };
            let text = format!(
                "# Made by `cargo run -p vaglio-examples --example matrix`.\n\
                 version: 1\n\
                 data: {{train: ../data/diabetes_train.csv, test: ../data/diabetes_test.csv, target: target}}\n\
                 preprocess: [standardize]\n\
                 learner: {{kind: rls, lambda: 10.0}}\n\
                 criterion: {criterion}\n\
                 search: {{kind: {search}{most}}}\n"
            );
            cells.push(Cell { file: format!("{criterion}_{search}.yaml"), text });
        }
    }
    cells.sort_by(|a, b| a.file.cmp(&b.file));
    cells
}
