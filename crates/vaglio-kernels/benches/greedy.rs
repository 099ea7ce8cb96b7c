//! Greedy selection on seeded data: the full pass, bounds, and limited memory, in one run.
//!
//! `cargo bench -p vaglio-kernels --bench greedy` takes 60000 × 780 and 20 steps; `-- 20000 100` takes other rows and
//! steps. The data equal those of the NumPy program for comparison: uniform noise of unit variance from splitmix64,
//! neighbour correlation 0.5, fifty columns of decreasing effect. `RAYON_NUM_THREADS` sets the threads, `VAGLIO_CPU`
//! the instruction set.
#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use vaglio_columns::{Column, Measure};
use vaglio_kernels::loo::LooState;
use vaglio_kernels::{Data, Level, Scorer};
use vaglio_testkit::data::sparse_linear;

const COLUMNS: usize = 780;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (rows, steps) = (*numbers.first().unwrap_or(&60_000), *numbers.get(1).unwrap_or(&20));
    let (x, y) = sparse_linear(1, rows, COLUMNS, 50, 1.0);
    println!(
        "{rows} x {COLUMNS}, {steps} steps, {} threads, {}",
        rayon::current_num_threads(),
        Level::current().name()
    );
    let limit = read_and_write(&x);
    println!("memory   one read and write of the data: {:.1} ms", 1e3 * limit);
    for round in 0..3 {
        let (seconds, chosen) = bounds(&x, &y, steps);
        report(&format!("bounds {round}"), seconds, steps, limit);
        let (seconds, again) = full_pass(&x, &y, steps);
        report(&format!("full {round}"), seconds, steps, limit);
        assert_eq!(chosen, again, "both ways choose the same columns");
    }
}

fn report(name: &str, seconds: f64, steps: usize, limit: f64) {
    let step = seconds / steps as f64;
    println!("{name:<9}{seconds:.3} s, {:.1} ms a step, {:.2} of the memory limit", 1e3 * step, step / limit);
}

fn data<'d>(x: &'d [Vec<f64>], y: &[f64]) -> Arc<Data<'d>> {
    let columns = x.iter().map(|x| Column::Double(x)).collect();
    Arc::new(Data::new(columns, &[y], None, false, None).unwrap())
}

fn full_pass(x: &[Vec<f64>], y: &[f64], steps: usize) -> (f64, Vec<usize>) {
    let start = Instant::now();
    let data = data(x, y);
    let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
    let mut state = LooState::new(Arc::clone(&data), 1.0, []);
    let mut open: Vec<usize> = (0..x.len()).collect();
    for _ in 0..steps {
        let trials = state.trials(&scorer, &open);
        let best = (0..open.len()).min_by(|&a, &b| trials[a].loss.total_cmp(&trials[b].loss)).unwrap();
        state.add(open.remove(best));
    }
    (start.elapsed().as_secs_f64(), state.selected().collect())
}

fn bounds(x: &[Vec<f64>], y: &[f64], steps: usize) -> (f64, Vec<usize>) {
    let start = Instant::now();
    let data = data(x, y);
    let scorer = Scorer::new(Arc::clone(&data.targets), Measure::Squared);
    let mut state = LooState::new(Arc::clone(&data), 1.0, []);
    for _ in 0..steps {
        let bounds = state.bounds(&scorer, false).unwrap();
        let mut order: Vec<usize> = (0..bounds.len()).collect();
        order.sort_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
        let (mut best, mut next, mut round) = ((f64::INFINITY, 0), 0, 1);
        while next < order.len() && bounds[order[next]] <= best.0 {
            let batch: Vec<usize> = order[next..].iter().copied().take(round).collect();
            for (position, trial) in batch.iter().zip(state.bounded_trials(&scorer, &batch)) {
                if trial.loss < best.0 {
                    best = (trial.loss, data.candidates[*position]);
                }
            }
            next += batch.len();
            round = (2 * round).min(32);
        }
        state.add(best.1);
    }
    (start.elapsed().as_secs_f64(), state.selected().collect())
}

/// Measures the minimum time to read and write every entry once.
fn read_and_write(x: &[Vec<f64>]) -> f64 {
    let mut copy = x.to_vec();
    let pass = |copy: &mut Vec<Vec<f64>>| {
        let start = Instant::now();
        copy.iter_mut().flatten().for_each(|v| *v = *v * 0.999 + 0.1);
        black_box(&copy);
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| pass(&mut copy)).fold(f64::INFINITY, f64::min)
}
