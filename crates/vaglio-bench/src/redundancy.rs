//! Redundancy and accuracy of columns chosen on image and microarray data.

use crate::markdown::{Table, number, seconds};
use crate::run::{Bench, mean};
use vaglio_core::{Feature, Problem, Result};

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
const SIZES: [usize; 3] = [10, 20, 50];

/// RED, accuracy and seconds for every set, way and size.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = String::from(
        "# Redundancy of chosen columns\n\nM. Yamada et al., *N³LARS: minimum redundancy maximum relevance feature selection for large \
         and high-dimensional data*. RED is the mean absolute correlation of pairs of chosen columns; accuracy is that of a ridge \
         readout (λ = 1) on 30 % of the rows, held out. Means over splits. How many columns the paper chose is not known here.\n\n",
    );
    for size in SIZES {
        let head = ["data", "way", "paper's RED", "RED", "accuracy", "seconds"];
        let mut table = Table::new(&format!("{size} columns"), &head);
        for (name, file, paper) in SETS {
            if !bench.has(name, &[file]) {
                continue;
            }
            for (way, criterion, search) in WAYS {
                (bench.note)(&format!("{name}, {size} columns: {way}"));
                let found: Vec<[f64; 3]> = (1..=bench.seeds)
                    .map(|seed| choose(bench, file, criterion, search, size, seed))
                    .collect::<Result<_>>()?;
                let [red, right, time] = [0, 1, 2].map(|k| mean(&found.iter().map(|f| f[k]).collect::<Vec<_>>()));
                let paper = if way == WAYS[0].0 { number(paper, 3) } else { String::new() };
                table.row(&[name.into(), way.into(), paper, number(red, 3), number(right, 3), seconds(time)]);
            }
        }
        text += &table.finish();
    }
    Ok(text)
}

/// Redundancy, accuracy on test rows and seconds of one selection.
fn choose(bench: &Bench<'_>, file: &str, criterion: &str, search: &str, count: usize, seed: u64) -> Result<[f64; 3]> {
    let run = bench.run(&format!(
        "version: 1\nseed: {seed}\ndata: {{train: {file}.parquet, target: target, task: multiclass, test_fraction: 0.3}}\n\
         preprocess: [standardize]\nlearner: {{kind: rls, lambda: 1.0}}\ncriterion: {criterion}\n\
         search: {{kind: {search}, max_features: {count}, choose: last}}\n"
    ))?;
    let subset = run.selection.path.result().map_or(&[][..], |entry| &entry.subset);
    let wrong = run.test.and_then(|test| test.error_rate).unwrap_or(f64::NAN);
    Ok([redundancy(&run.prepared.train, subset), 1.0 - wrong, run.selection.search_seconds])
}

/// The mean of |ρ| over pairs of different columns, which are standardized.
fn redundancy(problem: &Problem, subset: &[Feature]) -> f64 {
    let rows = problem.rows() as f64;
    let columns: Vec<_> = subset.iter().map(|&f| problem.columns().column(f).values().into_owned()).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / rows;
    let size = columns.len() as f64;
    let pairs = columns.iter().enumerate();
    let sum: f64 = pairs.map(|(k, a)| columns[..k].iter().map(|b| product(a, b).abs()).sum::<f64>()).sum();
    2.0 * sum / (size * (size - 1.0))
}
