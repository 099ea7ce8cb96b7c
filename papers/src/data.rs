//! Problems from the files of data, cut and scaled.

use crate::run::Bench;
use ndarray::Axis;
use std::path::Path;
use vaglio::files::prepare;
use vaglio_core::{Columns, Feature, Loss, Problem, Result, Squared, ZeroOne};
use vaglio_pipeline::pipeline::load;
use vaglio_testkit::SplitMix64;

impl Bench<'_> {
    /// All rows of a file of two classes, as they are.
    pub fn classes(&self, file: &str, settings: &str) -> Result<Problem> {
        let text = format!("version: 1\ndata: {{train: {file}.parquet, target: target, task: binary{settings}}}\n");
        let (pipeline, _) = load(&text, "pipeline", &[])?;
        Ok(prepare(&pipeline, Path::new(&self.folder))?.train)
    }
}

/// The rows of both, those of `first` before those of `second`; the columns are the same.
pub fn together(first: &Problem, second: &Problem) -> Result<Problem> {
    let mut columns = Columns::new(first.rows() + second.rows());
    for k in 0..first.columns().len() {
        let parts = [first, second].map(|p| p.columns().column(k).values().into_owned());
        columns.push(parts.concat());
    }
    let targets = ndarray::concatenate(Axis(1), &[first.targets().view(), second.targets().view()])
        .map_err(|e| vaglio_core::Error::Shape(e.to_string()))?;
    Problem::new(columns, first.names().to_vec(), targets, first.target_names().to_vec(), first.task().clone())
}

/// Training and test rows of a problem, standardized by the training rows.
pub fn split(problem: &Problem, training: &[usize], test: &[usize]) -> Result<(Problem, Problem)> {
    let (train, test) = (problem.select_rows(training), problem.select_rows(test));
    let rows = train.rows() as f64;
    let (mut ours, mut theirs) = (Columns::new(train.rows()), Columns::new(test.rows()));
    for k in 0..train.columns().len() {
        let values = train.columns().column(k).values();
        let mean = values.iter().sum::<f64>() / rows;
        let deviation = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / rows).sqrt();
        let scale = if train.columns().column(k).is_constant() { 1.0 } else { deviation };
        ours.push(values.iter().map(|v| (v - mean) / scale).collect::<Vec<_>>());
        let values = test.columns().column(k).values();
        theirs.push(values.iter().map(|v| (v - mean) / scale).collect::<Vec<_>>());
    }
    let again = |problem: &Problem, columns: Columns| {
        let (names, targets) = (problem.names().to_vec(), problem.targets().as_ref().clone());
        Problem::new(columns, names, targets, problem.target_names().to_vec(), problem.task().clone())
    };
    Ok((again(&train, ours)?, again(&test, theirs)?))
}

/// Mean squared error, and the share of rows on the wrong side, of test rows after a ridge readout of some columns.
pub fn test_figures(
    train: &Problem,
    test: &Problem,
    subset: &[Feature],
    lambda: f64,
    intercept: bool,
) -> Result<[f64; 2]> {
    let failed = |e: vaglio_kernels::linalg::FactorizationError| vaglio_core::Error::Numerical(e.to_string());
    let x = train.columns().matrix(subset);
    let ridge = vaglio_kernels::ridge::Ridge::new(x.view(), train.targets().view(), None, intercept).map_err(failed)?;
    let (weights, intercept) = ridge.coefficients(lambda).map_err(failed)?;
    let predictions =
        vaglio_core::Coefficients { weights, intercept }.predict_columns(&test.columns().select(subset))?;
    Ok([&Squared as &dyn Loss, &ZeroOne].map(|loss| loss.mean(test.targets().view(), predictions.view(), None)))
}

/// 0, …, `count` − 1 in another order.
pub fn order(seed: u64, count: usize) -> Vec<usize> {
    let (mut random, mut order) = (SplitMix64::new(seed), (0..count).collect::<Vec<usize>>());
    for last in (1..count).rev() {
        order.swap(last, (random.bits() % (last as u64 + 1)) as usize);
    }
    order
}

/// Folds in which each class is spread evenly: training and test rows of each.
pub fn stratified(problem: &Problem, folds: usize, seed: u64) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut of_row = vec![0; problem.rows()];
    let mut next = 0;
    for positive in [true, false] {
        let is_member = |row: &usize| (problem.targets()[[0, *row]] > 0.0) == positive;
        for row in order(seed, problem.rows()).into_iter().filter(is_member) {
            of_row[row] = next % folds;
            next += 1;
        }
    }
    let rows = |fold: usize, inside: bool| {
        (0..problem.rows()).filter(|&row| (of_row[row] == fold) == inside).collect::<Vec<usize>>()
    };
    (0..folds).map(|fold| (rows(fold, false), rows(fold, true))).collect()
}
