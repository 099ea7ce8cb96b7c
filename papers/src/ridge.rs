//! Fast cross-validation of ridge regression, with forward and backward selection.

use crate::lambda_search::{self, Way};
use crate::markdown::{MarkdownTable, number, seconds};
use crate::run::{Bench, median};
use ndarray::{Array1, Array2};
use std::time::Instant;
use vaglio::files::prepare;
use vaglio::search::Silent;
use vaglio_core::Result;
use vaglio_pipeline::pipeline::load;
use vaglio_report::record::Figures;

/// A set, its file, all rows, the training rows of the paper, and its errors × 10: RR, FFS, BFS, LARS, OP-LR, OP-RR.
struct Set {
    name: &'static str,
    file: &'static str,
    rows: usize,
    training: usize,
    paper: [f64; 6],
    /// Columns of the paper's, its neurons and inputs, and whether ours has as many.
    columns: usize,
    same: bool,
    /// How text is coded.
    coding: &'static str,
}

#[rustfmt::skip]
const SETS: [Set; 7] = [
    Set { name: "Abalone", file: "abalone", rows: 4177, training: 2785, paper: [6.77, 6.72, 6.65, 7.80, 6.74, 6.76], columns: 108, same: true, coding: "ordinal" },
    Set { name: "Ailerons", file: "ailerons", rows: 13750, training: 7154, paper: [4.32, 4.30, 4.16, 8.42, 4.24, 4.37], columns: 131, same: false, coding: "one_hot" },
    Set { name: "Bank", file: "bank32nh", rows: 8192, training: 4500, paper: [6.74, 6.79, 6.73, 6.76, 6.76, 6.76], columns: 132, same: true, coding: "one_hot" },
    Set { name: "Cancer", file: "wpbc", rows: 194, training: 129, paper: [5.11, 4.09, 4.76, 5.25, 5.76, 5.76], columns: 117, same: false, coding: "one_hot" },
    Set { name: "Elevators", file: "elevators", rows: 16599, training: 8752, paper: [3.89, 4.18, 3.89, 4.59, 3.97, 3.89], columns: 115, same: false, coding: "one_hot" },
    Set { name: "Price", file: "auto_price", rows: 159, training: 106, paper: [4.42, 2.98, 3.86, 189.0, 4.60, 4.60], columns: 105, same: false, coding: "one_hot" },
    Set { name: "Servo", file: "servo", rows: 167, training: 111, paper: [5.13, 4.87, 4.91, 9.91, 5.65, 5.13], columns: 103, same: false, coding: "one_hot" },
];
const METHODS: [&str; 6] = ["RR", "FFS", "BFS", "LARS", "OP-LR", "OP-RR"];

/// A method of the paper as the parts of a pipeline: λ of the learner, criterion and search.
struct RidgeMethod {
    lambda: String,
    criterion: String,
    search: String,
}

impl RidgeMethod {
    /// By so many folds, dealt as `how` says, and a grid of λ. FFS and BFS go to the end and take the lowest score; the paths
    /// of LARS and OP-LR are as long as cross-validation of the whole search says.
    fn new(name: &str, folds: usize, how: &str, grid: &str) -> Self {
        let kfold = format!("{{kind: kfold, folds: {folds}{how}}}");
        let validated = format!("choose: {{folds: {folds}}}");
        let (lambda, criterion, search) = match name {
            "RR" => (grid, kfold, "{kind: all, choose: best}".to_owned()),
            "FFS" => (grid, kfold, "{kind: greedy, patience: 100000, choose: best}".into()),
            "BFS" => (grid, kfold, "{kind: backward, choose: best}".into()),
            "LARS" => ("1.0", "loo".into(), format!("{{kind: lars, lasso: false, coefficients: path, {validated}}}")),
            "OP-LR" => ("1e-6", "loo".into(), format!("{{kind: lars, lasso: false, {validated}}}")),
            _ => (grid, kfold, "{kind: lars, lasso: false, choose: best}".into()),
        };
        RidgeMethod { lambda: lambda.into(), criterion, search }
    }

    fn parts(&self) -> String {
        format!("criterion: {}\nsearch: {}\n", self.criterion, self.search)
    }
}

/// The grids of penalties of the paper's sizes.
const GRID: &str = "{grid: {from: 0.1, to: 1e5, points: 80}}";
const GRID_OF_ADULT: &str = "{grid: {from: 1e-2, to: 1e4, points: 50}}";
const GRID_OF_EXCHANGER: &str = "{grid: {from: 0.1, to: 1e5, points: 50}}";

pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = String::from(
        "# Cross-validation of ridge regression\n\nP. Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter \
         search for large datasets of the regularization parameter and feature selection for ridge regression*, Neural Processing \
         Letters 2013.\n\n",
    );
    text += &lambda_alone(bench)?;
    text += &trials(bench)?;
    text += &regression(bench)?;
    text += &adult(bench)?;
    text += &exchanger(bench)?;
    Ok(text)
}

/// All columns of a split as the paper's ways take them.
struct Readied {
    x: Array2<f64>,
    y: Array1<f64>,
    /// The fold of each row.
    of_row: Vec<usize>,
    lambdas: Vec<f64>,
}

fn readied(bench: &Bench<'_>, set: &Set) -> Result<Option<Readied>> {
    let method = RidgeMethod::new("RR", 20, ", shuffle: true", GRID);
    let text = format!("{}{}{}", data(set, 1), elm(&method.lambda), method.parts());
    let (pipeline, _) = load(&text, "pipeline", &[])?;
    let prepared = prepare(&pipeline, &bench.folder)?;
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train)?;
    let vaglio_core::HeldOut::Folds(rounds) = selector.criterion.folds(&design)? else { return Ok(None) };
    let of_row: Vec<usize> = rounds[0].fold_of_rows().iter().map(|fold| fold.map_or(0, |fold| fold as usize)).collect();
    let (x, y) = (design.problem().columns().matrix(&design.candidates()), design.targets().row(0).to_owned());
    Ok(Some(Readied { x, y, of_row, lambdas: design.lambdas().into_iter().flatten().collect() }))
}

/// Seconds to find λ on all columns, by the paper's three ways and by the search of all columns.
fn lambda_alone(bench: &Bench<'_>) -> Result<String> {
    let head = ["data", "rows", "columns", "condition", "naive", "covariance", "eigen", "products alone", "vaglio"];
    let mut table = MarkdownTable::new("Seconds to find λ: 20 folds, 80 penalties, one split", &head);
    for set in SETS.iter().filter(|set| bench.has(set.name, &[set.file])) {
        (bench.note)(&format!("{}: lambda alone", set.name));
        let Some(Readied { x, y, of_row, lambdas }) = readied(bench, set)? else { continue };
        let mut times = Vec::new();
        let mut products = 0.0;
        for way in [Way::Naive, Way::Covariance, Way::Eigendecomposition] {
            let (_, time, fixed) = lambda_search::losses(way, &x, &y, &of_row, &lambdas)?;
            times.push(seconds(time));
            products = fixed;
        }
        let method = RidgeMethod::new("RR", 20, ", shuffle: true", GRID);
        let found = bench.run(&format!("{}{}{}", data(set, 1), elm(&method.lambda), method.parts()))?.selection;
        let condition = lambda_search::condition(&x)?;
        let sizes = [x.nrows().to_string(), x.ncols().to_string(), format!("{condition:.0e}")];
        let own = [seconds(products), seconds(found.search_seconds)];
        table.row(&[vec![set.name.to_owned()], sizes.to_vec(), times, own.to_vec()].concat());
    }
    Ok(table.finish()
        + "Naive makes products and solves for every fold and λ, covariance makes products for every fold, eigendecomposition needs one for \
           every fold; all with the same blocked products and factorizations as vaglio. Vaglio's seconds hold the learner's map too. The \
           condition is that of the products of all centered columns.\n\n")
}

/// Seconds of forward and backward selection to the end whose every trial finds λ in one of the paper's ways, from trials of
/// some sizes: a trial is timed at a quarter, a half, three quarters and all of the columns, and what lies between is on a line.
fn trials(bench: &Bench<'_>) -> Result<String> {
    let head = [
        "data",
        "columns",
        "FFS naive",
        "FFS covariance",
        "FFS eigen",
        "FFS vaglio",
        "BFS naive",
        "BFS covariance",
        "BFS eigen",
        "BFS vaglio",
    ];
    let mut table = MarkdownTable::new("Seconds of all trials: 20 folds, 80 penalties, one split", &head);
    for set in SETS.iter().filter(|set| bench.has(set.name, &[set.file])) {
        (bench.note)(&format!("{}: trials", set.name));
        let Some(Readied { x, y, of_row, lambdas }) = readied(bench, set)? else { continue };
        let columns = x.ncols();
        let sizes: Vec<usize> = (1..=4).map(|quarter| (columns * quarter / 4).max(1)).collect();
        let mut cells = [Vec::new(), Vec::new()];
        for way in [Way::Naive, Way::Covariance, Way::Eigendecomposition] {
            let mut times = vec![(0.0, 0.0)];
            for &size in &sizes {
                let some = x.slice(ndarray::s![.., ..size]).to_owned();
                let (_, time, products) = lambda_search::losses(way, &some, &y, &of_row, &lambdas)?;
                // Sub-matrices of products that are made once.
                times.push((size as f64, if way == Way::Naive { time } else { time - products }));
            }
            let all = |trials: &dyn Fn(usize) -> usize| -> f64 {
                (1..=columns).map(|size| trials(size) as f64 * between(&times, size as f64)).sum()
            };
            cells[0].push(all(&|size| columns + 1 - size));
            cells[1].push(all(&|size| size));
        }
        for (cells, method) in cells.iter_mut().zip(["FFS", "BFS"]) {
            cells.push(one(bench, set, method, 1)?.1);
        }
        let shown = cells.iter().flatten().map(|time| seconds(*time));
        table.row(&[set.name.to_owned(), columns.to_string()].into_iter().chain(shown).collect::<Vec<_>>());
    }
    Ok(table.finish()
        + "A search to the end tries every column that is left, or every one that is in, at each size. The seconds of the paper's ways are those of a \
           trial at four sizes times the trials; products of rows are made once but in the naive way. Vaglio's hold the learner's map and the final fit too.\n\n")
}

/// The value at a place on the line through points in increasing order.
fn between(points: &[(f64, f64)], at: f64) -> f64 {
    let after = points.partition_point(|(x, _)| *x < at).clamp(1, points.len() - 1);
    let ((x, low), (z, high)) = (points[after - 1], points[after]);
    low + (high - low) * (at - x) / (z - x)
}

/// NRMSE on test rows of an extreme learning machine with its inputs, 20 folds, 80 penalties.
fn regression(bench: &Bench<'_>) -> Result<String> {
    let mut head = vec!["data", "figure"];
    head.extend(METHODS);
    let mut table = MarkdownTable::new(
        "NRMSE × 10 on test rows: ELM of 100 hidden neurons plus inputs, 20 folds, 80 penalties",
        &head,
    );
    for set in SETS.iter().filter(|set| bench.has(set.name, &[set.file])) {
        let mut errors = vec![Vec::new(); METHODS.len()];
        let (mut times, mut sizes) = (errors.clone(), errors.clone());
        for seed in 1..=bench.seeds {
            (bench.note)(&format!("{}: split {seed}", set.name));
            for (k, method) in METHODS.iter().enumerate() {
                let (error, time, size) = one(bench, set, method, seed)?;
                errors[k].push(10.0 * error);
                times[k].push(time);
                sizes[k].push(size);
            }
        }
        let shape = if set.same { String::new() } else { format!(" (other inputs, paper {})", set.columns) };
        let row = |first: String, what: &str, cells: Vec<String>| [vec![first, what.into()], cells].concat();
        let medians =
            |of: &[Vec<f64>], write: &dyn Fn(f64) -> String| of.iter().map(|v| write(median(v.clone()))).collect();
        table.row(&row(format!("{}{shape}", set.name), "paper", set.paper.iter().map(|v| number(*v, 2)).collect()));
        table.row(&row(String::new(), "vaglio", medians(&errors, &|v| number(v, 2))));
        let all = median(sizes[0].clone());
        let with_share = |size: f64| format!("{} ({:.0} % removed)", number(size, 0), 100.0 * (1.0 - size / all));
        table.row(&row(String::new(), "columns", medians(&sizes, &with_share)));
        table.row(&row(String::new(), "seconds", medians(&times, &seconds)));
    }
    Ok(table.finish()
        + &format!(
            "Medians over {} random splits with as many training rows as the paper's. RR: all columns; FFS and BFS: `greedy` and `backward` \
             on `kfold`, best size; LARS: `lars` with `coefficients: path`, its size by cross-validating the path; OP-LR: least-angle ranking refitted at \
             λ = 1e-6, its size likewise; OP-RR: the same over the grid, size by `kfold`. *Other inputs*: the paper has another number \
             of columns, which is given.\n\n",
            bench.seeds
        ))
}

fn data(set: &Set, seed: u64) -> String {
    format!(
        "version: 1\nseed: {seed}\ndata: {{train: {}.parquet, target: target, task: regression, test_fraction: {}}}\n\
         preprocess: [{}, standardize]\n",
        set.file,
        (set.rows - set.training) as f64 / set.rows as f64,
        set.coding
    )
}

fn elm(lambda: &str) -> String {
    format!("learner: {{kind: elm, units: 100, input_scaling: 0.5, lambda: {lambda}}}\n")
}

/// Error, seconds and columns of one method.
fn one(bench: &Bench<'_>, set: &Set, method: &str, seed: u64) -> Result<(f64, f64, f64)> {
    let method = RidgeMethod::new(method, 20, ", shuffle: true", GRID);
    let run = bench.run(&format!("{}{}{}", data(set, seed), elm(&method.lambda), method.parts()))?;
    let size = run.selection.path.result().map_or(0, |entry| entry.subset.len());
    let error = run.test.and_then(|test| test.nrmse).unwrap_or(f64::NAN);
    Ok((error, run.seconds, size as f64))
}

/// The rows of Adult that the paper trains on; the other file is run once.
const ROWS_OF_PAPER: usize = 16281;

/// Adult by a fixed-size least-squares support vector machine.
fn adult(bench: &Bench<'_>) -> Result<String> {
    if !bench.has("adult", &["adult_a9a_train", "adult_a9a_test"]) {
        return Ok(String::new());
    }
    let head = [
        "training rows",
        "method",
        "paper's error %",
        "error %",
        "paper removes %",
        "removed %",
        "columns",
        "paper's seconds",
        "seconds",
    ];
    let mut table = MarkdownTable::new("Adult: FS-LS-SVM, 400 landmarks, 10 folds, 50 penalties", &head);
    // What the paper says of each, as far as it is known here: its error, the share of the columns that it removes and its seconds.
    let quoted = |name: &str| match name {
        "RR" => ["15.0", "0", "2"],
        "FFS" => ["", "44", "4680"],
        "BFS" => ["", "47", "960"],
        "LARS" => ["16.3", "87", "18"],
        "OP-LR" => ["28.5", "30", "240"],
        _ => ["15.0", "11", "240"],
    };
    for (train, test, rows) in
        [("adult_a9a_test", "adult_a9a_train", ROWS_OF_PAPER), ("adult_a9a_train", "adult_a9a_test", 32561)]
    {
        for name in METHODS {
            let (method, [error, share, time]) = (RidgeMethod::new(name, 10, "", GRID_OF_ADULT), quoted(name));
            let (mut errors, mut times, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
            let seeds = if rows == ROWS_OF_PAPER { bench.seeds.min(3) } else { 1 };
            for seed in 1..=seeds {
                (bench.note)(&format!("Adult, {rows} rows: {name}, seed {seed}"));
                let text = format!(
                    "version: 1\nseed: {seed}\ndata: {{train: {train}.parquet, test: {test}.parquet, target: target, task: binary}}\n\
                     learner: {{kind: fs_ls_svm, landmarks: 400, lambda: {}}}\n{}",
                    method.lambda,
                    method.parts()
                );
                let run = bench.run(&text)?;
                errors.push(100.0 * run.test.and_then(|test| test.error_rate).unwrap_or(f64::NAN));
                times.push(run.seconds);
                sizes.push(run.selection.path.result().map_or(0.0, |entry| entry.subset.len() as f64));
            }
            table.row(&[
                rows.to_string(),
                name.into(),
                error.into(),
                number(median(errors), 2),
                share.into(),
                number(100.0 * (1.0 - median(sizes.clone()) / 400.0), 0),
                number(median(sizes), 0),
                time.into(),
                seconds(median(times)),
            ]);
        }
    }
    Ok(table.finish()
        + "The paper trains on 16281 rows; the other file is run with one seed. Its seconds are of the search alone; ours hold the choice of landmarks (the paper's took 14 hours), \
           the kernel columns, the search and the final fit. Medians over seeds.\n\n")
}

/// The heat exchanger: outlet temperature from the flow of some steps before.
fn exchanger(bench: &Bench<'_>) -> Result<String> {
    if !bench.has("heat exchanger", &["heat_exchanger"]) {
        return Ok(String::new());
    }
    let head = ["method", "paper", "vaglio", "columns", "seconds"];
    let mut table =
        MarkdownTable::new("Heat exchanger: NRMSE × 10, FS-LS-SVM, 100 landmarks, 10 folds, 50 penalties", &head);
    let lags: Vec<String> = (0..LAGS).map(|lag| lag.to_string()).collect();
    for (name, paper) in METHODS.into_iter().zip([6.20, 8.15, 6.20, 12.7, 9.32, 6.87]) {
        let method = RidgeMethod::new(name, 10, "", GRID_OF_EXCHANGER);
        let (mut errors, mut times, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=bench.seeds {
            (bench.note)(&format!("heat exchanger: {name}, seed {seed}"));
            let text = format!(
                "version: 1\nseed: {seed}\ndata: {{train: heat_exchanger.parquet, target: target, task: regression, time: t}}\n\
                     preprocess: [{{kind: window, columns: [q], lags: [{}]}}, standardize]\n\
                     learner: {{kind: fs_ls_svm, landmarks: 100, lambda: {}}}\n{}",
                lags.join(", "),
                method.lambda,
                method.parts()
            );
            let (pipeline, _) = load(&text, "pipeline", &[])?;
            let all = prepare(&pipeline, &bench.folder)?.train;
            let cut = all.rows() * 3 / 4;
            let (train, test) = (
                all.select_rows(&(0..cut).collect::<Vec<_>>()),
                all.select_rows(&(cut..all.rows()).collect::<Vec<_>>()),
            );
            let start = Instant::now();
            let found = pipeline.selector().select(&train, &mut Silent)?;
            times.push(start.elapsed().as_secs_f64());
            let predicted = found.model.predict(&test.columns().select(found.model.inputs()), None)?;
            let figures = Figures::new(None, &vaglio::core::Squared, test.targets().view(), predicted.view(), None);
            errors.push(10.0 * figures.nrmse.unwrap_or(f64::NAN));
            sizes.push(found.path.result().map_or(0.0, |entry| entry.subset.len() as f64));
        }
        table.row(&[
            name.into(),
            number(paper, 2),
            number(median(errors), 2),
            number(median(sizes), 0),
            seconds(median(times)),
        ]);
    }
    Ok(table.finish()
        + &format!(
            "Inputs are the flow of this step and of the {} before; the first three quarters train, the rest is the test. The paper's inputs and \
             split are not known here (3800 rows).\n\n",
            LAGS - 1
        ))
}

const LAGS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_two_points_is_on_a_line() {
        let points = [(0.0, 0.0), (2.0, 4.0), (4.0, 5.0)];
        assert_eq!([0.5, 2.0, 3.0, 4.0].map(|at| between(&points, at)), [1.0, 4.0, 4.5, 5.0]);
    }
}
