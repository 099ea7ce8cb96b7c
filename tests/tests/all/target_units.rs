//! Maps of targets: figures and predictions beside plain loops.

use linfa::prelude::*;
use ndarray::{Array1, Array2};
use serde_json::{Value, json};
use vaglio::core::{Absolute, TargetMap};
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::maps::Standardize;
use vaglio::search::All;
use vaglio::target_maps::{Log1pTarget, LogTarget, TargetUnits};
use vaglio::{FittedPipeline, Pipeline};
use vaglio_testkit::{LawViolation, SplitMix64, check_target_map_on_standard_data, registry};

const LAMBDA: f64 = 0.5;

/// Columns, and a positive target that is the exponential of their sum.
fn data(rows: usize, seed: u64) -> (Array2<f64>, Array1<f64>) {
    let mut random = SplitMix64::new(seed);
    let x = Array2::from_shape_fn((rows, 3), |_| random.normal());
    let y = Array1::from_shape_fn(rows, |row| (1.0 + x.row(row).sum() + 0.7 * random.normal()).exp());
    (x, y)
}

/// Ridge regression of some rows with an intercept that is not penalized, by normal equations: weights, then intercept.
fn ridge(x: &Array2<f64>, z: &[f64], rows: &[usize]) -> Vec<f64> {
    let columns = x.ncols();
    let design = |row: usize, k: usize| if k < columns { x[[row, k]] } else { 1.0 };
    let mut a = vec![vec![0.0; columns + 2]; columns + 1];
    for (&row, z) in rows.iter().zip(z) {
        for (i, equation) in a.iter_mut().enumerate() {
            (0..=columns).for_each(|j| equation[j] += design(row, i) * design(row, j));
            equation[columns + 1] += design(row, i) * z;
        }
    }
    (0..columns).for_each(|i| a[i][i] += LAMBDA);
    crate::common::solved(a).remove(0)
}

fn linear(weights: &[f64], x: &Array2<f64>, row: usize) -> f64 {
    (0..x.ncols()).map(|k| weights[k] * x[[row, k]]).sum::<f64>() + weights[x.ncols()]
}

/// Predictions of rows by a plain loop over the training rows' residuals.
fn by_hand(
    map: &dyn TargetMap,
    is_smeared: bool,
    (x, y): (&Array2<f64>, &Array1<f64>),
    training: &[usize],
    rows: &[usize],
) -> Vec<f64> {
    let targets: Vec<f64> = training.iter().map(|&row| y[row]).collect();
    let fitted = map.fit(&targets, None).unwrap();
    let z: Vec<f64> = targets.iter().map(|&y| fitted.map(y)).collect();
    let weights = ridge(x, &z, training);
    let residuals: Vec<f64> = training.iter().zip(&z).map(|(&row, z)| z - linear(&weights, x, row)).collect();
    let predicted = |&row: &usize| {
        let p = linear(&weights, x, row);
        match is_smeared {
            true => residuals.iter().map(|r| fitted.inverse(p + r)).sum::<f64>() / residuals.len() as f64,
            false => fitted.inverse(p),
        }
    };
    rows.iter().map(predicted).collect()
}

fn learner() -> Rls {
    Rls { lambda: serde_json::from_value(json!(LAMBDA)).unwrap(), ..Rls::default() }
}

fn maps() -> Vec<Value> {
    vec![
        json!({"kind": "log"}),
        json!({"kind": "log1p"}),
        json!({"kind": "log1p", "smear": false}),
        json!({"kind": "power"}),
        json!({"kind": "power", "method": "box_cox", "lambda": -0.2}),
        json!({"kind": "rank"}),
        json!({"kind": "rank", "scores": "uniform", "smear": false}),
    ]
}

/// A pipeline with the map of targets that settings say.
fn pipeline(map: &Value) -> Pipeline {
    let text = json!({
        "version": 1, "seed": 3, "target_map": map, "learner": {"kind": "rls", "lambda": LAMBDA},
        "criterion": "loo", "search": "all"
    });
    serde_json::from_value(text).unwrap()
}

#[test]
fn every_map_of_targets_keeps_the_laws() -> Result<(), LawViolation> {
    for (kind, map) in registry::every::<dyn TargetMap>(&[])? {
        check_target_map_on_standard_data(&*map, 1e-9).map_err(|broken| broken.within(kind))?;
    }
    for map in maps() {
        let read: Box<dyn TargetMap> = serde_json::from_value(map.clone()).unwrap();
        check_target_map_on_standard_data(&*read, 1e-9).map_err(|broken| broken.within(&map.to_string()))?;
    }
    Ok(())
}

#[test]
fn nested_figures_and_predictions_are_those_of_plain_loops() {
    let (x, y) = data(60, 5);
    let dataset = Dataset::new(x.clone(), y.clone());
    for map in maps() {
        let read: Box<dyn TargetMap> = serde_json::from_value(map.clone()).unwrap();
        let is_smeared = map["smear"] != false;
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-10 * a.abs().max(1.0), "{map}: {a} {b}");
        let nested = pipeline(&map).nested(4, &dataset).unwrap();
        let mut sum = 0.0;
        for fold in &nested.folds {
            let training: Vec<usize> = (0..60).filter(|row| !fold.rows.contains(row)).collect();
            let expected = by_hand(&*read, is_smeared, (&x, &y), &training, &fold.rows);
            for (k, &row) in fold.rows.iter().enumerate() {
                near(expected[k], fold.predictions[[k, 0]]);
                sum += (y[row] - expected[k]).powi(2);
            }
        }
        near(sum / 60.0, nested.loss);
        let fitted = pipeline(&map).fit(&dataset).unwrap();
        let all: Vec<usize> = (0..60).collect();
        let expected = by_hand(&*read, is_smeared, (&x, &y), &all, &all);
        let found: Array1<f64> = fitted.predict(&dataset);
        expected.iter().zip(&found).for_each(|(a, b)| near(*a, *b));
        // The cross-validated loss is in the units of the data too.
        let cell = fitted.selection().unwrap().chosen.cell.unwrap();
        assert!(cell.loss > 0.3 * nested.loss && cell.loss < 3.0 * nested.loss, "{map}: {cell:?} {}", nested.loss);
        assert!(fitted.original_scale().unwrap_err().to_string().contains("maps the target"));
    }
}

#[test]
fn a_target_that_is_also_standardized_is_predicted_alike() {
    let (x, y) = data(50, 8);
    let dataset = Dataset::new(x, y);
    let plain = Pipeline::new(Loo::default(), All::default(), learner()).target_map(Log1pTarget::default());
    let standardized = plain.clone().preprocess(Standardize { target: true, ..Standardize::default() });
    let only_columns = plain.preprocess(Standardize::default());
    let [a, b]: [Array1<f64>; 2] = [standardized, only_columns].map(|p| p.fit(&dataset).unwrap().predict(&dataset));
    a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-10 * b.abs(), "{a} {b}"));
}

#[test]
fn a_model_is_saved_with_what_was_done_to_its_target() {
    let (x, y) = data(40, 9);
    let dataset = Dataset::new(x, y);
    for map in maps() {
        let fitted = pipeline(&map).fit(&dataset).unwrap();
        let folder = std::env::temp_dir().join(format!("vaglio-target-map-{}", std::process::id()));
        fitted.save(&folder).unwrap();
        let loaded = FittedPipeline::<f64, ndarray::Ix1>::load(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        let [before, after]: [Array1<f64>; 2] = [fitted.predict(&dataset), loaded.predict(&dataset)];
        assert_eq!(before, after, "{map}");
    }
    let scale = json!({"shift": 1.5, "scale": 2.0});
    let read: TargetUnits = serde_json::from_value(scale.clone()).unwrap();
    assert_eq!((read.value(3.0), serde_json::to_value(&read).unwrap()), (7.5, scale));
    assert_eq!(
        serde_json::to_value(TargetUnits::from_map(LogTarget::default().fit(&[], None).unwrap(), true)).unwrap()["map"],
        json!({"kind": "log"})
    );
}

#[test]
fn means_are_smeared_for_the_squared_error_alone() {
    let (x, y) = data(200, 11);
    let dataset = Dataset::new(x, y.clone());
    let of = |criterion: Loo, map: LogTarget| {
        let pipeline = Pipeline::new(criterion, All::default(), learner()).target_map(map);
        let found: Array1<f64> = pipeline.fit(&dataset).unwrap().predict(&dataset);
        found.sum()
    };
    let absolute = || Loo { loss: Absolute.into(), ..Loo::default() };
    let (mean, median) =
        (of(Loo::default(), LogTarget::default()), of(Loo::default(), LogTarget { smear: Some(false) }));
    assert!(median < 0.9 * mean && (mean / y.sum() - 1.0).abs() < 0.1, "{median} {mean} {}", y.sum());
    assert_eq!(of(absolute(), LogTarget::default()), median);
    assert_eq!(of(absolute(), LogTarget { smear: Some(true) }), mean);
}
