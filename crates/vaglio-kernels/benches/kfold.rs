//! K-fold searches by moments on seeded data, in seconds: one subset for many λ, forward, backward, all
//! subsets, and forward by rows held out.
//!
//! `cargo bench -p vaglio-kernels --bench kfold` runs all; `-- forward` runs the named ones.
//! `benches/peers/numpy_peers.py` at the workspace root has the NumPy equivalents. `RAYON_NUM_THREADS` sets the
//! threads.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;
use vaglio_columns::{Column, Measure};
use vaglio_kernels::kfold::{
    BackwardMoments, FoldedRows, ForwardMoments, HoldOut, MomentTree, Moments, losses_by_lambda,
};
use vaglio_kernels::{Data, Folds, Level, Scorer, Trial};
use vaglio_testkit::data::sparse_linear;

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|n| n == name);
    println!("{} threads, {}", rayon::current_num_threads(), Level::current().name());
    if wanted("spectrum") {
        spectrum(2, 16_281, 400, 10, 50);
        spectrum(3, 345_000, 200, 23, 60);
    }
    if wanted("forward") {
        forward();
    }
    if wanted("backward") {
        backward();
    }
    if wanted("tree") {
        tree();
    }
    if wanted("held_out") {
        held_out(300, 5000);
        held_out(20_000, 200);
    }
}

/// Computes moments, and every λ of the full subset.
fn spectrum(seed: u64, rows: usize, columns: usize, folds: usize, lambdas: usize) {
    let (x, y) = sparse_linear(seed, rows, columns, 50, 1.0);
    let rows = rows_of(&x, &y, folds);
    for _ in 0..3 {
        let (first, moments) = time(|| Moments::new(&rows).unwrap());
        let all: Vec<usize> = (0..columns).collect();
        let (second, losses) = time(|| losses_by_lambda(&moments, &all, &powers(lambdas)).unwrap());
        let best = losses.iter().map(|(losses, _)| losses.iter().sum::<f64>()).fold(f64::INFINITY, f64::min);
        let error = moments.trial(best, 1.0).loss;
        println!(
            "spectrum  {columns} columns: moments {first:.3} + {second:.3} = {:.3}; error {error:.9}",
            first + second
        );
    }
}

/// Returns the column with the smallest loss of trials, λ × columns.
fn winner(trials: &[Vec<Trial>], columns: &[usize]) -> usize {
    let loss = |k: usize| trials.iter().map(|own| own[k].loss).fold(f64::INFINITY, f64::min);
    columns[(0..columns.len()).min_by(|&a, &b| loss(a).total_cmp(&loss(b))).unwrap()]
}

fn forward() {
    let (x, y) = sparse_linear(2, 16_281, 400, 50, 1.0);
    let rows = rows_of(&x, &y, 10);
    for _ in 0..3 {
        let (first, moments) = time(|| Arc::new(Moments::new(&rows).unwrap()));
        let (second, state) = time(|| {
            let mut state = ForwardMoments::new(&moments, &powers(50), &[]);
            let all: Vec<usize> = (0..400).collect();
            (0..100).for_each(|_| state.add(winner(&state.trials(&all), &all)));
            state
        });
        let best = state.losses().iter().map(|(losses, _)| losses.iter().sum::<f64>()).fold(f64::INFINITY, f64::min);
        let error = moments.trial(best, 1.0).loss;
        println!("forward   moments {first:.3} + {second:.3} = {:.3}; error {error:.9}", first + second);
    }
}

fn backward() {
    let (x, y) = sparse_linear(3, 345_000, 200, 50, 1.0);
    let rows = rows_of(&x, &y, 23);
    let (first, moments) = time(|| Arc::new(Moments::new(&rows).unwrap()));
    let mut selected: Vec<usize> = (0..200).collect();
    let (second, mut state) = time(|| BackwardMoments::new(&moments, &powers(60), &selected));
    let (third, ()) = time(|| {
        while selected.len() > 1 {
            let leaving = winner(&state.trials(&selected), &selected);
            state.remove(leaving);
            selected.retain(|column| *column != leaving);
        }
    });
    let best = state.losses().iter().map(|(losses, _)| losses.iter().sum::<f64>()).fold(f64::INFINITY, f64::min);
    let (sum, error) = (first + second + third, moments.trial(best, 1.0).loss);
    println!("backward  moments {first:.3} + {second:.3} + {third:.3} = {sum:.3}; error {error:.9}");
}

fn tree() {
    let (x, y) = sparse_linear(6, 500, 20, 10, 2.0);
    let rows = rows_of(&x, &y, 10);
    let moments = Arc::new(Moments::new(&rows).unwrap());
    let (seconds, (best, subsets)) = time(|| {
        let columns: Vec<usize> = (0..20).collect();
        let (mut open, mut best, mut subsets) = (vec![MomentTree::new(&moments, &[1.0], &columns)], f64::INFINITY, 1);
        while let Some(tree) = open.pop() {
            let trials = tree.trials(tree.later()).concat();
            subsets += trials.len();
            best = trials.iter().map(|trial| trial.loss).fold(best, f64::min);
            open.extend((1..tree.later().len()).map(|k| tree.child(k - 1)));
        }
        (best, subsets)
    });
    println!("tree      {subsets} subsets {seconds:.3}; error {best:.9}");
}

/// Forward selection of twenty columns by rows held out, by squares.
fn held_out(rows: usize, columns: usize) {
    let (x, y) = sparse_linear(7, rows, columns, 10, 1.0);
    let rows = Arc::new(rows_of(&x, &y, 10));
    let targets = Arc::new(rows.data.targets.permute(rows.folds.order()));
    let empty = HoldOut::new(rows);
    let scorer = Scorer::new(targets, Measure::Squared);
    for _ in 0..3 {
        let (seconds, error) = time(|| {
            let mut state = empty.with_subset(1.0, &[]);
            let mut open: Vec<usize> = (0..columns).collect();
            for _ in 0..20 {
                let trials = state.additions(&scorer, &open);
                let best = (0..open.len()).min_by(|&a, &b| trials[a].loss.total_cmp(&trials[b].loss)).unwrap();
                state.add(open.remove(best));
            }
            state.score(&scorer).loss
        });
        println!("held out  {columns} columns {seconds:.3}; error {error:.9}");
    }
}

fn powers(count: usize) -> Vec<f64> {
    (0..count).map(|k| 10f64.powf(-4.0 + 10.0 * k as f64 / (count - 1) as f64)).collect()
}

fn time<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let out = work();
    (start.elapsed().as_secs_f64(), out)
}

fn rows_of<'d>(x: &'d [Vec<f64>], y: &[f64], folds: usize) -> FoldedRows<'d> {
    let columns = x.iter().map(|x| Column::Double(x)).collect();
    let data = Data::new(columns, &[y], None, false, None).unwrap();
    let fold = |j: usize| (j * folds / y.len()) as u32;
    FoldedRows::new(data, Folds::new(&(0..y.len()).map(fold).collect::<Vec<u32>>()), false)
}
