//! Every subset of twenty columns by depth-first search through the evaluator's branches.
//!
//! `cargo bench -p vaglio --bench exhaustive` takes 500 × 20; `-- 2000 16` takes other rows and columns, and `-- 500 30
//! bounded` leaves out what a bound proves worse than the best so far. The data are those of the NumPy program to
//! compare with: uniform noise of unit variance from splitmix64, neighbours correlated by 0.5, ten columns of falling
//! effect. One thread.
#![allow(clippy::unwrap_used)]

use std::time::Instant;
use vaglio::core::{Branch, Design, Feature, Outline, Readout, Score, SubsetScorer, Task};
use vaglio::criteria::Loo;
use vaglio_testkit::data;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (rows, columns) = (*numbers.first().unwrap_or(&500), *numbers.get(1).unwrap_or(&20));
    let bounded = std::env::args().any(|a| a == "bounded");
    let design = design(rows, columns);
    for round in 0..3 {
        let start = Instant::now();
        let criterion = Loo::default();
        let mut subset = SubsetScorer::open(&criterion, &design, &Outline::forward(1, 1)).unwrap();
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
        if self.bounded && node.bound(0, later.len()).unwrap() > self.least {
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

fn design(rows: usize, count: usize) -> Design {
    let (x, y) = data::sparse_linear(6, rows, count, 10, 2.0);
    let columns: Vec<&[f64]> = x.iter().map(Vec::as_slice).collect();
    let problem = data::given(&columns, &[&y], Task::Regression).unwrap();
    Design::identity(&problem, Readout::new(vec![1.0], false).unwrap())
}
