//! Redundancy and accuracy of columns chosen on image and microarray data: NHSIC beside mRMR, ranking and greedy
//! leave-one-out, as a Markdown table.
//!
//! cargo run --release -p vaglio-examples --example redundancy -- ../shared/data 20
//!
//! The first argument is the folder of the Parquet files (`ar10p`, `pie10p`, `pix10p`, `orl10p`, `tox_171`, from
//! jundongl/scikit-feature: columns `f0` … and `target`), the second how many columns are chosen. RED is the mean absolute
//! correlation of pairs of chosen columns over all training rows; accuracy is that of a ridge readout (λ = 1,
//! standardized) on three splits with 30 % of the rows as test rows.

use std::path::Path;
use vaglio::core::{Error, Feature, Problem, Silent};
use vaglio::pipeline::{load, prepare};

/// Files and the redundancy that the paper's N³LARS reports.
const SETS: [(&str, &str, f64); 5] = [
    ("AR10P", "ar10p", 0.154),
    ("PIE10P", "pie10p", 0.124),
    ("PIX10P", "pix10p", 0.171),
    ("ORL10P", "orl10p", 0.182),
    ("TOX-171", "tox_171", 0.397),
];
/// The name of a way to choose, its criterion and its search.
const WAYS: [(&str, &str, &str); 5] = [
    ("N³LARS", "nhsic", "lars"),
    ("NHSIC greedy", "nhsic", "greedy"),
    ("MR-NHSIC", "nhsic", "rank"),
    ("mRMR", "mrmr", "greedy"),
    ("LOO greedy", "loo", "greedy"),
];
const SPLITS: [u64; 3] = [1, 2, 3];

fn main() -> Result<(), Error> {
    // The program's plug-ins are among the ways.
    let _ = vaglio_cli::main as fn() -> std::process::ExitCode;
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "../shared/data".into());
    let count: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20);
    println!("{count} columns\n\n| data | paper's RED | way | RED | accuracy | seconds |\n|---|---|---|---|---|---|");
    for (name, file, paper) in SETS {
        let path = Path::new(&folder).join(format!("{file}.parquet"));
        if !path.exists() {
            println!("| {name} | {paper} | {} is not there | | | |", path.display());
            continue;
        }
        for (way, criterion, search) in WAYS {
            let (mut red, mut right, mut seconds) = (0.0, 0.0, 0.0);
            for seed in SPLITS {
                let found = choose(&folder, file, criterion, search, count, seed)?;
                red += found.0 / SPLITS.len() as f64;
                right += found.1 / SPLITS.len() as f64;
                seconds += found.2 / SPLITS.len() as f64;
            }
            println!("| {name} | {paper} | {way} | {red:.3} | {right:.3} | {seconds:.2} |");
        }
    }
    Ok(())
}

/// Redundancy, accuracy on test rows and seconds of one selection.
fn choose(
    folder: &str,
    file: &str,
    criterion: &str,
    search: &str,
    count: usize,
    seed: u64,
) -> Result<(f64, f64, f64), Error> {
    let text = format!(
        "version: 1\nseed: {seed}\ndata: {{train: {file}.parquet, target: target, task: multiclass, test_fraction: 0.3}}\n\
         preprocess: [standardize]\nlearner: {{kind: rls, lambda: 1.0}}\ncriterion: {criterion}\n\
         search: {{kind: {search}, max_features: {count}, choose: last}}\n"
    );
    let (pipeline, _) = load(&text, file, &[])?;
    let prepared = prepare(&pipeline, Path::new(folder))?;
    let selection = pipeline.selector().select(&prepared.train, &mut Silent)?;
    let subset = selection.path.result().map_or(Vec::new(), |entry| entry.subset.clone());
    let Some(test) = &prepared.test else { return Ok((f64::NAN, f64::NAN, f64::NAN)) };
    let predicted = selection.model.predict(&test.columns().select(selection.model.inputs()), None)?;
    let largest = |column: ndarray::ArrayView1<f64>| {
        (0..column.len()).max_by(|&a, &b| column[a].total_cmp(&column[b])).unwrap_or(0)
    };
    let right = |row: &usize| largest(predicted.column(*row)) == largest(test.targets().column(*row));
    let accuracy = (0..test.rows()).filter(right).count() as f64 / test.rows() as f64;
    Ok((redundancy(&prepared.train, &subset), accuracy, selection.search_seconds))
}

/// The mean of |ρ| over pairs of different columns, which are standardized.
fn redundancy(problem: &Problem, subset: &[Feature]) -> f64 {
    let rows = problem.rows() as f64;
    let columns: Vec<_> = subset.iter().map(|&f| problem.columns().column(f).values().into_owned()).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / rows;
    let size = columns.len() as f64;
    let mut sum = 0.0;
    for (k, a) in columns.iter().enumerate() {
        sum += columns[..k].iter().map(|b| product(a, b).abs()).sum::<f64>();
    }
    2.0 * sum / (size * (size - 1.0))
}
