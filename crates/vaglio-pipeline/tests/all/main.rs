//! Selection, resampling, tuning and preprocessing, against plain loops.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod calibration;
mod choice;
mod dummy_path;
mod fdr;
mod filled_cells;
mod gain;
mod intervals;
mod lockstep;
mod loss_intervals;
mod loss_sums;
mod permutation;
mod refit;
mod settings;
mod size_stability;
mod splits;
#[cfg(feature = "tune")]
mod tune;

use ndarray::Array2;
use vaglio_core::ridge::ridge;
use vaglio_core::{Problem, Task};
use vaglio_pipeline::ValidSelector;
use vaglio_pipeline::resampling::{Choice, Sample, TrainTestSplit, select};
use vaglio_report::record::Warning;
use vaglio_search::{Monitor, Path, Silent};
use vaglio_testkit::data;

/// A search with its chosen result.
struct Chosen {
    path: Path,
    chosen: Choice,
    warnings: Vec<Warning>,
}

fn choose(selector: &ValidSelector, sample: &Sample) -> Chosen {
    let design = selector.design(&sample.fit().unwrap().problem).unwrap();
    let picked = select(selector, sample, &design, &mut Monitor::from(&mut Silent)).unwrap();
    Chosen { path: picked.searched.path, chosen: picked.chosen, warnings: picked.warnings }
}

fn problem(columns: &[Vec<f64>], y: &[f64]) -> Problem {
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    data::given(&columns, &[y], Task::Regression).unwrap()
}

/// Mean squared error on held-out rows of ridge regression by definition, with all columns and an intercept.
fn held_out_error(columns: &[Vec<f64>], y: &[f64], parts: &[TrainTestSplit], lambda: f64) -> f64 {
    let values = |rows: &[usize]| Array2::from_shape_fn((columns.len(), rows.len()), |(k, j)| columns[k][rows[j]]);
    let (mut squares, mut rows) = (0.0, 0);
    for TrainTestSplit { training, held } in parts {
        let targets = Array2::from_shape_fn((1, training.len()), |(_, j)| y[training[j]]);
        let fitted = ridge(values(training).view(), targets.view(), None, lambda, true).unwrap();
        let predicted = fitted.predict(values(held).view());
        squares += held.iter().enumerate().map(|(j, &row)| (predicted[[0, j]] - y[row]).powi(2)).sum::<f64>();
        rows += held.len();
    }
    squares / rows as f64
}
