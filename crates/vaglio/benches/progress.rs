//! Shares of work that progress tells, beside shares of the clock.
//!
//! `cargo bench -p vaglio --bench progress` fits one pipeline for each kind of search and criterion; `-- kfold` those whose name
//! contains the word. For each stage of at least a tenth of a second it prints the seconds and the largest factor between both
//! shares, and between what is left of both, between the tenth and the ninth tenth of the clock.
#![allow(clippy::unwrap_used)]

use linfa::Dataset;
use linfa::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use vaglio::prelude::*;
use vaglio_testkit::SplitMix64;

const GRID: &str = "learner: {kind: rls, lambda: {grid: {from: 1e-3, to: 1e3, points: 13}}}";
const LAST: &str = "search: {kind: greedy, max_features: 10, choose: last}";
const CELLS: [(&str, &str); 14] = [
    ("defaults", ""),
    ("defaults, grid of lambda", GRID),
    ("greedy kfold, chosen by folds", "criterion: {kind: kfold, folds: 10}\nsearch: {kind: greedy, max_features: 20}"),
    ("floating loo, chosen by folds", "search: {kind: floating, max_features: 10}"),
    ("backward loo, chosen by folds", "search: {kind: backward, min_features: 1}"),
    ("lars loo, chosen by folds", "search: {kind: lars, max_features: 20}"),
    ("lars loo", "search: {kind: lars, max_features: 10, choose: last}"),
    ("all loo, grid of lambda", "search: all\nlearner: {kind: rls, lambda: {grid: {from: 1e-3, to: 1e3, points: 50}}}"),
    ("absolute kfold, chosen by folds", "criterion: {kind: kfold, folds: 10, loss: absolute}"),
    (
        "exhaustive kfold",
        "criterion: {kind: kfold, folds: 10}\nsearch: {kind: exhaustive, max_features: 4, choose: best}",
    ),
    ("greedy loo", LAST),
    ("greedy kfold", "criterion: {kind: kfold, folds: 10}\nsearch: {kind: greedy, max_features: 10, choose: last}"),
    ("mrmr", "criterion: mrmr\nsearch: {kind: greedy, max_features: 20}"),
    ("huber kfold", "criterion: {kind: kfold, folds: 10, loss: {kind: huber, delta: 1.35}}"),
];

type StageTimes = Arc<Mutex<Vec<(String, f64, Instant)>>>;

fn main() {
    for (rows, columns) in [(12_000, 40), (3000, 400)] {
        let mut random = SplitMix64::new(7);
        let x = Array2::from_shape_simple_fn((rows, columns), || random.normal());
        let y = Array1::from_shape_fn(rows, |row| {
            (0..9).map(|k| x[[row, 4 * k]] / (1 + k) as f64).sum::<f64>() + random.normal()
        });
        let dataset = Dataset::new(x, y);
        for (name, lines) in CELLS {
            if std::env::args().skip(1).filter(|a| !a.starts_with('-')).all(|word| name.contains(&word)) {
                watch(&format!("{name}, {rows} x {columns}"), lines, &dataset);
            }
        }
    }
}

fn watch(name: &str, lines: &str, dataset: &Dataset<f64, f64, Ix1>) {
    let seen = StageTimes::default();
    let told = Arc::clone(&seen);
    let progress = Progress::observer(move |stage| {
        told.lock().unwrap().push((stage.what.clone(), stage.share(), Instant::now()));
    });
    let pipeline = Pipeline::from_yaml(&format!("version: 1\n{lines}\n")).unwrap().threads(1).observer(progress);
    let begun = Instant::now();
    pipeline.fit(dataset).unwrap();
    let end = Instant::now();
    let seen = seen.lock().unwrap();
    let before = seen.first().map_or(end, |first| first.2) - begun;
    println!("{name}: {:.2} s, {:.2} s of them before any stage", (end - begun).as_secs_f64(), before.as_secs_f64());
    let stages: Vec<_> = seen.chunk_by(|a, b| a.0 == b.0).collect();
    for (at, stage) in stages.iter().enumerate() {
        let next = stages.get(at + 1).map_or(end, |next| next[0].2);
        let (begun, length) = (stage[0].2, (next - stage[0].2).as_secs_f64());
        if length < 0.1 {
            continue;
        }
        let mut worst = (1.0_f64, 1.0_f64, 0.0);
        for (_, share, when) in *stage {
            let clock = (*when - begun).as_secs_f64() / length;
            if (0.1..=0.9).contains(&clock) {
                let apart = |a: f64, b: f64| (a / b).max(b / a);
                let (done, left) = (apart(share.max(1e-9), clock), apart((1.0 - share).max(1e-9), 1.0 - clock));
                if done.max(left) > worst.0.max(worst.1) {
                    worst = (done, left, clock);
                }
            }
        }
        let (done, left, clock) = worst;
        let events = stage.len();
        println!(
            "  {:<10} {length:7.2} s, {events:5} events: done {done:6.2} x, left {left:6.2} x at {clock:.2} of the clock",
            stage[0].0
        );
    }
}
