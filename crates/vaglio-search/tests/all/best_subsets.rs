//! Best subsets against enumeration.

use ndarray::{Array1, Array2};
use vaglio_core::{RowsHeldOut, SquaresBound};
use vaglio_kernels::linalg::solve;
use vaglio_testkit::SplitMix64;

#[allow(dead_code, unused_imports, reason = "the search uses more than the tests")]
#[path = "../../src/exhaustive/best_subsets/mod.rs"]
mod squares;

use squares::{OpenSubtree, SubsetSquares};

struct Problem {
    x: Vec<Vec<f64>>,
    targets: Vec<Vec<f64>>,
    /// Fold in which each row is held out; `None` for training errors.
    parts: Option<Vec<u32>>,
    intercept: bool,
    lambda: f64,
}

impl Problem {
    fn new(seed: u64) -> Self {
        Problem::with_size(seed, 24, 7)
    }

    fn with_size(seed: u64, rows: usize, columns: usize) -> Self {
        let mut random = SplitMix64::new(seed);
        let outputs = 1 + seed as usize % 2;
        let mut x: Vec<Vec<f64>> = (0..columns).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
        // Near-copies of columns, and columns in other units.
        if seed.is_multiple_of(3) {
            x[4] = x[1].iter().map(|v| v + 1e-3 * random.normal()).collect();
        }
        x[2].iter_mut().for_each(|v| *v *= 1e3);
        x[3].iter_mut().for_each(|v| *v *= 1e-3);
        let noise = [0.1, 1.0, 10.0][seed as usize % 3];
        let target = |random: &mut SplitMix64| -> Vec<f64> {
            (0..rows).map(|r| x[0][r] - 1e-3 * x[2][r] + x[5][r] + noise * random.normal() + 2.0).collect()
        };
        let targets = (0..outputs).map(|_| target(&mut random)).collect();
        let parts = [None, Some(rows as u32), Some(4)][seed as usize % 3]
            .map(|count: u32| (0..rows as u32).map(|row| (row * 7 + 1) % count).collect());
        let lambda = [1e-12, 0.1, 3.0][seed as usize / 3 % 3];
        Problem { x, targets, parts, intercept: (seed as usize / 2).is_multiple_of(2), lambda }
    }

    /// Computes the squared error of a subset by plain fits.
    fn truth(&self, subset: &[usize]) -> f64 {
        let rows = self.targets[0].len();
        let Some(parts) = &self.parts else { return self.error(subset, &|_| true, &|_| true) };
        let count = parts.iter().max().unwrap() + 1;
        assert_eq!(parts.len(), rows);
        (0..count).map(|part| self.error(subset, &|row| parts[row] != part, &|row| parts[row] == part)).sum()
    }

    fn error(&self, subset: &[usize], trained: &dyn Fn(usize) -> bool, tested: &dyn Fn(usize) -> bool) -> f64 {
        let rows: Vec<usize> = (0..self.targets[0].len()).collect();
        let train: Vec<usize> = rows.iter().copied().filter(|&row| trained(row)).collect();
        let mean = |values: &[f64]| match self.intercept {
            true => train.iter().map(|&row| values[row]).sum::<f64>() / train.len() as f64,
            false => 0.0,
        };
        let means: Vec<f64> = subset.iter().map(|&k| mean(&self.x[k])).collect();
        let at = |row: usize, k: usize| self.x[subset[k]][row] - means[k];
        // In units of the columns, as plain elimination needs.
        let size = subset.len();
        let scale: Vec<f64> =
            (0..size).map(|k| (train.iter().map(|&r| at(r, k).powi(2)).sum::<f64>() + self.lambda).sqrt()).collect();
        let z = Array2::from_shape_fn((train.len(), size), |(r, k)| at(train[r], k) / scale[k]);
        let mut a = z.t().dot(&z);
        (0..size).for_each(|k| a[[k, k]] += self.lambda / scale[k].powi(2));
        let mut total = 0.0;
        for y in &self.targets {
            let center = mean(y);
            let b = z.t().dot(&Array1::from_iter(train.iter().map(|&r| y[r] - center)));
            let w = solve(a.view(), b.insert_axis(ndarray::Axis(1)).view()).unwrap();
            let error = |r: usize| {
                let fit: f64 = (0..size).map(|k| at(r, k) / scale[k] * w[[k, 0]]).sum();
                (y[r] - center - fit).powi(2)
            };
            total += rows.iter().copied().filter(|&row| tested(row)).map(error).sum::<f64>();
        }
        total
    }

    fn squares(&self) -> Option<SubsetSquares> {
        let rows = self.targets[0].len();
        let centered = |values: &Vec<f64>| -> Vec<f64> {
            let mean = if self.intercept { values.iter().sum::<f64>() / rows as f64 } else { 0.0 };
            values.iter().map(|v| v - mean).collect()
        };
        let held_out = self.parts.as_ref().map(|parts| RowsHeldOut {
            parts: parts.clone(),
            unit: self.intercept.then(|| vec![1.0 / (rows as f64).sqrt(); rows]),
            lambda: self.lambda,
        });
        squares(self.x.iter().map(centered).collect(), self.targets.iter().map(centered).collect(), held_out)
    }
}

fn squares(columns: Vec<Vec<f64>>, targets: Vec<Vec<f64>>, held_out: Option<RowsHeldOut>) -> Option<SubsetSquares> {
    let features = (0..columns.len()).collect();
    let score = Box::new(|squares: f64, _: usize, _: f64| squares);
    SubsetSquares::new(features, SquaresBound { columns, targets, held_out, score })
}

fn all_subsets(columns: usize, most: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let end = all.len();
        for at in from..end {
            let first = all[at].last().map_or(0, |last| last + 1);
            (first..columns).for_each(|k| all.push([&all[at][..], &[k]].concat()));
        }
        from = end;
    }
    all.split_off(1)
}

/// Returns the subsets that a search with these limits does not prune.
fn explore(squares: &SubsetSquares, fixed: &[usize], limits: &[f64], budget: usize) -> Vec<(f64, Vec<usize>)> {
    let (mut open, mut found) = (vec![OpenSubtree::new(fixed.to_vec())], Vec::new());
    while let Some(next) = open.pop() {
        let part = squares.explore(&next, limits, budget, &|_, _| true);
        found.extend(part.candidates.into_iter().map(|(low, mut subset)| {
            subset.sort_unstable();
            (squares.lowest(low), subset)
        }));
        open.extend(part.open);
    }
    found
}

/// Compares unpruned subsets with enumeration, with the second best of each size as limit; returns the number pruned.
fn ruled_out(problem: &Problem, most: usize, budgets: &[usize]) -> usize {
    let (squares, columns) = (problem.squares().unwrap(), problem.x.len());
    let mut truths: Vec<(f64, Vec<usize>)> =
        all_subsets(columns, most).into_iter().map(|subset| (problem.truth(&subset), subset)).collect();
    truths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let limits: Vec<f64> = (0..=most)
        .map(|size| truths.iter().filter(|t| t.1.len() == size).nth(1).map_or(f64::NEG_INFINITY, |t| t.0))
        .collect();
    let within: Vec<_> = truths.iter().filter(|t| t.0 <= limits[t.1.len()]).collect();
    let mut count = 0;
    for &budget in budgets {
        let found = explore(&squares, &[], &limits, budget);
        for (low, subset) in &found {
            let truth = &truths.iter().find(|t| &t.1 == subset).unwrap().0;
            assert!(low <= truth, "{subset:?} {low} > {truth}");
        }
        for (truth, subset) in &within {
            assert!(found.iter().any(|f| &f.1 == subset), "{subset:?} at {truth}");
        }
        assert_eq!(found.len(), found.iter().map(|f| &f.1).collect::<std::collections::BTreeSet<_>>().len());
        count += truths.len() - found.len();
    }
    let fixed = explore(&squares, &[3], &limits, 5);
    let mut with = within.iter().filter(|t| t.1.len() > 1 && t.1.contains(&3));
    assert!(with.all(|t| fixed.iter().any(|f| f.1 == t.1)));
    count
}

/// Columns that enter together: candidates are unions of the blocks, and all that are within the limits.
#[test]
fn blocks_enter_whole() {
    let blocks: [&[usize]; 4] = [&[4, 0], &[1], &[2, 3, 5], &[6]];
    let unions: Vec<Vec<usize>> = (1..1u32 << blocks.len())
        .map(|chosen| {
            let own = blocks.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
            let mut union: Vec<usize> = own.flat_map(|(_, block)| block.iter().copied()).collect();
            union.sort_unstable();
            union
        })
        .collect();
    for seed in 0..36 {
        let problem = Problem::new(seed);
        let squares = problem.squares().unwrap().with_blocks(blocks);
        let truths: Vec<f64> = unions.iter().map(|union| problem.truth(union)).collect();
        let least = |size: usize| {
            let own_size = unions.iter().zip(&truths).filter(|(union, _)| union.len() == size);
            own_size.map(|(_, truth)| *truth).reduce(f64::min).unwrap_or(f64::NEG_INFINITY)
        };
        let limits: Vec<f64> = (0..=7).map(least).collect();
        for budget in [2, 1000] {
            let found: Vec<Vec<usize>> =
                explore(&squares, &[], &limits, budget).into_iter().map(|(_, subset)| subset).collect();
            assert!(found.iter().all(|subset| unions.contains(subset)), "{seed}: {found:?}");
            for (union, truth) in unions.iter().zip(&truths).filter(|(union, truth)| **truth <= limits[union.len()]) {
                assert!(found.contains(union), "{seed}: {union:?} at {truth}");
            }
        }
        for subset in squares.start(&[], 6) {
            let mut sorted = subset.clone();
            sorted.sort_unstable();
            assert!(unions.contains(&sorted), "{seed}: {subset:?}");
        }
    }
}

/// `VAGLIO_PROBLEMS=1000` sets the number of problems.
#[test]
fn nothing_within_the_limits_is_ruled_out() {
    let count = std::env::var("VAGLIO_PROBLEMS").ok().and_then(|count| count.parse().ok()).unwrap_or(36);
    let total_ruled_out =
        |budget| (0..count).map(|seed| ruled_out(&Problem::new(seed), 4 + seed as usize % 3, &[budget])).sum();
    let (in_parts, at_once): (usize, usize) = (total_ruled_out(2), total_ruled_out(1000));
    assert!(in_parts + at_once > count as usize * 50, "{in_parts} {at_once}");
    // Bounds of copied nodes are as tight as those of nodes built from their columns.
    assert!(at_once as f64 > 0.98 * in_parts as f64, "{in_parts} {at_once}");
}

#[test]
fn nothing_among_many_columns_is_ruled_out() {
    for seed in [0, 2] {
        let mut problem = Problem::with_size(seed, 150, 132);
        problem.lambda = 1.0;
        let count = ruled_out(&problem, 2, &[20, 100_000]);
        assert!(count > 5000, "{seed}: {count}");
    }
}

#[test]
fn columns_that_depend_on_each_other_have_no_bounds() {
    for seed in 0..9 {
        let mut problem = Problem::new(seed);
        problem.x[6] = match seed % 3 {
            0 => problem.x[1].clone(),
            1 => vec![0.0; 24],
            _ => problem.x[0].iter().zip(&problem.x[1]).map(|(a, b)| a - 2.0 * b).collect(),
        };
        assert!(problem.squares().is_none(), "{seed}");
    }
    let few = Problem::new(1).x.iter().map(|x| x[..8].to_vec()).collect();
    assert!(squares(few, vec![vec![1.0; 8]], None).is_none());
}

#[test]
fn subsets_to_begin_with_hold_what_is_fixed_and_are_hard_to_beat() {
    let mut best = 0;
    for seed in (0..30).filter(|seed| seed % 3 == 0) {
        let problem = Problem::new(seed);
        let start = problem.squares().unwrap().start(&[6], 4);
        assert_eq!(start.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3, 4]);
        for subset in start {
            assert_eq!(subset[0], 6);
            let others = all_subsets(7, 4).into_iter().filter(|s| s.len() == subset.len() && s.contains(&6));
            let least = others.map(|s| problem.truth(&s)).fold(f64::INFINITY, f64::min);
            best += usize::from(problem.truth(&subset) <= least * (1.0 + 1e-9));
        }
    }
    assert!(best >= 24, "{best} of 30");
}
