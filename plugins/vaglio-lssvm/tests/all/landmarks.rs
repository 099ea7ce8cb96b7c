//! Landmarks against the plain definition of their entropy.

use crate::fs_ls_svm::{new_design, rows_of};
use crate::kernel_logistic::{rows, square};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use vaglio_core::{Learner, Problem, Task, feature_map};
use vaglio_kernels::Level;
use vaglio_lssvm::{Bandwidth, FsLsSvm, KernelSettings, Scaling};
use vaglio_testkit::{SplitMix64, data};

type KernelFunction = fn(&[f64], &[f64]) -> f64;

fn dot(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| u * v).sum()
}

fn kernels() -> [(KernelSettings, KernelFunction); 3] {
    [
        (KernelSettings::rbf(Bandwidth::Value(0.6)), |u, v| (-square(u, v) / 0.72).exp()),
        (KernelSettings::linear(), dot),
        (KernelSettings::polynomial(3, 1.0), |u, v| (dot(u, v) + 1.0).powi(3)),
    ]
}

fn given(columns: &[Vec<f64>]) -> Problem {
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let y: Vec<f64> = (0..columns[0].len()).map(|row| row as f64).collect();
    data::given(&columns, &[&y], Task::Regression).unwrap()
}

/// Generates three columns with most rows in one cluster.
fn clustered(rows: usize) -> Problem {
    let mut random = SplitMix64::new(1);
    let center = |row: usize| if row % 20 < 17 { 0.0 } else { (row % 20) as f64 - 13.0 };
    let mut column = || (0..rows).map(|row| center(row) + 0.5 * random.uniform()).collect();
    given(&[column(), column(), column()])
}

fn machine(landmarks: usize, kernel: &KernelSettings, seed: u64) -> FsLsSvm {
    let (kernel, seed) = (kernel.clone(), Some(seed));
    FsLsSvm { landmarks, kernel, seed, scaling: Scaling::None, ..FsLsSvm::default() }
}

/// Returns the landmarks in order, and the figures of their selection.
fn select(machine: &FsLsSvm, problem: &Problem) -> (Vec<Vec<f64>>, Map<String, Value>) {
    let design = new_design(machine, problem).unwrap();
    let all: Vec<usize> = (0..design.features()).collect();
    let model = serde_json::to_value(machine.fit(problem, &all, None).unwrap()).unwrap();
    (rows_of(&model["landmarks"]), feature_map(&design).unwrap().found().to_json().unwrap())
}

fn sum(k: KernelFunction, landmarks: &[Vec<f64>]) -> f64 {
    landmarks.iter().flat_map(|u| landmarks.iter().map(move |v| k(u, v))).sum()
}

fn entropy(k: KernelFunction, landmarks: &[Vec<f64>]) -> f64 {
    -(sum(k, landmarks) / (landmarks.len() as f64).powi(2)).ln()
}

#[test]
fn swaps_lead_from_random_landmarks_to_better_ones_of_the_reported_entropy() {
    let problem = clustered(500);
    for (kernel, k) in kernels() {
        let (landmarks, figures) = select(&machine(20, &kernel, 1), &problem);
        let (found, expected) = (figures["entropy"].as_f64().unwrap(), entropy(k, &landmarks));
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{kernel:?}: {found} is not {expected}");
        assert!(figures["swaps"].as_u64().unwrap() > 5, "{kernel:?}: {figures:?}");
        let bits = |row: &Vec<f64>| row.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        assert_eq!(landmarks.iter().map(bits).collect::<BTreeSet<_>>().len(), 20);
        assert!(rows(problem.columns()).chunks(20).all(|random| entropy(k, random) < found), "{kernel:?}");
    }
}

#[test]
fn where_it_stops_early_no_swap_helps() {
    let problem = clustered(120);
    let mut settled = 0;
    for (seed, (kernel, k)) in (1..4).flat_map(|seed| kernels().map(|kernel| (seed, kernel))) {
        let (landmarks, figures) = select(&machine(8, &kernel, seed), &problem);
        if figures["proposals"] == 3 * 112 {
            continue;
        }
        settled += 1;
        let reached = sum(k, &landmarks);
        for place in 0..8 {
            for row in rows(problem.columns()).into_iter().filter(|row| !landmarks.contains(row)) {
                let mut other = landmarks.clone();
                other[place] = row;
                assert!(sum(k, &other) > reached * (1.0 - 1e-8), "{kernel:?}");
            }
        }
    }
    assert!(settled > 0);
}

#[test]
fn they_are_equal_on_every_level_and_pool() {
    let problem = clustered(500);
    for (kernel, _) in kernels() {
        let first = select(&machine(20, &kernel, 1), &problem);
        for (level, threads) in Level::available().into_iter().flat_map(|level| [(level, 1), (level, 3)]) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = level.within(|| pool.install(|| select(&machine(20, &kernel, 1), &problem)));
            assert_eq!(again, first, "{}, {threads} threads", level.name());
        }
    }
}

#[test]
fn fewer_rows_than_landmarks_are_all_taken() {
    let problem = clustered(10);
    let (mut landmarks, figures) = select(&machine(400, &kernels()[0].0, 1), &problem);
    let mut expected = rows(problem.columns());
    expected.sort_by(|a, b| a[0].total_cmp(&b[0]));
    landmarks.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!((landmarks, figures["proposals"].as_u64()), (expected, Some(0)));
}

/// Rows are equal whatever the sign of 0, and in an order of their own.
#[test]
fn equal_rows_are_one_landmark_wherever_they_are() {
    let mut columns = [vec![1.5, 0.0, 1.5, -0.0, 2.5, 1.5], vec![3.0, 1.0, 3.0, 1.0, 3.0, 4.0]];
    let select = |columns: &[Vec<f64>]| select(&machine(400, &KernelSettings::default(), 1), &given(columns)).0;
    let first = select(&columns);
    let mut sorted = first.clone();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(sorted, [[0.0, 1.0], [1.5, 3.0], [1.5, 4.0], [2.5, 3.0]]);
    columns.iter_mut().for_each(|column| column.reverse());
    assert_eq!(select(&columns), first);
}

#[test]
fn powers_are_repeated_products() {
    let x = [1.7, -3.0, 0.0, 1.0];
    let problem = given(&[x.to_vec()]);
    for degree in 1..12 {
        let machine = machine(4, &KernelSettings::polynomial(degree, 0.0), 1);
        let (landmarks, _) = select(&machine, &problem);
        let design = new_design(&machine, &problem).unwrap();
        for (column, landmark) in landmarks.iter().enumerate() {
            for (row, x) in x.iter().enumerate() {
                let (found, expected) = (design.column(column).get(row), (x * landmark[0]).powi(degree as i32));
                assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{found} is not {expected}");
            }
        }
    }
}
