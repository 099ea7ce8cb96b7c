//! Components against their definition; saved models keep their state and reject damage.

use serde_json::{Value, json};
use vaglio_core::{Columns, Design, Error, Learner, Model, Problem, Readout, Task};
use vaglio_lssvm::{Bandwidth, FsLsSvm, KernelSettings, Scaling};
use vaglio_testkit::{LawViolation, LearnerLaws, check_learner_on_standard_data, data, registry};

/// The design of a learner on a problem.
pub fn new_design(learner: &(impl Learner + Clone + 'static), problem: &Problem) -> vaglio_core::Result<Design> {
    Design::from_problem(problem, std::sync::Arc::new(learner.clone()))
}

fn kernels() -> [KernelSettings; 4] {
    [
        KernelSettings::default(),
        KernelSettings::rbf(Bandwidth::Value(1.5)),
        KernelSettings::linear(),
        KernelSettings::polynomial(2, 1.0),
    ]
}

fn machine(landmarks: usize, kernel: KernelSettings) -> FsLsSvm {
    FsLsSvm { landmarks, kernel, ..FsLsSvm::default() }
}

fn bits(columns: &Columns) -> Vec<Vec<u64>> {
    (0..columns.len()).map(|f| columns.column(f).values().iter().map(|v| v.to_bits()).collect()).collect()
}

pub fn rows_of(value: &Value) -> Vec<Vec<f64>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn every_law_of_a_learner_holds() -> Result<(), LawViolation> {
    registry::check_registry(&[])?;
    for kernel in kernels() {
        // Bytes from 0 to 255 make polynomial kernels near 1e9, where a ridge fit has fewer digits.
        let tolerance = if kernel.degree.is_some() { 1e-5 } else { 1e-7 };
        for (scaling, landmarks) in [(Scaling::Gram, 10), (Scaling::Entropy, 5), (Scaling::None, 7)] {
            check_learner_on_standard_data(&FsLsSvm { scaling, ..machine(landmarks, kernel.clone()) }, tolerance)?;
        }
    }
    check_learner_on_standard_data(&FsLsSvm { intercept: false, ..FsLsSvm::default() }, 1e-7)
}

/// Landmarks, kernel and scaled eigenvectors are read from the saved model of all components.
#[test]
fn columns_are_the_definition() {
    let problem = data::regression(90, 4, 3).problem();
    for (kernel, scaling) in kernels().into_iter().flat_map(|k| [(k.clone(), Scaling::Gram), (k, Scaling::Entropy)]) {
        let learner = FsLsSvm { scaling, ..machine(12, kernel) };
        let design = new_design(&learner, &problem).unwrap();
        let all: Vec<usize> = (0..design.features()).collect();
        assert_eq!(design.problem().names()[all.len() - 1], format!("component{}", all.len()));
        let model = serde_json::to_value(learner.fit(&problem, &all, None).unwrap()).unwrap();
        let (landmarks, components) = (rows_of(&model["landmarks"]), rows_of(&model["components"]));
        let k = |u: &[f64], v: &[f64]| {
            let square: f64 = u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum();
            let product: f64 = u.iter().zip(v).map(|(u, v)| u * v).sum();
            match model["kernel"]["rbf"]["bandwidth"].as_f64() {
                Some(b) => (-square / (2.0 * b * b)).exp(),
                None => {
                    let polynomial = &model["kernel"]["polynomial"];
                    let degree = polynomial["degree"].as_i64().unwrap() as i32;
                    (product + polynomial["offset"].as_f64().unwrap()).powi(degree)
                }
            }
        };
        for row in 0..90 {
            let u: Vec<f64> = (0..4).map(|f| problem.columns().column(f).get(row)).collect();
            for (i, component) in components.iter().enumerate() {
                let terms = || component.iter().zip(&landmarks).map(|(c, v)| c * k(&u, v));
                let (expected, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                assert!((design.column(i).get(row) - expected).abs() <= 1e-12 * size);
            }
        }
        // With `gram`, Z·Zᵀ = K̃ on the landmarks; with both scalings, columns are orthogonal in decreasing order.
        let z = |i: usize, j: usize| -> f64 {
            components[i].iter().zip(&landmarks).map(|(c, v)| c * k(&landmarks[j], v)).sum()
        };
        let n = landmarks.len();
        let scale = k(&landmarks[0], &landmarks[0]).max(1.0) * n as f64;
        for a in 0..n {
            for b in 0..n {
                let sum: f64 = all.iter().map(|&i| z(i, a) * z(i, b)).sum();
                let expected = k(&landmarks[a], &landmarks[b]);
                assert!(scaling == Scaling::Entropy || (sum - expected).abs() < 1e-8 * scale, "{sum} {expected}");
            }
        }
        let norms: Vec<f64> = all.iter().map(|&i| (0..n).map(|j| z(i, j) * z(i, j)).sum()).collect();
        match scaling {
            Scaling::Gram => assert!(norms.windows(2).all(|w| w[0] > w[1] * (1.0 - 1e-9))),
            _ => assert!(norms.iter().all(|v| (v / n as f64 - 1.0).abs() < 1e-6), "{norms:?}"),
        }
        for component in &components {
            let peak = component.iter().fold(0.0, |p: f64, v| if v.abs() > p.abs() { *v } else { p });
            assert!(peak > 0.0);
        }
    }
}

#[test]
fn the_linear_kernel_on_enough_landmarks_is_plain_ridge() {
    for recipe in
        [data::regression(50, 5, 8).weighted(), data::multiclass(60, 6, 3, 9), data::regression(40, 5, 2).constants(2)]
    {
        let problem = recipe.problem();
        for (intercept, lambda) in [(true, 0.3), (false, 0.3), (true, 1e-3)] {
            let learner = FsLsSvm { intercept, ..machine(30, KernelSettings::linear()) };
            let all: Vec<usize> = (0..new_design(&learner, &problem).unwrap().features()).collect();
            let model = learner.fit(&problem, &all, Some(lambda)).unwrap();
            let plain = Design::identity(&problem, Readout::new(vec![lambda], intercept).unwrap());
            let plain = plain.train(&(0..problem.columns().len()).collect::<Vec<_>>(), Some(lambda)).unwrap();
            let found = model.predict(&problem.columns().select(model.inputs()), None).unwrap();
            let expected = plain.predict(problem.columns(), None).unwrap();
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-8 * b.abs().max(1.0), "{a} is not {b}");
            }
        }
    }
}

#[test]
fn the_map_follows_from_the_seed_and_the_distinct_rows() {
    let problem = data::regression(80, 3, 5).problem();
    let learner = machine(10, KernelSettings::default());
    let columns =
        |learner: &FsLsSvm, problem: &Problem| bits(new_design(learner, problem).unwrap().problem().columns());
    let first = columns(&learner, &problem);
    assert_eq!(columns(&learner, &problem), first);
    assert_eq!(
        columns(&FsLsSvm { seed: Some(7), ..learner.clone() }, &problem),
        columns(&learner, &problem.clone().with_seed(7))
    );
    assert_ne!(columns(&FsLsSvm { seed: Some(7), ..learner.clone() }, &problem), first);
    let again: Vec<usize> = (0..80).rev().chain([3, 3, 50]).collect();
    let repeated = columns(&learner, &problem.select_rows(&again));
    for (a, b) in first.iter().zip(&repeated) {
        assert_eq!(again.iter().map(|&row| a[row]).collect::<Vec<_>>(), *b);
    }
}

#[test]
fn threads_change_no_bit() {
    let problem = data::regression(700, 6, 9).problem();
    for kernel in kernels() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(new_design(&machine(30, kernel.clone()), &problem).unwrap().problem().columns()))
        };
        assert_eq!(run(1), run(2));
    }
}

#[test]
fn a_model_has_the_designs_bits_on_any_number_of_rows_and_keeps_what_it_needs() {
    let problem = data::multiclass(300, 5, 3, 11).bytes().constants(1).problem();
    let learner = machine(20, KernelSettings::rbf(Bandwidth::Value(60.0)));
    let design = new_design(&learner, &problem).unwrap();
    for (subset, inputs) in [(vec![7, 0, 3], vec![0, 1, 2, 3, 4]), (vec![], vec![])] {
        let model = learner.fit(&problem, &subset, None).unwrap();
        assert_eq!(model.inputs(), inputs);
        let columns = model.features(&problem.columns().select(&inputs), None).unwrap().into_owned();
        assert_eq!(bits(&columns), bits(&design.problem().columns().select(&subset)));
        let text = serde_json::to_string(&model).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["components"].as_array().unwrap().len(), subset.len());
        let loaded: Model = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&loaded).unwrap(), text);
    }
    LearnerLaws::new(&learner, &problem, 0.0).rows_alone().unwrap();
}

/// A reduced set of kernels: columns are landmark kernels, and the model drops the landmarks of unselected ones.
#[test]
fn without_scaling_columns_are_the_kernels_of_landmarks() {
    let problem = data::regression(120, 4, 13).problem();
    for kernel in kernels() {
        let learner = FsLsSvm { scaling: Scaling::None, ..machine(40, kernel.clone()) };
        let design = new_design(&learner, &problem).unwrap();
        assert_eq!((design.features(), &design.problem().names()[39][..]), (40, "landmark40"));
        let subset = [31, 2, 17];
        let model = learner.fit(&problem, &subset, None).unwrap();
        let value = serde_json::to_value(&model).unwrap();
        let landmarks = rows_of(&value["landmarks"]);
        assert!(landmarks.len() == 3 && value.get("components").is_none());
        let all = serde_json::to_string(&learner.fit(&problem, &(0..40).collect::<Vec<_>>(), None).unwrap()).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        assert!(text.len() * 5 < all.len(), "{} of {}", text.len(), all.len());
        for row in 0..120 {
            let u: Vec<f64> = (0..4).map(|f| problem.columns().column(f).get(row)).collect();
            for (landmark, &feature) in landmarks.iter().zip(&subset) {
                let square: f64 = u.iter().zip(landmark).map(|(u, v)| (u - v) * (u - v)).sum();
                let product: f64 = u.iter().zip(landmark).map(|(u, v)| u * v).sum();
                let (expected, size) = match (value["kernel"]["rbf"]["bandwidth"].as_f64(), kernel.degree) {
                    (Some(b), _) => ((-square / (2.0 * b * b)).exp(), 1.0),
                    (None, Some(degree)) => ((product + 1.0).powi(degree as i32), (product.abs() + 1.0).powi(2)),
                    (None, None) => (product, product.abs() + 1.0),
                };
                let found = design.column(feature).get(row);
                assert!((found - expected).abs() <= 1e-12 * size, "{found} {expected}");
            }
        }
        let columns = model.features(&problem.columns().select(model.inputs()), None).unwrap().into_owned();
        assert_eq!(bits(&columns), bits(&design.problem().columns().select(&subset)));
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    for (field, setting) in [
        ("landmarks", json!({"landmarks": 1})),
        ("landmarks", json!({"landmarks": 20_001})),
        ("kernel.bandwidth", json!({"kernel": {"kind": "rbf", "bandwidth": 0.0}})),
        ("kernel.bandwidth", json!({"kernel": {"kind": "linear", "bandwidth": "median"}})),
        ("kernel.degree", json!({"kernel": {"kind": "rbf", "degree": 2}})),
        ("kernel.offset", json!({"kernel": {"kind": "linear", "offset": 2}})),
        ("kernel.degree", json!({"kernel": {"kind": "polynomial", "degree": 0}})),
        ("kernel.offset", json!({"kernel": {"kind": "polynomial", "offset": -1}})),
        ("lambda", json!({"lambda": 0.0})),
    ] {
        let machine: FsLsSvm = serde_json::from_value(setting.clone()).unwrap();
        assert_eq!(machine.check_settings().unwrap_err().field(), Some(field), "{setting}");
    }
    for bad in [json!({"kernel": {"kind": "rbf", "bandwidth": "mean"}}), json!({"kernel": {"gamma": 1}})] {
        assert!(serde_json::from_value::<FsLsSvm>(bad).is_err());
    }
    let written = |kernel: Value| {
        let machine: FsLsSvm = serde_json::from_value(json!({"kernel": kernel})).unwrap();
        serde_json::to_value(machine.kernel).unwrap()
    };
    assert_eq!(written(json!({"kind": "rbf"})), json!({"kind": "rbf", "bandwidth": "median"}));
    assert_eq!(written(json!({"kind": "polynomial"})), json!({"kind": "polynomial", "degree": 3, "offset": 1.0}));
    assert!(kernels().iter().all(|kernel| machine(2, kernel.clone()).check_settings().is_ok()));
}

#[test]
fn kernels_that_overflow_or_vanish_are_an_error() {
    let large: &[f64] = &[1e200, -1e200, 3e199, 2e200];
    let problem = data::given(&[large], &[&[1.0, 2.0, 3.0, 4.0]], Task::Regression).unwrap();
    // A fixed bandwidth is valid for distances that overflow: those kernels are 0.
    for kernel in kernels().into_iter().filter(|k| k.bandwidth != Some(Bandwidth::Value(1.5))) {
        let error = new_design(&machine(3, kernel), &problem).unwrap_err();
        assert!(matches!(&error, Error::Numerical(m) if m.contains("standardize")), "{error}");
    }
    assert_eq!(new_design(&machine(3, KernelSettings::rbf(Bandwidth::Value(1.5))), &problem).unwrap().features(), 3);
    let zero = data::given(&[&[0.0, 0.0]], &[&[1.0, 2.0]], Task::Regression).unwrap();
    assert!(matches!(new_design(&machine(3, KernelSettings::linear()), &zero), Err(Error::Numerical(_))));
    assert_eq!(new_design(&machine(3, KernelSettings::default()), &zero).unwrap().features(), 1);
}

#[test]
fn models_whose_parts_do_not_fit_are_refused() {
    let problem = data::regression(12, 3, 1).problem();
    let model = machine(4, KernelSettings::default()).fit(&problem, &[1, 0], None).unwrap();
    let good = serde_json::to_value(&model).unwrap();
    let read = |value: &Value| serde_json::from_str::<Model>(&value.to_string());
    assert!(read(&good).is_ok());
    for (path, bad) in [
        ("/inputs", json!([0, 1])),
        ("/inputs", json!([1, 0, 2])),
        ("/landmarks/1", json!([1.0])),
        ("/landmarks", json!([])),
        ("/components/0", json!([1.0, 2.0])),
        ("/components", json!([])),
        ("/kernel", json!({"rbf": {"bandwidth": 0.0}})),
        ("/kernel", json!({"rbf": {"bandwidth": 1.0, "degree": 2}})),
        ("/kernel", json!({"polynomial": {"degree": 0, "offset": 0.0}})),
        ("/coefficients/intercept", json!([])),
        ("/lambda", json!(null)),
    ] {
        let mut changed = good.clone();
        *changed.pointer_mut(path).unwrap() = bad;
        assert!(read(&changed).is_err(), "{path}: {changed}");
    }
    let mut more = good;
    more["more"] = json!(1);
    assert!(read(&more).is_err());
}
