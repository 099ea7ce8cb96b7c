//! Every subset of twenty columns by depth-first search through forks of the evaluator.
//!
//! `cargo bench -p vaglio --bench exhaustive` takes 500 × 20; `-- 2000 16` takes other rows and columns. The data are those of the NumPy program to
//! compare with: uniform noise of unit variance from splitmix64, neighbours correlated by 0.5, ten columns of falling
//! effect. One thread.
#![allow(clippy::unwrap_used)]

use std::time::Instant;
use vaglio::core::{Action, Design, Evaluator, Feature, Readout, SearchExtent, Task};
use vaglio::criteria::Loo;
use vaglio::search::SubsetScorer;
use vaglio_testkit::data;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (rows, columns) = (*numbers.first().unwrap_or(&500), *numbers.get(1).unwrap_or(&20));
    let design = design(rows, columns);
    for round in 0..3 {
        let start = Instant::now();
        let criterion = Loo::default();
        let mut subset = SubsetScorer::open(&criterion, &design, &SearchExtent::forward(1, 1)).unwrap();
        let best = vec![(f64::INFINITY, Vec::new()); columns];
        let mut walk = Walk { subsets: 1, best };
        let all: Vec<Feature> = (0..columns).collect();
        let mut root = subset.lend().unwrap().fork(&[], &all).unwrap().unwrap();
        walk.visit(&mut *root, &mut Vec::new(), &all);
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
    best: Vec<(f64, Vec<Feature>)>,
}

impl Walk {
    fn visit(&mut self, node: &mut dyn Evaluator, selected: &mut Vec<Feature>, later: &[Feature]) {
        let scores = node.scores(Action::Add, selected, later).unwrap();
        let size = selected.len();
        for (feature, score) in later.iter().zip(&scores) {
            self.subsets += 1;
            if score.loss < self.best[size].0 {
                self.best[size] = (score.loss, selected.iter().chain([feature]).copied().collect());
            }
        }
        for (place, &feature) in later.iter().enumerate().take(later.len() - 1) {
            let mut fork = node.fork(selected, &later[place..]).unwrap().unwrap();
            fork.apply(Action::Add, selected, feature).unwrap();
            selected.push(feature);
            self.visit(&mut *fork, selected, &later[place + 1..]);
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
