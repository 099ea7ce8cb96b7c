//! Kernel logistic regression against its authors' printed iteration; errors.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use vaglio_core::{Columns, Error, Learner, Model, Problem, Task};
use vaglio_lssvm::{Bandwidth, KernelLogistic};
use vaglio_testkit::{LawViolation, SplitMix64, Tolerance, check_learner_on_standard_data, data};

fn learner(lambda: f64, bandwidth: f64) -> KernelLogistic {
    KernelLogistic { lambda, bandwidth: Bandwidth::Value(bandwidth) }
}

fn all(problem: &Problem) -> Vec<usize> {
    (0..problem.columns().len()).collect()
}

fn predict(model: &Model, columns: &Columns) -> Vec<f64> {
    model.predict(&columns.select(model.inputs()), None).unwrap().iter().copied().collect()
}

fn fit_values(learner: &KernelLogistic, problem: &Problem) -> Vec<f64> {
    predict(&learner.fit(problem, &all(problem), None).unwrap(), problem.columns())
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

pub fn rows(columns: &Columns) -> Vec<Vec<f64>> {
    let row = |row: usize| (0..columns.len()).map(|f| columns.column(f).get(row)).collect();
    (0..columns.rows()).map(row).collect()
}

pub fn square(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum()
}

fn kernel(u: &[f64], v: &[f64], bandwidth: f64) -> f64 {
    (-square(u, v) / (2.0 * bandwidth * bandwidth)).exp()
}

/// Computes the median distance over all pairs of distinct rows.
fn median(rows: &[Vec<f64>]) -> f64 {
    let distinct: BTreeSet<Vec<u64>> = rows.iter().map(|row| bits(row)).collect();
    let distinct: Vec<Vec<f64>> = distinct.iter().map(|row| row.iter().map(|v| f64::from_bits(*v)).collect()).collect();
    let pairs = (0..distinct.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let mut distances: Vec<f64> = pairs.map(|(a, b)| square(&distinct[a], &distinct[b]).sqrt()).collect();
    distances.sort_by(f64::total_cmp);
    let middle = distances.len() / 2;
    if distances.len() % 2 == 1 { distances[middle] } else { (distances[middle - 1] + distances[middle]) / 2.0 }
}

/// Solves A·x = b by elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, below) = a.split_at_mut(i);
            below[0].iter_mut().zip(&above[k]).for_each(|(x, p)| *x -= factor * p);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// The printed iteration over all rows: (K + λW⁻¹)·α + b = f + (y′ − p)/w and Σα = 0, until convergence; returns α and
/// b.
fn reference(k: &[Vec<f64>], y: &[f64], weights: &[f64], lambda: f64) -> (Vec<f64>, f64) {
    let n = y.len();
    let mut f = vec![0.0; n];
    for _ in 0..60 {
        let (mut a, mut b) = (vec![vec![1.0; n + 1]; n + 1], vec![0.0; n + 1]);
        a[n][n] = 0.0;
        for i in 0..n {
            let p = 1.0 / (1.0 + f64::exp(-f[i]));
            let w = weights[i] * p * (1.0 - p);
            a[i][..n].copy_from_slice(&k[i]);
            a[i][i] += lambda / w;
            b[i] = f[i] + weights[i] * ((y[i] + 1.0) / 2.0 - p) / w;
        }
        let found = solve(a, b);
        let next: Vec<f64> =
            (0..n).map(|i| found[n] + k[i].iter().zip(&found).map(|(k, a)| k * a).sum::<f64>()).collect();
        let change = f.iter().zip(&next).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        f = next;
        if change < 1e-13 {
            return (found[..n].to_vec(), found[n]);
        }
    }
    panic!("the reference does not converge");
}

#[test]
fn every_law_of_a_learner_holds() -> Result<(), LawViolation> {
    for bandwidth in [Bandwidth::Value(1.5), KernelLogistic::default().bandwidth] {
        for lambda in [1e-3, 1.0] {
            check_learner_on_standard_data(&KernelLogistic { lambda, bandwidth }, 1e-9)?;
        }
    }
    Ok(())
}

#[test]
fn predictions_are_those_of_the_printed_iteration() {
    let problems = [
        data::binary(30, 3, 4).problem(),
        data::binary(25, 4, 5).weighted().constants(1).problem(),
        data::multiclass(33, 3, 3, 6).weighted().duplicates(1).problem(),
        // Duplicate rows, some of them in both classes.
        data::binary(20, 2, 7).problem().select_rows(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2, 2, 5, 11]),
    ];
    for problem in problems {
        let (known, new) = (rows(problem.columns()), data::binary(9, problem.columns().len(), 8).problem());
        for (lambda, given) in [(1.0, None), (0.01, Some(0.8)), (0.1, None), (30.0, Some(3.0))] {
            let width = given.unwrap_or_else(|| median(&known));
            let bandwidth = given.map_or(KernelLogistic::default().bandwidth, Bandwidth::Value);
            let own = KernelLogistic { lambda, bandwidth };
            let model = own.fit(&problem, &all(&problem), None).unwrap();
            let k: Vec<Vec<f64>> = known.iter().map(|u| known.iter().map(|v| kernel(u, v, width)).collect()).collect();
            let weights = problem.weights().map_or(vec![1.0; known.len()], |w| w.to_vec());
            for (output, y) in problem.targets().rows().into_iter().enumerate() {
                let (alpha, intercept) = reference(&k, &y.to_vec(), &weights, lambda);
                // The model ignores a constant column, even with other values in new rows.
                let seen = |row: &[f64]| -> Vec<f64> {
                    (0..row.len()).map(|f| if model.inputs().contains(&f) { row[f] } else { known[0][f] }).collect()
                };
                for columns in [problem.columns(), new.columns()] {
                    let (found, count) = (predict(&model, columns), columns.rows());
                    for (row, u) in rows(columns).iter().enumerate() {
                        let mixed = known.iter().zip(&alpha).map(|(v, a)| a * kernel(&seen(u), v, width));
                        let expected = ((mixed.sum::<f64>() + intercept) / 2.0).tanh();
                        Tolerance { tolerance: 1e-8, least: 1.0 }.assert(
                            expected,
                            found[output * count + row],
                            "a prediction",
                        );
                    }
                }
            }
        }
    }
}

/// Checks the optimum: λα is the loss gradient in each distinct row and α sums to 0, within the rounding error of f, of
/// size Σ|α|.
fn is_minimum(lambda: f64, problem: &Problem, model: &Model) {
    let saved = serde_json::to_value(model).unwrap();
    let numbers = |value: &Value| value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>();
    let (alpha, centers) = (numbers(&saved["alpha"][0]), saved["rows"].as_array().unwrap());
    let (known, found) = (rows(&problem.columns().select(model.inputs())), predict(model, problem.columns()));
    let near = 1e-9 + f64::EPSILON * alpha.iter().map(|a| a.abs()).sum::<f64>();
    for (center, a) in centers.iter().zip(&alpha) {
        let same = |row: &usize| known[*row] == numbers(center);
        let slope: f64 = (0..known.len())
            .filter(same)
            .map(|row| problem.weights().map_or(1.0, |w| w[row]) * (problem.targets()[[0, row]] - found[row]) / 2.0)
            .sum();
        assert!((lambda * a - slope).abs() < near, "{lambda}: {} is not {slope}", lambda * a);
    }
    assert!(alpha.iter().sum::<f64>().abs() * lambda < 1e-9);
}

#[test]
fn separable_rows_stay_finite_however_small_the_penalty() {
    let mut random = SplitMix64::new(3);
    let y: Vec<f64> = (0..40).map(|row| if row < 15 { 1.0 } else { -1.0 }).collect();
    let x: Vec<f64> = y.iter().map(|y| 3.0 * y + random.uniform()).collect();
    let task = Task::Binary { negative: None, positive: "yes".into() };
    let problem = data::given(&[&x], &[&y], task).unwrap();
    let mut before = 0.0;
    for lambda in [1.0, 1e-2, 1e-4, 1e-6, 1e-8] {
        let model = learner(lambda, 1.0).fit(&problem, &[0], None).unwrap();
        is_minimum(lambda, &problem, &model);
        let found = predict(&model, problem.columns());
        let least = found.iter().zip(&y).fold(1.0, |least: f64, (p, y)| least.min(p * y));
        assert!(least > before && least < 1.0, "{lambda}: {least}");
        before = least;
    }
    assert!(before > 0.9999, "{before}");
}

/// Noise that a narrow kernel can fit, and a wide one cannot.
#[test]
fn hard_fits_are_solved_or_say_that_they_are_not() {
    let problem = data::binary(60, 3, 12).problem();
    for lambda in [1e12, 1e3, 1e-3, 1e-6, 1e-9, 1e-12] {
        for bandwidth in [1e-3, 0.3, 3.0, 1e2, 1e5] {
            is_minimum(lambda, &problem, &learner(lambda, bandwidth).fit(&problem, &[0, 1, 2], None).unwrap());
        }
    }
    // Weights so large that λ is lost in rounding.
    let mut refused = 0;
    for weight in [1e3, 1e6, 1e8, 1e15, 1e30, 1e300] {
        let heavy = problem.clone().with_weights(vec![weight; 60]).unwrap();
        for bandwidth in [1e-3, 0.3, 3.0, 1e2, 1e5] {
            match learner(1e-12, bandwidth).fit(&heavy, &[0, 1, 2], None) {
                // Narrow kernels can separate the classes.
                Ok(model) => {
                    let found = predict(&model, problem.columns());
                    let parted = found.iter().zip(problem.targets().iter()).all(|(p, y)| p * y > 0.99);
                    assert!(parted && bandwidth < 10.0, "{weight} {bandwidth} {found:?}");
                }
                Err(Error::Numerical(message)) if message.contains("raise it") => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!((10..30).contains(&refused), "{refused}");
}

#[test]
fn a_weight_is_the_row_repeated_and_all_weights_are_a_penalty() {
    let plain = data::multiclass(40, 3, 3, 21).problem();
    let weights: Vec<f64> = (0..40).map(|row| [1.0, 3.0, 2.0][row % 3]).collect();
    let repeated = (0..40).flat_map(|row| vec![row; weights[row] as usize]).collect::<Vec<usize>>();
    let weighted = plain.clone().with_weights(weights.clone()).unwrap();
    let halves = plain.clone().with_weights(weights.iter().map(|w| w / 2.0).collect()).unwrap();
    for bandwidth in [Bandwidth::Value(1.0), KernelLogistic::default().bandwidth] {
        let own = KernelLogistic { lambda: 0.02, bandwidth };
        let model = |own: &KernelLogistic, problem: &Problem| own.fit(problem, &[0, 1, 2], None).unwrap();
        let expected = predict(&model(&own, &plain.select_rows(&repeated)), plain.columns());
        let by_weight = predict(&model(&own, &weighted), plain.columns());
        let half = KernelLogistic { lambda: 0.01, bandwidth };
        let by_half = predict(&model(&half, &halves), plain.columns());
        for (row, a) in expected.iter().enumerate() {
            Tolerance { tolerance: 1e-9, least: 1.0 }.assert(*a, by_weight[row], "weights");
            Tolerance { tolerance: 1e-9, least: 1.0 }.assert(*a, by_half[row], "halves");
        }
        assert!(by_weight.iter().zip(fit_values(&own, &plain)).any(|(a, b)| (a - b).abs() > 1e-3));
    }
}

#[test]
fn the_order_of_the_subset_changes_no_bit_and_that_of_the_rows_nearly_none() {
    let problem = data::binary(50, 5, 2).weighted().problem();
    let own = KernelLogistic { lambda: 0.05, ..KernelLogistic::default() };
    let fit = |problem: &Problem, subset: &[usize]| own.fit(problem, subset, None).unwrap();
    let first = fit(&problem, &[0, 2, 3]);
    for subset in [[3, 0, 2], [2, 3, 0]] {
        let other = fit(&problem, &subset);
        assert_eq!(serde_json::to_string(&other).unwrap(), serde_json::to_string(&first).unwrap());
    }
    let backwards = fit(&problem.select_rows(&(0..50).rev().collect::<Vec<_>>()), &[0, 2, 3]);
    let (a, b) = (predict(&first, problem.columns()), predict(&backwards, problem.columns()));
    a.iter().zip(&b).for_each(|(a, b)| Tolerance { tolerance: 1e-12, least: 1.0 }.assert(*a, *b, "rows in reverse"));
}

#[test]
fn constant_columns_are_not_kept_and_without_columns_the_share_of_the_class_is_predicted() {
    let problem = data::binary(30, 3, 9).weighted().constants(1).problem();
    let constant = all(&problem).into_iter().find(|&f| problem.columns().is_constant(f)).unwrap();
    let varying: Vec<usize> = all(&problem).into_iter().filter(|f| *f != constant).collect();
    let own = KernelLogistic { lambda: 0.1, ..KernelLogistic::default() };
    let text = |subset: &[usize]| serde_json::to_string(&own.fit(&problem, subset, None).unwrap()).unwrap();
    assert_eq!(text(&all(&problem)), text(&varying));
    assert_eq!(text(&[constant]), text(&[]));
    let (weights, targets) = (problem.weights().unwrap(), problem.targets());
    let mean = (0..30).map(|row| weights[row] * targets[[0, row]]).sum::<f64>() / weights.iter().sum::<f64>();
    let model = own.fit(&problem, &[], None).unwrap();
    predict(&model, problem.columns()).iter().for_each(|p| assert!((p - mean).abs() < 1e-14, "{p} {mean}"));
}

#[test]
fn what_it_cannot_learn_is_refused_by_name() {
    for (field, setting) in [
        ("lambda", json!({"lambda": 0.0})),
        ("lambda", json!({"lambda": -1.0})),
        ("bandwidth", json!({"bandwidth": 0.0})),
        ("bandwidth", json!({"bandwidth": 1e200})),
    ] {
        let own: KernelLogistic = serde_json::from_value(setting.clone()).unwrap();
        assert_eq!(own.check_settings().unwrap_err().field(), Some(field), "{setting}");
        assert_eq!(
            own.fit(&data::binary(9, 2, 1).problem(), &[0], None).unwrap_err().field(),
            Some(field),
            "{setting}"
        );
    }
    for bad in [json!({"bandwidth": "mean"}), json!({"width": 1.0})] {
        assert!(serde_json::from_value::<KernelLogistic>(bad).is_err());
    }
    let own = KernelLogistic::default();
    let numbers = own.check(&data::regression(9, 2, 1).problem()).unwrap_err();
    assert!(numbers.to_string().contains("`kernel_logistic` tells classes, and the target is numbers"), "{numbers}");
    let many = own.check(&data::binary(20_001, 1, 1).problem()).unwrap_err();
    assert!(many.to_string().contains("at most 20000 rows, and there are 20001; use `fs_ls_svm`"), "{many}");
    let task = Task::Binary { negative: None, positive: "yes".into() };
    for (y, said) in [(1.0, "all rows have"), (-1.0, "no row has")] {
        let one = data::given(&[&[1.0, 2.0, 3.0]], &[&[y; 3]], task.clone()).unwrap();
        let error = own.fit(&one, &[0], None).unwrap_err();
        assert!(error.to_string().contains(&format!("needs rows of both classes, and {said} ")), "{error}");
    }
    let large = data::given(&[&[1e200, -1e200, 3e199]], &[&[1.0, -1.0, 1.0]], task).unwrap();
    let error = own.fit(&large, &[0], None).unwrap_err();
    assert!(matches!(&error, Error::Numerical(m) if m.contains("standardize")), "{error}");
    assert!(fit_values(&learner(0.1, 1.5), &large).iter().zip([1.0, -1.0, 1.0]).all(|(p, y)| p * y > 0.5));
}

#[test]
fn a_saved_model_is_the_model_and_one_whose_parts_do_not_fit_is_refused() {
    let problem = data::multiclass(40, 4, 3, 11).weighted().problem();
    let model = KernelLogistic { lambda: 0.1, ..KernelLogistic::default() }.fit(&problem, &[2, 0], None).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    let loaded: Model = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&loaded).unwrap(), text);
    let together = predict(&loaded, problem.columns());
    assert_eq!(bits(&together), bits(&predict(&model, problem.columns())));
    for row in [0, 17, 39] {
        let alone = predict(&loaded, &problem.columns().select_rows(&[row]));
        assert!((0..3).all(|output| alone[output].to_bits() == together[output * 40 + row].to_bits()));
    }
    let good = serde_json::to_value(&model).unwrap();
    let read = |value: &Value| serde_json::from_str::<Model>(&value.to_string());
    for (path, bad) in [
        ("/inputs", json!([0])),
        ("/inputs", json!([2, 0])),
        ("/rows/1", json!([1.0])),
        ("/rows", json!([])),
        ("/alpha/0", json!([1.0, 2.0])),
        ("/alpha", json!([])),
        ("/kernel", json!({"rbf": {"bandwidth": 0.0}})),
        ("/intercept/dim", json!([2])),
        ("/intercept", json!({"v": 1, "dim": [1], "data": [0.0]})),
    ] {
        let mut changed = good.clone();
        *changed.pointer_mut(path).unwrap() = bad;
        assert!(read(&changed).is_err(), "{path}: {changed}");
    }
    let mut more = good;
    more["more"] = json!(1);
    assert!(read(&more).is_err());
}
