//! Logarithms of columns.

use crate::{fit_map, single_column};
use vaglio_maps::maps::Log1p;

#[test]
fn values_become_logarithms_and_missing_ones_stay() {
    let training = single_column(&[0.0, 1.0, f64::NAN, 1e-20, -0.5]);
    let fitted = fit_map(&Log1p::default(), &training, None).unwrap();
    let out = fitted.transform(training).unwrap();
    let values = crate::values(&out, "x");
    assert_eq!(values[..2], [0.0, 2f64.ln()]);
    assert!(values[2].is_nan());
    assert_eq!(values[3..], [1e-20, -std::f64::consts::LN_2]);
    assert_eq!(fitted.get("x").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
}

#[test]
fn what_has_no_logarithm_is_refused_with_its_row() {
    for (value, words) in [(-3.0, "this is -3"), (-1.0, "this is -1")] {
        let fitted = fit_map(&Log1p::default(), &single_column(&[1.0]), None).unwrap();
        let error = fitted.transform(single_column(&[1.0, value])).unwrap_err().to_string();
        assert!(error.contains("row 2, column `x`: log1p takes numbers above -1"), "{error}");
        assert!(error.contains(words), "{error}");
    }
}
