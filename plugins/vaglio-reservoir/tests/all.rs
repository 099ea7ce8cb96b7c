//! The learner against its definition, and its model files.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use ndarray::{Array2, array};
use vaglio_core::{Columns, Design, Error, Learner, Model, Problem, RowLabels, Squared, Task, training_weights};
use vaglio_kernels::Level;
use vaglio_reservoir::{Decision, Reservoir};
use vaglio_testkit::{LearnerLaws, SplitMix64};

/// The design of a learner on a problem.
fn new_design(learner: &(impl Learner + Clone + 'static), problem: &Problem) -> vaglio_core::Result<Design> {
    Design::from_problem(problem, std::sync::Arc::new(learner.clone()))
}

/// Labels of the series of each row.
fn with_series(series: Vec<u32>) -> RowLabels {
    RowLabels { series: Some(series.into()), ..RowLabels::default() }
}

/// Generates series of the given lengths with two columns, and one class for all rows of a series.
fn problem(lengths: &[usize]) -> Problem {
    with_inputs(lengths, 2)
}

fn with_inputs(lengths: &[usize], inputs: usize) -> Problem {
    let mut random = SplitMix64::new(5);
    let rows: usize = lengths.iter().sum();
    let series: Vec<u32> =
        lengths.iter().enumerate().flat_map(|(k, &length)| std::iter::repeat_n(10 - k as u32, length)).collect();
    let mut columns = Columns::new(rows);
    for _ in 0..inputs {
        columns.push(series.iter().map(|s| random.normal() + 0.5 * f64::from(s % 2)).collect::<Vec<f64>>());
    }
    let targets = Array2::from_shape_fn((1, rows), |(_, row)| if series[row].is_multiple_of(2) { 1.0 } else { -1.0 });
    let task = Task::Binary { negative: Some("a".into()), positive: "b".into() };
    let names = ["u", "v", "w"][..inputs].iter().map(|name| (*name).to_owned()).collect();
    let problem = Problem::new(columns, names, targets, vec!["y".into()], task).unwrap();
    problem.with_labels(with_series(series)).unwrap().with_seed(3)
}

fn small() -> Reservoir {
    Reservoir { units: 12, connectivity: 0.3, leak_rate: 0.5, bias_scaling: 0.2, ..Reservoir::default() }
}

fn predict(model: &Model, problem: &Problem) -> Vec<f64> {
    let inputs = problem.columns().select(model.inputs());
    model.predict(&inputs, problem.series()).unwrap().into_raw_vec_and_offset().0
}

#[test]
fn the_laws_that_have_a_meaning_for_series_hold() {
    // Laws of integer weights and degenerate data are left out: they repeat rows, and a repeated row is another step of
    // its series.
    let problem = problem(&[15, 20, 9]);
    for settings in [small(), Reservoir { direct: true, ..small() }] {
        settings.check_settings().unwrap();
        LearnerLaws::new(&settings, &problem, 0.0).saved().unwrap();
        LearnerLaws::new(&settings, &problem, 1e-9).coefficients().unwrap();
        LearnerLaws::new(&settings, &problem, 1e-9).retrained().unwrap();
        LearnerLaws::new(&settings, &problem, 0.0).damaged().unwrap();
    }
}

/// Computes the states of a saved model's network by definition, nodes × rows.
fn states_by_recursion(model: &serde_json::Value, problem: &Problem, leak: f64) -> Vec<Vec<f64>> {
    let numbers = |list: &serde_json::Value| -> Vec<f64> {
        list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let places = |name: &str| numbers(&model["network"][name]).iter().map(|v| *v as usize).collect::<Vec<_>>();
    let [weights, input, bias] = ["weights", "input", "bias"].map(|name| numbers(&model["network"][name]));
    let (starts, sources, units) = (places("starts"), places("sources"), bias.len());
    let inputs: Vec<_> = numbers(&model["inputs"]).iter().map(|f| problem.columns().column(*f as usize)).collect();
    let (series, mut x, mut states) = (problem.series().unwrap(), vec![0.0; units], vec![Vec::new(); units]);
    for row in 0..problem.rows() {
        if row > 0 && series[row] != series[row - 1] {
            x.fill(0.0);
        }
        let next = |i: usize| {
            let recurrent: f64 = (starts[i]..starts[i + 1]).map(|at| weights[at] * x[sources[at]]).sum();
            let driven: f64 = inputs.iter().enumerate().map(|(k, u)| input[k * units + i] * u.get(row)).sum();
            (1.0 - leak) * x[i] + leak * (recurrent + driven + bias[i]).tanh()
        };
        x = (0..units).map(next).collect();
        states.iter_mut().zip(&x).for_each(|(states, x)| states.push(*x));
    }
    states
}

/// Networks of whole and partial blocks, sparse and dense, and one without inputs.
#[test]
fn states_are_those_of_the_recursion() {
    for (units, inputs, connectivity, leak_rate) in [
        (1, 1, 1.0, 1.0),
        (7, 2, 0.4, 0.3),
        (37, 3, 0.1, 0.7),
        (64, 0, 0.05, 1.0),
        (70, 2, 0.6, 0.5),
        (33, 1, 1.0, 1.0),
    ] {
        let problem = with_inputs(&[1, 9, 30, 8], inputs.max(1));
        let input_scaling = if inputs == 0 { 0.0 } else { 1.0 };
        let settings = Reservoir { units, connectivity, leak_rate, input_scaling, bias_scaling: 0.1, ..small() };
        let all: Vec<usize> = (0..units).collect();
        let model = serde_json::to_value(settings.fit(&problem, &all, None).unwrap()).unwrap();
        assert_eq!(model["inputs"].as_array().unwrap().len(), inputs);
        let expected = states_by_recursion(&model, &problem, leak_rate);
        let columns = || -> Vec<Vec<f64>> {
            let design = new_design(&settings, &problem).unwrap();
            all.iter().map(|&node| design.column(node).values().into_owned()).collect()
        };
        let first = columns();
        for (a, b) in first.iter().flatten().zip(expected.iter().flatten()) {
            assert!((a - b).abs() < 1e-12, "{units} units: {a} is not {b}");
        }
        Level::available().into_iter().for_each(|level| assert_eq!(level.within(columns), first, "{}", level.name()));
    }
}

#[test]
fn a_series_is_predicted_alone_as_among_others() {
    let all = problem(&[15, 20, 9]);
    for settings in [small(), Reservoir { decision: Decision::Series, warmup: 4, ..small() }] {
        let model = settings.fit(&all, &[1, 7, 4], None).unwrap();
        let among = predict(&model, &all);
        let alone = predict(&model, &all.select_rows(&(15..35).collect::<Vec<_>>()));
        assert_eq!(among[15..35], alone[..]);
    }
}

#[test]
fn the_model_of_some_nodes_has_their_states() {
    let problem = problem(&[15, 20, 9]);
    let settings = Reservoir { connectivity: 0.12, units: 16, direct: true, ..small() };
    let design = new_design(&settings, &problem).unwrap();
    assert_eq!(
        (design.features(), &design.problem().names()[15..]),
        (18, &["node16".into(), "u".into(), "v".into()][..])
    );
    for subset in [vec![3], vec![17], vec![], vec![9, 17, 0, 12]] {
        let model = settings.fit(&problem, &subset, None).unwrap();
        let inputs = problem.columns().select(model.inputs());
        let states = model.features(&inputs, problem.series()).unwrap();
        assert_eq!(states.len(), subset.len());
        for (k, &column) in subset.iter().enumerate() {
            assert_eq!(states.column(k).values(), design.column(column).values(), "{subset:?}");
        }
    }
    assert_eq!(settings.fit(&problem, &[17], None).unwrap().inputs(), [1]);
    // A model of fewer nodes makes a smaller file.
    let size = |subset: &[usize]| serde_json::to_string(&settings.fit(&problem, subset, None).unwrap()).unwrap().len();
    assert!(size(&[17]) < size(&[3]) && size(&[3]) <= size(&(0..16).collect::<Vec<_>>()));
}

#[test]
fn rows_of_warm_up_are_not_trained_on_and_weights_reach_the_readout_alone() {
    let whole = problem(&[15, 20, 9]);
    let settings = Reservoir { warmup: 5, ..small() };
    let design = new_design(&settings, &whole).unwrap();
    assert_eq!(design.rows(), 44 - 15);
    let all = new_design(&small(), &whole).unwrap();
    let kept: Vec<usize> = (5..15).chain(20..35).chain(40..44).collect();
    for node in 0..12 {
        let expected: Vec<f64> = kept.iter().map(|&row| all.column(node).get(row)).collect();
        assert_eq!(design.column(node).values().as_ref(), expected);
    }
    let weights: Vec<f64> = (0..44).map(|row| 1.0 + (row % 3) as f64).collect();
    let weighted = new_design(&settings, &whole.clone().with_weights(weights.clone()).unwrap()).unwrap();
    for node in 0..12 {
        assert_eq!(weighted.column(node).values(), design.column(node).values());
    }
    assert_eq!(weighted.weights().unwrap(), kept.iter().map(|&row| weights[row]).collect::<Vec<_>>());
    let model = settings.fit(&whole, &[0, 5], None).unwrap();
    let counts = model.counts(44, whole.series()).unwrap();
    assert!(counts.iter().enumerate().all(|(row, count)| *count == f64::from(u8::from(kept.contains(&row)))));
    assert!(small().fit(&whole, &[0], None).unwrap().counts(44, None).is_none());
}

#[test]
fn a_series_is_decided_by_the_mean_over_its_steps() {
    let problem = problem(&[15, 20, 9]);
    let by_series = Reservoir { decision: Decision::Series, warmup: 3, ..small() };
    let by_step = Reservoir { decision: Decision::Step, ..by_series.clone() };
    let subset = [2, 11, 6];
    let steps = predict(&by_step.fit(&problem, &subset, None).unwrap(), &problem);
    let model = by_series.fit(&problem, &subset, None).unwrap();
    let decided = predict(&model, &problem);
    let mut errors = 0.0;
    for (start, end) in [(0, 15), (15, 35), (35, 44)] {
        let mean = steps[start + 3..end].iter().sum::<f64>() / (end - start - 3) as f64;
        assert!(decided[start..end].iter().all(|p| (p - mean).abs() < 1e-14));
        errors += (mean - problem.targets()[[0, start]]).powi(2) / 3.0;
    }
    let design = new_design(&by_series, &problem).unwrap();
    let rows: Vec<usize> = (0..design.rows()).collect();
    let predictions = design.retrain(&rows, &rows, &subset, None).unwrap();
    assert!((design.loss(&Squared, predictions.view()) - errors).abs() < 1e-9);
    let counts = model.counts(44, problem.series()).unwrap();
    assert_eq!((counts[0], counts[34], counts[43]), (1.0 / 15.0, 1.0 / 20.0, 1.0 / 9.0));
    let short = problem.select_rows(&[0, 1, 2]);
    let error = model.predict(&short.columns().select(model.inputs()), short.series()).unwrap_err();
    assert!(error.to_string().contains("series 1 has 3 rows"), "{error}");
}

/// Weighted least squares on the states, with explicit weights: the inverse of the number of training rows in the
/// class.
#[test]
fn a_balanced_readout_weighs_every_class_alike() {
    let whole = problem(&[15, 20, 9, 12]);
    let plain = Reservoir { warmup: 3, lambda: vaglio_core::Lambda::from(0.01), ..small() };
    let design = new_design(&Reservoir { balanced: true, ..plain.clone() }, &whole).unwrap();
    let classes = |rows: &[usize]| -> Vec<f64> {
        let label = |row: usize| design.targets()[[0, row]];
        rows.iter().map(|&row| 1.0 / rows.iter().filter(|&&other| label(other) == label(row)).count() as f64).collect()
    };
    let (all, subset): (Vec<usize>, [usize; 3]) = ((0..design.rows()).collect(), [2, 11, 6]);
    // The rows of the second series held out, and none.
    let folds = [(all.clone(), all.clone()), ((0..12).chain(29..44).collect(), (12..29).collect())];
    for (training, held) in folds {
        let weights = classes(&training);
        assert_eq!(training_weights(&design, training.iter().copied()), Some(weights.clone()));
        let x = design.problem().columns().matrix(&subset);
        let (x, held_x) = (x.select(ndarray::Axis(0), &training), x.select(ndarray::Axis(0), &held));
        let y = design.targets().select(ndarray::Axis(1), &training);
        let fitted = vaglio_core::ridge::ridge(x.t(), y.view(), Some(&weights), 0.01, true).unwrap();
        let expected = fitted.predict(held_x.t());
        let found = design.retrain(&training, &held, &subset, None).unwrap();
        assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-12));
    }
    let unlike = new_design(&plain, &whole).unwrap().retrain(&all, &all, &subset, None).unwrap();
    assert_ne!(unlike, design.retrain(&all, &all, &subset, None).unwrap());
    let settings = Reservoir { balanced: true, ..small() };
    LearnerLaws::new(&settings, &whole, 0.0).saved().unwrap();
    LearnerLaws::new(&settings, &whole, 1e-9).coefficients().unwrap();
    LearnerLaws::new(&settings, &whole, 1e-9).retrained().unwrap();
}

#[test]
fn everything_follows_from_the_seed_on_any_number_of_threads() {
    let problem = problem(&[15, 20, 9, 30]);
    let states = |settings: &Reservoir, problem: &Problem, threads: usize| -> Vec<Vec<f64>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let design = pool.install(|| new_design(settings, problem)).unwrap();
        (0..design.features()).map(|f| design.column(f).values().into_owned()).collect()
    };
    let dense = Reservoir { units: 90, connectivity: 0.5, ..small() };
    let all = states(&dense, &problem, 1);
    assert_eq!(all, states(&dense, &problem, 2));
    let some = dense.fit(&problem, &[7, 80], None).unwrap();
    let some = some.features(&problem.columns().select(some.inputs()), problem.series()).unwrap().into_owned();
    assert_eq!([some.column(0).values(), some.column(1).values()], [&all[7][..], &all[80][..]]);
    let first = states(&small(), &problem, 1);
    assert_eq!(first, states(&small(), &problem, 2));
    assert_ne!(first, states(&small(), &problem.clone().with_seed(4), 1));
    let own = Reservoir { seed: Some(3), ..small() };
    assert_eq!(first, states(&own, &problem.clone().with_seed(4), 2));
}

#[test]
fn settings_and_series_that_cannot_be_are_refused_by_name() {
    let fine = problem(&[15, 20, 9]);
    let base = small();
    let lambda = vaglio_core::Lambda::from(-1.0);
    let refused = |settings: Reservoir, field: &str, words: &str| {
        let error = new_design(&settings, &fine).unwrap_err();
        assert_eq!(error.field(), Some(field), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(Reservoir { units: 0, ..base.clone() }, "units", "between 1 and 20000");
    refused(Reservoir { units: 20_001, ..base.clone() }, "units", "between 1 and 20000");
    refused(Reservoir { connectivity: 0.0, ..base.clone() }, "connectivity", "above 0");
    refused(Reservoir { connectivity: f64::NAN, ..base.clone() }, "connectivity", "above 0");
    refused(Reservoir { leak_rate: 1.5, ..base.clone() }, "leak_rate", "at most 1");
    refused(Reservoir { spectral_radius: 0.0, ..base.clone() }, "spectral_radius", "positive");
    refused(Reservoir { input_scaling: f64::INFINITY, ..base.clone() }, "input_scaling", "finite");
    refused(Reservoir { bias_scaling: -1.0, ..base.clone() }, "bias_scaling", "finite");
    refused(Reservoir { lambda, ..base.clone() }, "lambda", "positive");
    refused(Reservoir { warmup: 9, ..base.clone() }, "warmup", "series 3 in order of appearance has 9 rows");
    refused(Reservoir { units: 2, connectivity: 1e-9, ..base.clone() }, "connectivity", "raise connectivity or units");
    let deciding = Reservoir { decision: Decision::Series, ..base.clone() };
    let mut columns = Columns::new(3);
    columns.push(vec![1.0, 2.0, 3.5]);
    let names = || vec!["x".to_owned()];
    let plain = Problem::new(columns, names(), array![[1.0, 2.0, 3.0]], names(), Task::Regression).unwrap();
    let error = new_design(&Reservoir { balanced: true, ..base.clone() }, &plain).unwrap_err();
    assert_eq!(error.field(), Some("balanced"), "{error}");
    assert!(new_design(&deciding, &plain).unwrap_err().to_string().contains("needs the series of each row"));
    let unlike = plain.clone().with_labels(with_series(vec![4, 4, 4])).unwrap();
    let error = new_design(&deciding, &unlike).unwrap_err().to_string();
    assert!(error.contains("series 1 in order of appearance have unlike targets"), "{error}");
    let mut columns = Columns::new(3);
    columns.push(vec![1.0, 2.0, 3.5]);
    let clash =
        Problem::new(columns, vec!["node2".into()], array![[1.0, 2.0, 3.0]], names(), Task::Regression).unwrap();
    let error = new_design(&Reservoir { direct: true, ..base }, &clash).unwrap_err();
    assert_eq!(error.field(), Some("direct"));
    let mut columns = Columns::new(2);
    columns.push(vec![f64::MAX, -f64::MAX]);
    columns.push(vec![f64::MAX, f64::MAX]);
    columns.push(vec![-f64::MAX, f64::MAX]);
    let names3 = vec!["a".into(), "b".into(), "c".into()];
    let huge = Problem::new(columns, names3, array![[1.0, 2.0]], names(), Task::Regression).unwrap();
    let error = new_design(&Reservoir { input_scaling: 1e3, ..small() }, &huge).unwrap_err();
    assert!(matches!(error, Error::Numerical(_)), "{error}");
}

#[test]
fn files_whose_parts_do_not_fit_are_refused() {
    let problem = problem(&[15, 20, 9]);
    let model = small().fit(&problem, &[3, 8], None).unwrap();
    let good = serde_json::to_value(&model).unwrap();
    assert!(serde_json::from_value::<Model>(good.clone()).is_ok());
    let nodes = good["network"]["bias"].as_array().unwrap().len();
    let mut billions = vec![0u64; nodes + 1];
    billions[nodes] = 1_000_000_000;
    let cases: [(&str, serde_json::Value); 13] = [
        ("/inputs", serde_json::json!([0])),
        ("/inputs", serde_json::json!([0, 1, 2])),
        ("/leak_rate", 0.0.into()),
        ("/leak_rate", 2.0.into()),
        ("/decision", "rows".into()),
        ("/network/starts", serde_json::json!(billions)),
        ("/network/starts", serde_json::json!([0])),
        ("/network/sources/0", 1_000_000.into()),
        ("/network/weights", serde_json::json!([])),
        ("/network/bias", serde_json::json!([0.5])),
        ("/chosen/0", 1_000_000_000u64.into()),
        ("/chosen", serde_json::json!([0])),
        ("/coefficients/intercept", serde_json::json!([])),
    ];
    for (pointer, value) in cases {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value.clone();
        assert_ne!(bad, good);
        assert!(serde_json::from_value::<Model>(bad).is_err(), "{pointer} {value}");
    }
    let text = serde_json::to_string(&model).unwrap();
    for (from, to) in
        [("\"warmup\"", "\"warm\""), ("\"bias\":[", "\"bias\":[1e999,"), ("\"bias\":[", "\"bias\":[null,")]
    {
        assert!(serde_json::from_str::<Model>(&text.replacen(from, to, 1)).is_err(), "{to}");
    }
}

/// One-step-ahead predictions of NARMA-10, against its definition: the second half from a readout of the first.
#[test]
fn a_reservoir_knows_more_of_narma_10_than_a_linear_window() {
    let (rows, half) = (1200, 700);
    let mut random = SplitMix64::new(8);
    let u: Vec<f64> = (0..rows).map(|_| 0.5 * random.uniform()).collect();
    let mut y = vec![0.0; rows];
    for t in 10..rows {
        let past: f64 = y[t - 10..t].iter().sum();
        y[t] = 0.3 * y[t - 1] + 0.05 * y[t - 1] * past + 1.5 * u[t - 10] * u[t - 1] + 0.1;
    }
    let make = |columns: Columns, from: usize, to: usize| {
        let names = (0..columns.len()).map(|k| format!("x{k}")).collect();
        let targets = Array2::from_shape_fn((1, to - from), |(_, row)| y[from + row]);
        Problem::new(columns, names, targets, vec!["y".into()], Task::Regression).unwrap()
    };
    let window = |from: usize, to: usize, lags: std::ops::Range<usize>| {
        let mut columns = Columns::new(to - from);
        lags.for_each(|lag| columns.push(u[from - lag..to - lag].to_vec()));
        make(columns, from, to)
    };
    let nrmse = |predictions: &[f64], truth: &[f64]| {
        let mean = truth.iter().sum::<f64>() / truth.len() as f64;
        let error: f64 = truth.iter().zip(predictions).map(|(y, p)| (y - p).powi(2)).sum();
        (error / truth.iter().map(|y| (y - mean).powi(2)).sum::<f64>()).sqrt()
    };
    let readout =
        |train: &Problem| vaglio_core::Design::identity(train, vaglio_core::Readout::new(vec![1e-8], true).unwrap());
    let linear = readout(&window(20, half, 1..16)).train(&(0..15).collect::<Vec<_>>(), None).unwrap();
    let window_error = nrmse(&predict(&linear, &window(half, rows, 1..16)), &y[half..]);
    let settings = Reservoir {
        spectral_radius: 0.9,
        input_scaling: 0.5,
        bias_scaling: 0.3,
        warmup: 50,
        lambda: vaglio_core::Lambda::from(1e-8),
        ..Reservoir::default()
    };
    // The reservoir sees one input per step, and runs over all rows before the second half is evaluated.
    let model = settings.fit(&window(20, half, 1..2), &(0..200).collect::<Vec<_>>(), None).unwrap();
    let walked = predict(&model, &window(20, rows, 1..2));
    let reservoir_error = nrmse(&walked[half - 20..], &y[half..]);
    assert!(reservoir_error < 0.7 * window_error, "{reservoir_error} against {window_error}");
}
