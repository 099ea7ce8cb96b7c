//! Targets that rows exchange.

use ndarray::Array2;
use vaglio_core::{Problem, RowLabels};
use vaglio_pipeline::resampling::Sample;

/// Rows whose targets are their numbers; weights are 2y + 1.
fn problem(rows: usize) -> Problem {
    let problem = crate::problem(
        &[(0..rows).map(|row| (row * row) as f64).collect()],
        &(0..rows).map(|row| row as f64).collect::<Vec<f64>>(),
    );
    problem.with_weights((0..rows).map(|row| 2.0 * row as f64 + 1.0).collect()).unwrap()
}

/// Source rows of the targets of a permuted sample; weights move with targets.
fn sources(sample: &Sample, is_forward: bool, seed: u64) -> Vec<usize> {
    let shuffled = sample.with_shuffled_targets(is_forward, seed).unwrap();
    let targets: Vec<f64> = shuffled.targets().row(0).to_vec();
    let problem = shuffled.fit().unwrap().problem;
    let weights = problem.weights().unwrap();
    // Weights are kept up to a common factor.
    assert!(
        targets
            .iter()
            .zip(weights)
            .all(|(y, w)| (w / weights[0] - (2.0 * y + 1.0) / (2.0 * targets[0] + 1.0)).abs() < 1e-12)
    );
    targets.iter().map(|y| *y as usize).collect()
}

#[test]
fn rows_exchange_targets_with_their_weights() {
    let order = sources(&Sample::from_problem(problem(30), false), false, 3);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..30).collect::<Vec<_>>());
    assert_ne!(order, sorted);
}

#[test]
fn rows_in_an_order_of_time_are_shifted_in_a_circle() {
    let order = sources(&Sample::from_problem(problem(30), true), false, 3);
    assert!((3..=27).contains(&order[0]), "{}", order[0]);
    assert!(order.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 30));
}

#[test]
fn groups_exchange_their_targets_whole() {
    // Eight groups of three rows; the last has two.
    let groups = (0..23).map(|row| row / 3).collect();
    let sample = Sample::from_problem(problem(23).with_groups(groups).unwrap(), false);
    let mut seen = std::collections::HashSet::new();
    for seed in 0..20 {
        let order = sources(&sample, false, seed);
        for (number, rows) in (0..23).collect::<Vec<usize>>().chunks(3).enumerate() {
            let first = order[rows[0]];
            let expected = if first == 21 { [21, 22, 21] } else { [first, first + 1, first + 2] };
            let found: Vec<usize> = rows.iter().map(|&row| order[row]).collect();
            assert_eq!((first % 3, &found[..]), (0, &expected[..rows.len()]));
            seen.insert((number, first));
        }
    }
    assert!(seen.len() > 50, "{}", seen.len());
}

#[test]
fn rows_of_few_groups_exchange_targets_inside_each() {
    let groups: Vec<u32> = (0..20).map(|row| row % 2).collect();
    let sample = Sample::from_problem(problem(20).with_groups(groups.clone()).unwrap(), false);
    let order = sources(&sample, false, 1);
    assert!((0..20).all(|row| groups[order[row]] == groups[row]) && order != (0..20).collect::<Vec<_>>());
    assert!(sample.has_shuffles());
    let targets = Array2::from_shape_fn((1, 20), |(_, row)| f64::from(groups[row]));
    let alike = problem(20).with_targets(targets).unwrap().with_groups(groups).unwrap();
    assert!(!Sample::from_problem(alike, false).has_shuffles());
}

#[test]
fn series_are_shifted_by_as_much_where_splits_go_forward() {
    let weighted = problem(8);
    let labels = RowLabels { series: Some([0, 0, 0, 0, 1, 1, 1, 1].into()), ..weighted.labels().clone() };
    let sample = Sample::from_problem(weighted.with_labels(labels).unwrap(), false);
    let order = sources(&sample, true, 5);
    assert!((0..4).all(|k| order[k] < 4 && order[4 + k] == order[k] + 4), "{order:?}");
}
