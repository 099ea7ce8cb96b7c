//! Powers of columns and targets.

use crate::{fit_weighted, single_column, values};
use vaglio_core::{FittedTargetMap, Result, TargetMap};
use vaglio_maps::target_maps::PowerTarget;

fn powers(json: &str, training: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let out = fit_weighted(json, &single_column(training), weights)?.transform(single_column(training))?;
    Ok(values(&out, "x"))
}

fn target_map(lambda: f64, targets: &[f64]) -> Box<dyn FittedTargetMap> {
    PowerTarget::default().lambda(lambda).fit(targets, None).unwrap()
}

#[test]
fn given_exponents_are_the_formulas() {
    let x = [-2.0, -0.5, 0.0, 0.5, 3.0];
    for lambda in [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0] {
        let out = powers(&format!("{{\"kind\": \"power\", \"lambda\": {lambda}}}"), &x, None).unwrap();
        for (x, found) in x.iter().zip(out) {
            let expected: f64 = match (*x >= 0.0, lambda) {
                (true, 0.0) => (x + 1.0).ln(),
                (true, l) => ((x + 1.0).powf(l) - 1.0) / l,
                (false, 2.0) => -(1.0 - x).ln(),
                (false, l) => -((1.0 - x).powf(2.0 - l) - 1.0) / (2.0 - l),
            };
            assert!((found - expected).abs() < 1e-14, "{x} {lambda}: {found} {expected}");
            let of_target = target_map(lambda, &[]).map(*x);
            assert_eq!(found.to_bits(), of_target.to_bits());
        }
    }
    let out = powers(r#"{"kind": "power", "method": "box_cox", "lambda": 0.5}"#, &[4.0, f64::NAN], None).unwrap();
    assert!((out[0] - 2.0).abs() < 1e-15 && out[1].is_nan());
}

/// Values with symmetric logarithms have the Box–Cox exponent 0.
#[test]
fn the_exponent_is_the_likeliest() {
    let logs: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).map(|u| (u / (1.0 - u)).ln()).collect();
    let x: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let likeliest = |map: PowerTarget, values: &[f64]| {
        serde_json::to_value(map.fit(values, None).unwrap()).unwrap()["lambda"].as_f64().unwrap()
    };
    assert!(likeliest(PowerTarget::box_cox(), &x).abs() < 1e-3);
    let shifted: Vec<f64> = x.iter().map(|x| x - 1.0).filter(|x| *x >= 0.0).collect();
    let found = likeliest(PowerTarget::default(), &shifted);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Half the logarithm of the variance, minus λ − 1 times the mean logarithm of the slope.
    let cost = |lambda: f64| {
        let map = target_map(lambda, &[]);
        let mapped: Vec<f64> = shifted.iter().map(|x| map.map(*x)).collect();
        let squares: Vec<f64> = mapped.iter().map(|y| (y - mean(&mapped)).powi(2)).collect();
        let slopes: Vec<f64> = shifted.iter().map(|x| x.ln_1p()).collect();
        0.5 * mean(&squares).ln() - (lambda - 1.0) * mean(&slopes)
    };
    for other in [-5.0, -1.0, found - 0.01, found + 0.01, 2.0, 5.0] {
        assert!(cost(found) < cost(other), "{found} {other}");
    }
}

#[test]
fn a_row_of_weight_two_is_that_row_twice() {
    let json = r#"{"kind": "power", "columns": ["x"]}"#;
    let weights = [2.0, 1.0, 3.0, 0.0, 1.0];
    let by_weight = powers(json, &[0.1, 2.0, 5.0, 100.0, -3.0], Some(&weights)).unwrap();
    let by_rows = powers(json, &[0.1, 0.1, 2.0, 5.0, 5.0, 5.0, -3.0], None).unwrap();
    assert_eq!([by_weight[0], by_weight[1], by_weight[2]], [by_rows[0], by_rows[2], by_rows[3]]);
}

#[test]
fn what_has_no_power_is_refused_with_its_row() {
    for lambda in ["\"auto\"", "0.5", "0"] {
        let json = format!("{{\"kind\": \"power\", \"method\": \"box_cox\", \"lambda\": {lambda}}}");
        let error = powers(&json, &[1.0, 2.0, 0.0], None).unwrap_err().to_string();
        assert!(error.contains("row 3, column `x`: box_cox takes positive numbers, and this is 0"), "{error}");
    }
    let error = powers(r#"{"kind": "power", "lambda": 5}"#, &[1e100], None).unwrap_err();
    assert!(error.to_string().contains("row 1, column `x`: the result of the map overflows"), "{error}");
    assert_eq!(error.class(), vaglio_core::ErrorClass::Numerical);
    let error = powers(r#"{"kind": "power", "lambda": 9}"#, &[1.0], None).unwrap_err();
    assert!(error.to_string().contains("`lambda`: 9 is not between -5 and 5"), "{error}");
    assert_eq!(powers(r#"{"kind": "power"}"#, &[3.0, 3.0], None).unwrap(), [3.0, 3.0]);
}
