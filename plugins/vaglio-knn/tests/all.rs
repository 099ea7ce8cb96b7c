//! The learner keeps every law and matches values worked out by hand.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

use serde_json::{Value, json};
use vaglio_core::{Columns, Learner, Model, Problem, Task};
use vaglio_knn::{Knn, Weights};
use vaglio_testkit::{check_learner_on_standard_data, data, registry};

fn knn(neighbours: usize, weights: Weights) -> Knn {
    Knn { neighbours, weights }
}

fn line(targets: &[f64]) -> Problem {
    let x: Vec<f64> = (0..targets.len()).map(|row| row as f64).collect();
    data::given(&[&x], &[targets], Task::Regression).unwrap()
}

fn predict(knn: Knn, problem: &Problem, at: &[f64]) -> Vec<f64> {
    let model = knn.fit(problem, &[0], None).unwrap();
    let mut columns = Columns::new(at.len());
    columns.push(at.to_vec());
    model.predict(&columns, None).unwrap().row(0).to_vec()
}

#[test]
fn every_law_holds_on_the_standard_data() {
    for weights in [Weights::Uniform, Weights::Distance] {
        for neighbours in [1, 4, 1000] {
            if let Err(broken) = check_learner_on_standard_data(&knn(neighbours, weights), 1e-12) {
                panic!("{neighbours} {weights:?}: {broken}");
            }
        }
    }
    if let Err(broken) = registry::check_registry(&[]) {
        panic!("{broken}");
    }
}

#[test]
fn the_values_are_those_worked_out_by_hand() {
    let problem = line(&[0.0, 10.0, 20.0, 50.0]);
    assert_eq!(predict(knn(1, Weights::Uniform), &problem, &[0.4, 2.6, -9.0]), [0.0, 50.0, 0.0]);
    assert_eq!(predict(knn(2, Weights::Uniform), &problem, &[0.4, 2.6]), [5.0, 35.0]);
    // Rows 0 and 2 are equally far from 1: the lower index wins.
    assert_eq!(predict(knn(2, Weights::Uniform), &problem, &[1.0]), [5.0]);
    // At distances 0.25 and 0.75 from rows 0 and 1: (0·4 + 10·4/3)/(4 + 4/3).
    assert_eq!(predict(knn(2, Weights::Distance), &problem, &[0.25, 1.0]), [2.5, 10.0]);
    assert_eq!(predict(knn(9, Weights::Uniform), &problem, &[7.0]), [20.0]);
    let weighted = problem.clone().with_weights(vec![1.5, 1.0, 1.0, 0.25]).unwrap();
    // Weight 1.5 of row 0, and half of row 1.
    assert_eq!(predict(knn(2, Weights::Uniform), &weighted, &[-1.0]), [2.5]);
    // Weight ¼ of row 3, 1 of row 2, and ¾ of row 1.
    assert_eq!(predict(knn(2, Weights::Uniform), &weighted, &[3.0]), [(12.5 + 20.0 + 7.5) / 2.0]);
    let model = knn(1, Weights::Uniform).fit(&weighted, &[], None).unwrap();
    let mean = model.predict(&Columns::new(2), None).unwrap();
    assert!(mean.iter().all(|p| (p - 42.5 / 3.75).abs() < 1e-12), "{mean}");
}

#[test]
fn classes_vote() {
    let mut problem = line(&[1.0, 1.0, -1.0, -1.0, -1.0]);
    problem = data::given(
        &[&problem.columns().column(0).values()],
        &[&[1.0, 1.0, -1.0, -1.0, -1.0]],
        Task::Binary { negative: None, positive: "yes".into() },
    )
    .unwrap();
    let found = predict(knn(3, Weights::Uniform), &problem, &[0.0, 2.0, 4.0]);
    for (found, expected) in found.iter().zip([1.0 / 3.0, -1.0 / 3.0, -1.0]) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
}

#[test]
fn many_points_and_one_have_the_same_neighbours_ties_included() {
    // Points of a small lattice, each several times: most distances tie.
    let column = |k: usize| (0..60).map(|row| ((row * (7 + 4 * k)) % 5) as f64).collect::<Vec<f64>>();
    let targets: Vec<f64> = (0..60).map(|row| f64::from(row).exp2()).collect();
    let problem = data::given(&[&column(0), &column(1)], &[&targets], Task::Regression).unwrap();
    let mut points = Columns::new(20);
    (0..2).for_each(|k| points.push((0..20).map(|row| ((row * (3 + k)) % 9) as f64 / 2.0).collect::<Vec<f64>>()));
    for k in [1, 2, 5, 17, 59, 60] {
        let model = knn(k, Weights::Uniform).fit(&problem, &[0, 1], None).unwrap();
        let together = model.predict(&points, None).unwrap();
        for point in 0..20 {
            let square =
                |row: usize, c: usize| (problem.columns().column(c).get(row) - points.column(c).get(point)).powi(2);
            let mut order: Vec<usize> = (0..60).collect();
            order.sort_by(|a, b| (square(*a, 0) + square(*a, 1)).total_cmp(&(square(*b, 0) + square(*b, 1))));
            // Targets are powers of two, so the mean identifies the rows.
            let expected = order[..k].iter().map(|row| targets[*row]).sum::<f64>() / k as f64;
            let alone = model.predict(&points.select_rows(&[point]), None).unwrap()[[0, 0]];
            assert_eq!(alone.to_bits(), together[[0, point]].to_bits(), "{point} {k}");
            assert!((alone - expected).abs() <= 1e-14 * expected, "{point} {k}: {alone} {expected}");
        }
    }
}

#[test]
fn huge_and_tiny_columns_keep_their_order() {
    for factor in [1e-310, 1e-200, 1.0, 1e200, 1e307] {
        let x: Vec<f64> = (0..9).map(|row| factor * (f64::from(row) - 4.0)).collect();
        let targets: Vec<f64> = (0..9).map(|row| f64::from(row).exp2()).collect();
        let problem = data::given(&[&x], &[&targets], Task::Regression).unwrap();
        // Rows 6, 7 and 5.
        let points = [2.2 * factor; 10];
        for count in [1, 10] {
            let found = predict(knn(3, Weights::Uniform), &problem, &points[..count]);
            assert!(found.iter().all(|v| (v - (64.0 + 128.0 + 32.0) / 3.0).abs() < 1e-12), "{factor}: {found:?}");
        }
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    for neighbours in [0, 1_000_001] {
        let error = knn(neighbours, Weights::Uniform).check_settings().unwrap_err();
        assert_eq!(error.field(), Some("neighbours"));
        assert!(knn(neighbours, Weights::Uniform).fit(&line(&[1.0, 2.0]), &[0], None).is_err());
    }
    assert!(knn(1, Weights::Uniform).fit(&line(&[1.0, 2.0]), &[1], None).is_err());
}

#[test]
fn a_stored_model_whose_parts_do_not_fit_is_refused() {
    let problem = line(&[0.0, 10.0, 20.0]).with_weights(vec![1.0, 2.0, 3.0]).unwrap();
    let model = knn(2, Weights::Distance).fit(&problem, &[0], None).unwrap();
    let good: Value = serde_json::to_value(&model).unwrap();
    let read = |value: &Value| serde_json::from_value::<Model>(value.clone());
    assert_eq!(serde_json::to_value(read(&good).unwrap()).unwrap(), good);
    let huge = 1u64 << 62;
    for (path, bad) in [
        ("/inputs", json!([])),
        ("/inputs", json!([0, 1])),
        ("/neighbours", json!(0)),
        ("/neighbours", json!(huge)),
        ("/rows/dim", json!([huge, 1])),
        ("/rows/dim", json!([huge, 4])),
        ("/rows", json!({"v": 1, "dim": [huge, 0], "data": []})),
        ("/targets", json!({"v": 1, "dim": [0, huge], "data": []})),
        ("/targets/dim", json!([3, 1])),
        ("/row_weights", json!([1.0, 2.0])),
        ("/row_weights/1", json!(0.0)),
        ("/row_weights/1", json!(-1.0)),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(path).unwrap() = bad.clone();
        assert!(read(&value).is_err(), "{path} {bad}");
    }
}
