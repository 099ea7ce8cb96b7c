//! The hidden layer against its definition; saved models keep their state and reject damage.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};
use vaglio_core::{Columns, Design, Error, Learner, Model, Problem, Task};
use vaglio_elm::{Activation, Elm};
use vaglio_testkit::{LawViolation, LearnerLaws, check_learner_on_standard_data, data, registry};

/// The design of a learner on a problem.
fn new_design(learner: &(impl Learner + Clone + 'static), problem: &Problem) -> vaglio_core::Result<Design> {
    Design::from_problem(problem, std::sync::Arc::new(learner.clone()))
}

const ACTIVATIONS: [Activation; 4] = [Activation::Tanh, Activation::Sigmoid, Activation::Relu, Activation::Rbf];

fn elm(units: usize, activation: Activation) -> Elm {
    Elm { units, activation, ..Elm::default() }
}

fn bits(columns: &Columns) -> Vec<Vec<u64>> {
    (0..columns.len()).map(|f| columns.column(f).values().iter().map(|v| v.to_bits()).collect()).collect()
}

#[test]
fn every_law_of_a_learner_holds() -> Result<(), LawViolation> {
    registry::check_registry(&[])?;
    for activation in ACTIVATIONS {
        for direct in [true, false] {
            check_learner_on_standard_data(&Elm { direct, ..elm(9, activation) }, 1e-8)?;
        }
    }
    check_learner_on_standard_data(&Elm { intercept: false, bias_scaling: 0.0, ..Elm::default() }, 1e-8)
}

/// Weights and biases are read from the saved model of all units.
#[test]
fn columns_are_the_definition() {
    let problem = data::regression(37, 5, 3).bytes().condition(30.0).problem();
    for activation in ACTIVATIONS {
        let learner = Elm { bias_scaling: 0.5, input_scaling: 0.1, ..elm(11, activation) };
        let design = new_design(&learner, &problem).unwrap();
        assert_eq!(
            (design.features(), design.problem().names()[10].as_str(), design.problem().names()[11].as_str()),
            (16, "unit11", "x0")
        );
        let model = learner.fit(&problem, &(0..11).collect::<Vec<_>>(), None).unwrap();
        let model = serde_json::to_value(&model).unwrap();
        for k in 0..11 {
            let unit = &model["units"][k];
            let bias = unit["bias"].as_f64().unwrap();
            let w: Vec<f64> = unit["weights"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            assert!(bias.abs() <= 0.5 && w.len() == 5 && w.iter().all(|w| w.abs() <= 0.1));
            for row in 0..37 {
                let u: Vec<f64> = (0..5).map(|f| problem.columns().column(f).get(row)).collect();
                let sum: f64 = u.iter().zip(&w).map(|(u, w)| u * w).sum::<f64>() + bias;
                let square: f64 = u.iter().zip(&w).map(|(u, w)| (u - w) * (u - w)).sum();
                let expected = match activation {
                    Activation::Tanh => sum.tanh(),
                    Activation::Sigmoid => 1.0 / (1.0 + (-sum).exp()),
                    Activation::Relu => sum.max(0.0),
                    Activation::Rbf => (-bias.abs() * square).exp(),
                };
                let found = design.column(k).get(row);
                assert!(
                    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3),
                    "{activation:?}: {found} {expected}"
                );
            }
        }
        for feature in 0..5 {
            assert_eq!(design.column(11 + feature).values(), problem.columns().column(feature).values());
        }
    }
}

#[test]
fn units_follow_from_the_seed_alone() {
    let problem = data::regression(20, 4, 5).problem();
    let design = |elm: &Elm, problem: &Problem| bits(new_design(elm, problem).unwrap().problem().columns());
    let (few, many) = (elm(3, Activation::Tanh), elm(8, Activation::Tanh));
    let columns = design(&many, &problem);
    assert_eq!(design(&many, &problem), columns);
    assert_eq!(design(&few, &problem)[..3], columns[..3]);
    assert_eq!(design(&Elm { seed: Some(7), ..many.clone() }, &problem), design(&many, &problem.clone().with_seed(7)));
    let other = design(&Elm { seed: Some(7), ..many.clone() }, &problem);
    assert!(other[..8].iter().zip(&columns).all(|(a, b)| a != b));
    let mut distinct = columns[..8].to_vec();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 8);
}

#[test]
fn threads_change_no_bit() {
    let problem = data::regression(700, 6, 9).problem();
    for activation in ACTIVATIONS {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(new_design(&elm(21, activation), &problem).unwrap().problem().columns()))
        };
        assert_eq!(run(1), run(2));
    }
}

#[test]
fn a_model_has_the_designs_bits_on_any_number_of_rows_and_keeps_what_it_needs() {
    let problem = data::multiclass(300, 6, 3, 11).bytes().problem();
    let learner = elm(10, Activation::Sigmoid);
    let design = new_design(&learner, &problem).unwrap();
    for (subset, inputs, units) in [
        (vec![14, 2, 11, 9], vec![0, 1, 2, 3, 4, 5], 2),
        (vec![15, 10], vec![0, 5], 0),
        (vec![3], vec![0, 1, 2, 3, 4, 5], 1),
        (vec![], vec![], 0),
    ] {
        let model = learner.fit(&problem, &subset, None).unwrap();
        assert_eq!(model.inputs(), inputs);
        let columns = model.features(&problem.columns().select(&inputs), None).unwrap().into_owned();
        assert_eq!(bits(&columns), bits(&design.problem().columns().select(&subset)));
        let text = serde_json::to_string(&model).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["units"].as_array().unwrap().len(), units);
        let loaded: Model = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&loaded).unwrap(), text);
    }
    LearnerLaws::new(&learner, &problem, 0.0).rows_alone().unwrap();
}

#[test]
fn names_of_data_columns_are_left_to_them() {
    let mut columns = Columns::new(3);
    [[1.0, 2.0, 4.0], [0.5, 2.0, 1.0], [3.0, 1.0, 2.5]].iter().for_each(|c| columns.push(c.to_vec()));
    let names = vec!["unit2".into(), "unit2_".into(), "unit9".into()];
    let targets = ndarray::array![[1.0, 2.0, 3.0]];
    let problem = Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap();
    let design: Design = new_design(&elm(3, Activation::Tanh), &problem).unwrap();
    assert_eq!(design.problem().names(), ["unit1", "unit2__", "unit3", "unit2", "unit2_", "unit9"]);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    for (field, setting) in [
        ("units", json!({"units": 0})),
        ("units", json!({"units": 1_000_001})),
        ("input_scaling", json!({"input_scaling": 0.0})),
        ("input_scaling", json!({"input_scaling": -1.0})),
        ("bias_scaling", json!({"bias_scaling": -0.5})),
        ("bias_scaling", json!({"bias_scaling": 0.0, "activation": "rbf"})),
        ("lambda", json!({"lambda": 0.0})),
    ] {
        let elm: Elm = serde_json::from_value(setting.clone()).unwrap();
        assert_eq!(elm.check_settings().unwrap_err().field(), Some(field), "{setting}");
    }
    assert_eq!(
        Elm { input_scaling: f64::INFINITY, ..Elm::default() }.check_settings().unwrap_err().field(),
        Some("input_scaling")
    );
    assert!(serde_json::from_value::<Elm>(json!({"activation": "step"})).is_err());
    assert!(Elm::default().check_settings().is_ok());
}

#[test]
fn overflow_is_an_error_and_not_a_number() {
    let problem = data::given(&[&[1e308, -1e308, 1.0], &[1e308, 1e308, 2.0]], &[&[1.0, 2.0, 3.0]], Task::Regression);
    for activation in ACTIVATIONS {
        let learner = Elm { input_scaling: 100.0, ..elm(5, activation) };
        let error = new_design(&learner, problem.as_ref().unwrap()).unwrap_err();
        assert!(matches!(&error, Error::Numerical(m) if m.contains("standardize")), "{activation:?}: {error}");
    }
}

#[test]
fn models_whose_parts_do_not_fit_are_refused() {
    let problem = data::regression(12, 3, 1).problem();
    let model = elm(4, Activation::Tanh).fit(&problem, &[1, 5], None).unwrap();
    let good = serde_json::to_value(&model).unwrap();
    let read = |value: &Value| serde_json::from_str::<Model>(&value.to_string());
    assert!(read(&good).is_ok());
    for (path, bad) in [
        ("/inputs", json!([0, 1])),
        ("/inputs", json!([1, 0, 2])),
        ("/inputs", json!([0, 1, 1])),
        ("/units/0/weights", json!([1.0])),
        ("/units", json!([])),
        ("/columns/0", json!({"unit": 1})),
        ("/columns/1", json!({"input": 3})),
        ("/columns", json!([{"unit": 0}])),
        ("/activation", json!("step")),
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
