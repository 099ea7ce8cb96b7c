//! Every subset of twenty columns by depth-first search through the evaluator's branches.
//!
//! `cargo bench -p vaglio --bench exhaustive` takes 500 × 20; `-- 2000 16` takes other rows and columns, and `-- 500 30
//! bounded` leaves out what a bound proves worse than the best so far. The data are those of the NumPy program to
//! compare with: uniform noise of unit variance from splitmix64, neighbours correlated by 0.5, ten columns of falling
//! effect. One thread.
#![allow(clippy::unwrap_used)]

use ndarray::Array2;
use std::time::Instant;
use vaglio::core::{Branch, Columns, Design, Feature, Outline, Problem, Readout, Score, Subset, Task};
use vaglio::criteria::Loo;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (rows, columns) = (*numbers.first().unwrap_or(&500), *numbers.get(1).unwrap_or(&20));
    let bounded = std::env::args().any(|a| a == "bounded");
    let design = sparse_linear(rows, columns, 6);
    for round in 0..3 {
        let start = Instant::now();
        let criterion = Loo::default();
        let mut subset = Subset::open(&criterion, &design, &Outline::forward(1, 1)).unwrap();
        let mut walk = Walk::new(columns, bounded);
        let all: Vec<Feature> = (0..columns).collect();
        walk.visit(&mut *subset.tree(&all).unwrap(), &mut Vec::new(), &all);
        let seconds = start.elapsed().as_secs_f64();
        println!("round {round}: {rows} x {columns}, {} subsets in {seconds:.3} s", walk.subsets);
        if round == 0 {
            for (loss, subset) in &walk.best {
                println!("{:>3} columns: {loss:.6} {subset:?}", subset.len());
            }
        }
    }
}

/// The best subset of each size, and how many were scored.
struct Walk {
    subsets: usize,
    bounded: bool,
    least: f64,
    best: Vec<(f64, Vec<Feature>)>,
}

impl Walk {
    fn new(columns: usize, bounded: bool) -> Self {
        Walk { subsets: 1, bounded, least: f64::INFINITY, best: vec![(f64::INFINITY, Vec::new()); columns] }
    }

    fn visit(&mut self, node: &mut dyn Branch, selected: &mut Vec<Feature>, later: &[Feature]) {
        if self.bounded && node.bound(0).unwrap() > self.least {
            return;
        }
        let mut scores = vec![Score::WORST; later.len()];
        node.score_additions(&(0..later.len()).collect::<Vec<_>>(), &mut scores).unwrap();
        let size = selected.len();
        for (feature, score) in later.iter().zip(&scores) {
            self.subsets += 1;
            if score.loss < self.best[size].0 {
                self.least = self.least.min(score.loss);
                self.best[size] = (score.loss, selected.iter().chain([feature]).copied().collect());
            }
        }
        for (place, feature) in later.iter().enumerate().take(later.len() - 1) {
            selected.push(*feature);
            self.visit(&mut *node.child(place).unwrap(), selected, &later[place + 1..]);
            selected.pop();
        }
    }
}

fn uniform(seed: u64, counter: u64) -> f64 {
    let mut z = seed.wrapping_add((counter + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0) * 3f64.sqrt()
}

fn sparse_linear(rows: usize, count: usize, seed: u64) -> Design {
    let mut x: Vec<Vec<f64>> =
        (0..count).map(|j| (0..rows).map(|i| uniform(seed, (i * count + j) as u64)).collect()).collect();
    for j in 1..count {
        let (before, after) = x.split_at_mut(j);
        for (now, last) in after[0].iter_mut().zip(&before[j - 1]) {
            *now = 0.5 * last + 0.75f64.sqrt() * *now;
        }
    }
    let mut y: Vec<f64> = (0..rows).map(|i| 2.0 * uniform(seed + 1000, i as u64)).collect();
    for t in 0..10.min(count) {
        let effect = if t % 2 == 0 { 1.0 } else { -1.0 } / (1.0 + 0.1 * t as f64);
        y.iter_mut().zip(&x[(t * 37 + 5) % count]).for_each(|(y, x)| *y += effect * x);
    }
    let mut columns = Columns::new(rows);
    x.into_iter().for_each(|column| columns.push(column));
    let names = (0..count).map(|j| format!("x{j}")).collect();
    let targets = Array2::from_shape_vec((1, rows), y).unwrap();
    let problem = Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap();
    Design::identity(&problem, Readout::new(vec![1.0], false).unwrap())
}
