//! A step of the full pass over the columns for several losses: minimum over several steps, on one thread.
//!
//! `cargo bench -p vaglio-kernels --bench pass` takes 60000 × 780; `-- 20000 100` takes other rows and columns.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;
use vaglio_columns::{Column, Measure};
use vaglio_kernels::loo::LooState;
use vaglio_kernels::{Data, Level, Scorer};
use vaglio_testkit::data::sparse_linear;

const STEPS: usize = 12;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (rows, columns) = (*numbers.first().unwrap_or(&60_000), *numbers.get(1).unwrap_or(&780));
    let (x, y) = sparse_linear(1, rows, columns, 50, 1.0);
    let classes: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
    let weights: Vec<f64> = (0..rows).map(|j| 1.0 + (j % 3) as f64).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        println!("{rows} x {columns}, {}", Level::current().name());
        let mut copy = x.clone();
        let touch = || copy.iter_mut().flatten().for_each(|v| *v = *v * 0.999 + 0.1);
        println!("memory: one read and write of the columns {:.1} ms", 1e3 * least(touch));
        drop(copy);
        step("squared", &x, &y, None, Measure::Squared);
        step("zero-one", &x, &classes, None, Measure::ZeroOne);
        step("zero-one with weights", &x, &classes, Some(&weights), Measure::ZeroOne);
        step("balanced error", &x, &classes, None, Measure::BalancedError);
        step("absolute", &x, &y, None, Measure::Absolute);
    });
}

/// Returns the minimum wall time in seconds.
fn least(mut work: impl FnMut()) -> f64 {
    let timed = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..STEPS).map(timed).fold(f64::INFINITY, f64::min)
}

fn step(name: &str, x: &[Vec<f64>], y: &[f64], weights: Option<&[f64]>, measure: Measure) {
    let columns = x.iter().map(|x| Column::Double(x)).collect();
    let data = Arc::new(Data::new(columns, &[y], weights, false, None).unwrap());
    let scorer = Scorer::new(Arc::clone(&data.targets), measure);
    let mut state = LooState::new(Arc::clone(&data), 1.0, []);
    let mut open: Vec<usize> = (0..x.len()).collect();
    let mut sum = 0.0;
    let mut one = || {
        let trials = state.trials(&scorer, &open);
        sum += trials.iter().map(|t| t.loss).sum::<f64>();
        let best = (0..open.len()).min_by(|&a, &b| trials[a].loss.total_cmp(&trials[b].loss)).unwrap();
        state.add(open.remove(best));
    };
    one();
    let seconds = least(one);
    println!("{name}: {:.1} ms a step; losses {sum:?}", 1e3 * seconds);
}
