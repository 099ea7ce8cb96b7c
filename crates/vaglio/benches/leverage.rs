//! Leave-one-out where rows have a leverage of nearly 1: wide data, and columns that one row carries alone.
//!
//! `cargo bench -p vaglio --bench leverage` runs every case once; `-- wide` those whose name contains the word. Uniform
//! noise from splitmix64 with ten columns of falling effect.
#![allow(clippy::unwrap_used)]

use linfa::ParamGuard;
use ndarray::Array2;
use std::time::Instant;
use vaglio::Selector;
use vaglio::core::{Absolute, Columns, Lambda, Loss, Part, Problem, Squared, Task};
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::{Backward, Greedy, Search, Silent};
use vaglio_testkit::SplitMix64;

fn main() {
    let squared = || Part::<dyn Loss>::from(Squared);
    let grid = || Lambda::grid(1e-6, 1e3, 80);
    let few = |points| Lambda::grid(1e-4, 1.0, points);
    run("greedy 106 x 115, 80 lambda", 106, 115, 0, squared(), grid(), Greedy::new(110));
    run("greedy wide 100 x 2000", 100, 2000, 0, squared(), Lambda::from(1e-6), Greedy::new(105));
    run("greedy wide 100 x 1000, absolute", 100, 1000, 0, Absolute.into(), Lambda::from(1e-6), Greedy::new(105));
    run("backward wide 100 x 140", 100, 140, 0, squared(), Lambda::from(1e-6), Backward::new(60));
    run("backward wide 80 x 500", 80, 500, 0, squared(), Lambda::from(1e-6), Backward::new(470));
    run("one row a column 20000 x 100, score", 20_000, 100, 40, squared(), Lambda::from(1e-4), Backward::new(100));
    run("one row a column 20000 x 100, 12 lambda", 20_000, 100, 40, squared(), few(12), Backward::new(100));
    run("one row a column 5000 x 100, backward", 5_000, 100, 40, squared(), Lambda::from(1e-4), Backward::new(96));
    run("one row a column 5000 x 100, absolute", 5_000, 100, 40, Absolute.into(), Lambda::from(1e-4), Greedy::new(70));
}

/// The last `alone` columns are not 0 in one row each.
fn run(
    name: &str,
    rows: usize,
    count: usize,
    alone: usize,
    loss: Part<dyn Loss>,
    lambda: Lambda,
    search: impl Into<Search>,
) {
    if !std::env::args().skip(1).filter(|a| !a.starts_with('-')).all(|word| name.contains(&word)) {
        return;
    }
    let mut random = SplitMix64::new(7);
    let mut x = vec![Vec::with_capacity(rows); count];
    for _ in 0..rows {
        x.iter_mut().for_each(|column| column.push(unit(&mut random)));
    }
    let mut random = SplitMix64::new(1007);
    let mut y: Vec<f64> = (0..rows).map(|_| 2.0 * unit(&mut random)).collect();
    for t in 0..10 {
        let effect = if t % 2 == 0 { 1.0 } else { -1.0 } / (1.0 + 0.1 * t as f64);
        y.iter_mut().zip(&x[(t * 37 + 5) % (count - alone)]).for_each(|(y, x)| *y += effect * x);
    }
    for (k, column) in x.iter_mut().rev().take(alone).enumerate() {
        column.iter_mut().enumerate().for_each(|(j, x)| *x = if j == 7 * k { 3.0 } else { 0.0 });
    }
    let mut columns = Columns::new(rows);
    x.into_iter().for_each(|column| columns.push(column));
    let names = (0..count).map(|j| format!("x{j}")).collect();
    let targets = Array2::from_shape_vec((1, rows), y).unwrap();
    let problem = Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap();
    let selector = Selector::params(Loo { loss, ..Loo::default() }, search, Rls { lambda, intercept: true });
    let start = Instant::now();
    let selection = selector.check().unwrap().select(&problem, &mut Silent).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let last = selection.path.entries.last().unwrap();
    println!("{name:<42}{seconds:>8.3} s   {:.12e}, {} columns", last.score.loss, last.subset.len());
}

/// Uniform, of unit variance.
fn unit(random: &mut SplitMix64) -> f64 {
    (random.uniform() * 2.0 - 1.0) * 3f64.sqrt()
}
