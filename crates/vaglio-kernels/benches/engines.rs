//! Engines compared with their alternatives: class sums with a decomposition for each class, the tree of moments with
//! copies of forward states.
//!
//! `cargo bench -p vaglio-kernels --bench engines` runs all; `-- tree` runs the named ones. Minimum over several runs;
//! `RAYON_NUM_THREADS` sets the threads.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;
use vaglio_columns::Column;
use vaglio_kernels::kfold::{Decomposition, FoldedRows, ForwardMoments, MomentTree, Moments};
use vaglio_kernels::loo::ClassSums;
use vaglio_kernels::{Data, Folds, Level};
use vaglio_testkit::data::sparse_linear;

const RUNS: usize = 5;

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|n| n == name);
    println!("{} threads, {}", rayon::current_num_threads(), Level::current().name());
    if wanted("classes") {
        for (rows, size, classes) in [(500, 10, 2), (2000, 20, 2), (2000, 20, 10), (2000, 100, 10)] {
            class_sums(rows, size, classes);
        }
    }
    if wanted("tree") {
        tree(16, 1);
        tree(16, 5);
    }
}

/// One subset by leave-one-out with balanced classes.
fn class_sums(rows: usize, size: usize, classes: usize) {
    let (x, _) = sparse_linear(4, rows, size, 10, 1.0);
    let class = |row: usize| row % classes;
    let outputs: Vec<Vec<f64>> =
        (0..classes).map(|c| (0..rows).map(|row| if class(row) == c { 1.0 } else { -1.0 }).collect()).collect();
    let labels: Vec<usize> = (0..rows).map(class).collect();
    let members: Vec<Vec<usize>> = (0..classes).map(|c| (c..rows).step_by(classes).collect()).collect();
    let targets: Vec<&[f64]> = outputs.iter().map(Vec::as_slice).collect();
    let data = |weights: Option<&[f64]>| {
        let columns = x.iter().map(|x| Column::Double(x)).collect();
        Data::new(columns, &targets, weights, true, None).unwrap()
    };
    let subset: Vec<usize> = (0..size).collect();
    let plain = data(None);
    let (sums, first) = least(|| {
        let sums = ClassSums::new(&plain, &labels, &subset).unwrap();
        sums.residuals(&members, |_| 1.0, 1.0).0.iter().flatten().map(|e| e * e).sum::<f64>()
    });
    let weighted: Vec<FoldedRows<'_>> = (0..classes)
        .map(|left| {
            let total = |c: usize| (members[c].len() - usize::from(c == left)) as f64;
            let weights: Vec<f64> = labels.iter().map(|&c| 1.0 / total(c)).collect();
            FoldedRows::new(data(Some(&weights)), Folds::single(rows), false)
        })
        .collect();
    let (alone, second) = least(|| {
        let class_loss = |(rows, own): (&FoldedRows<'_>, &Vec<usize>)| {
            let (residuals, _) = Decomposition::new(rows, &subset).unwrap().residuals(1.0, own);
            residuals.iter().map(|r| own.iter().map(|&row| r[row] * r[row]).sum::<f64>()).sum::<f64>()
                * (own.len() - 1) as f64
        };
        weighted.iter().zip(&members).map(class_loss).sum::<f64>()
    });
    println!("classes    {rows} x {size}, {classes}: sums {sums:.2e}, decompositions {alone:.2e}; {first} {second}");
}

/// Every subset in folds, depth first.
fn tree(columns: usize, lambdas: usize) {
    let (x, y) = sparse_linear(6, 500, columns, 10, 2.0);
    let rows = rows_of(&x, &y, 10);
    let moments = Arc::new(Moments::new(&rows).unwrap());
    let lambdas: Vec<f64> = (0..lambdas).map(|l| 10f64.powi(l as i32)).collect();
    let all: Vec<usize> = (0..columns).collect();
    let (by_tree, first) = least(|| {
        let (mut open, mut best) = (vec![MomentTree::new(&moments, &lambdas, &all)], f64::INFINITY);
        while let Some(tree) = open.pop() {
            best = tree.trials(tree.later()).iter().flatten().map(|trial| trial.loss).fold(best, f64::min);
            open.extend((1..tree.later().len()).map(|k| tree.child(k - 1)));
        }
        best
    });
    let (by_forward, second) = least(|| {
        let (mut open, mut best) = (vec![(ForwardMoments::new(&moments, &lambdas, &[]), 0)], f64::INFINITY);
        while let Some((state, from)) = open.pop() {
            best = state.trials(&all).iter().flatten().map(|trial| trial.loss).fold(best, f64::min);
            open.extend((from..columns.saturating_sub(1)).map(|k| {
                let mut child = state.clone();
                child.add(k);
                (child, k + 1)
            }));
        }
        best
    });
    println!(
        "tree       {columns} columns, {} lambdas: tree {by_tree:.2e}, forward {by_forward:.2e}; {first} {second}",
        lambdas.len()
    );
}

/// The least seconds of several runs, and a result.
fn least<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut one = || {
        let start = Instant::now();
        let out = work();
        (start.elapsed().as_secs_f64(), out)
    };
    let first = one();
    (1..RUNS).map(|_| one()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

fn rows_of<'d>(x: &'d [Vec<f64>], y: &[f64], folds: usize) -> FoldedRows<'d> {
    let columns = x.iter().map(|x| Column::Double(x)).collect();
    let data = Data::new(columns, &[y], None, true, None).unwrap();
    let fold = |j: usize| (j * folds / y.len()) as u32;
    FoldedRows::new(data, Folds::new(&(0..y.len()).map(fold).collect::<Vec<u32>>()), false)
}
