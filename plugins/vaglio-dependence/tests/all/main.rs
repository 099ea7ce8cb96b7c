//! The criteria keep every law and match their formulas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod fcbf;
mod hiton;
mod hsfs;
mod hsic;
mod laws;
mod mrmr_correlation;
mod mrmr_information;
mod nhsic;
mod nhsic_scores;
mod qpfs;
mod row_weights;
mod spam;

use vaglio_core::{Criterion, Design, Feature, Problem, Readout, Task};
use vaglio_testkit::{data, registry};

fn design(problem: &Problem) -> Design {
    Design::identity(problem, Readout::new(vec![1.0], true).unwrap())
}

/// Problem of a numeric target.
fn regression(columns: &[impl AsRef<[f64]>], y: &[f64]) -> Problem {
    given(columns, y, Task::Regression)
}

/// Problem of two classes, 1 and −1.
fn two_classes(columns: &[impl AsRef<[f64]>], y: &[f64]) -> Problem {
    given(columns, y, Task::Binary { negative: None, positive: "yes".into() })
}

fn given(columns: &[impl AsRef<[f64]>], y: &[f64], task: Task) -> Problem {
    let columns: Vec<&[f64]> = columns.iter().map(AsRef::as_ref).collect();
    data::given(&columns, &[y], task).unwrap()
}

fn score(criterion: &dyn Criterion, problem: &Problem, subset: &[Feature]) -> f64 {
    criterion.evaluate(&design(problem), subset).unwrap().loss
}

/// Computes the weight of every column of a problem from its score alone.
fn weights(criterion: &dyn Criterion, problem: &Problem) -> Vec<f64> {
    (0..design(problem).features()).map(|column| -score(criterion, problem, &[column])).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Fits values by least squares on functions, by elimination.
fn fit(functions: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let count = functions.len();
    let row = |f: &Vec<f64>| functions.iter().map(|g| dot(f, g)).chain([dot(f, values)]).collect();
    let mut matrix: Vec<Vec<f64>> = functions.iter().map(row).collect();
    for k in 0..count {
        for i in (0..count).filter(|i| *i != k) {
            let by = matrix[i][k] / matrix[k][k];
            (0..=count).for_each(|l| matrix[i][l] -= by * matrix[k][l]);
        }
    }
    let entry = |row: usize| (0..count).map(|k| matrix[k][count] / matrix[k][k] * functions[k][row]).sum();
    (0..values.len()).map(entry).collect()
}

#[test]
fn they_are_registered_and_written_as_they_are_read() {
    registry::check_registry(&[]).unwrap();
    let all = registry::every::<dyn Criterion>(&[]).unwrap();
    assert_eq!(
        all.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
        ["fcbf", "hiton_pc", "hsfs", "hsic", "mrmr", "mrmr_information", "nhsic", "qpfs", "spam"]
    );
}
