//! Values between bounds.

use crate::{fit_weighted, single_column, values};
use vaglio_core::Result;

fn clipped(json: &str, training: &[f64], weights: Option<&[f64]>, new: &[f64]) -> Result<Vec<f64>> {
    let out = fit_weighted(json, &single_column(training), weights)?.transform(single_column(new))?;
    Ok(values(&out, "x"))
}

#[test]
fn values_stay_between_the_bounds_and_missing_ones_stay() {
    let new = [-5.0, 0.5, f64::NAN, 9.0];
    let out = clipped(r#"{"kind": "clip", "lower": 0, "upper": 1}"#, &[0.0], None, &new).unwrap();
    assert_eq!((out[0], out[1], out[3]), (0.0, 0.5, 1.0));
    assert!(out[2].is_nan());
    let out = clipped(r#"{"kind": "clip", "upper": 1}"#, &[0.0], None, &new).unwrap();
    assert_eq!((out[0], out[3]), (-5.0, 1.0));
}

#[test]
fn quantiles_are_those_of_training_rows_by_weight() {
    let json = r#"{"kind": "clip", "quantiles": [0.25, 0.75]}"#;
    let new = [-100.0, 100.0];
    let by_weight = clipped(json, &[4.0, 1.0, 2.0, 7.0, f64::NAN], Some(&[2.0, 1.0, 3.0, 0.0, 1.0]), &new).unwrap();
    let by_rows = clipped(json, &[4.0, 4.0, 1.0, 2.0, 2.0, 2.0], None, &new).unwrap();
    assert_eq!((by_weight.clone(), by_weight), (by_rows, vec![2.0, 4.0]));
    let values = [3.0, f64::NAN, 1.0, 2.0, 100.0, 2.0];
    let weights = [2.0, 5.0, 1.0, 3.0, 0.0, 1.0];
    for share in [0.0, 1.0 / 7.0, 0.25, 0.5, 5.0 / 7.0, 0.9, 1.0] {
        let json = format!("{{\"kind\": \"clip\", \"quantiles\": [{share}, {share}]}}");
        let by_weight = clipped(&json, &values, Some(&weights), &new).unwrap();
        let by_rows = clipped(&json, &[3.0, 3.0, 1.0, 2.0, 2.0, 2.0, 2.0], None, &new).unwrap();
        assert_eq!(by_weight, by_rows, "{share}");
        let end = [(0.0, 1.0), (1.0, 3.0)].into_iter().find(|(end, _)| *end == share);
        assert!(end.is_none_or(|(_, value)| by_rows == [value; 2]), "{share}: {by_rows:?}");
    }
    let hundred: Vec<f64> = (1..=200).map(f64::from).collect();
    assert_eq!(clipped(r#"{"kind": "clip"}"#, &hundred, None, &[0.0, 300.0]).unwrap(), [2.5, 198.5]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (json, words) in [
        (r#"{"kind": "clip", "lower": 2, "upper": 1}"#, "`lower`: 2 is above `upper`, 1"),
        (r#"{"kind": "clip", "lower": 2, "quantiles": [0, 1]}"#, "`lower`: bounds are given or are `quantiles`"),
        (r#"{"kind": "clip", "quantiles": [0.9, 0.1]}"#, "`quantiles`: 0.9 is above 0.1"),
        (r#"{"kind": "clip", "quantiles": [-1, 0.1]}"#, "`quantiles[0]`: -1 is not between 0 and 1"),
    ] {
        let error = clipped(json, &[f64::NAN], None, &[]).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
}
