//! Coefficients on the scale of the data.

use linfa::Dataset;
use linfa::prelude::*;
use ndarray::Axis;
use vaglio::prelude::*;
use vaglio_testkit::SplitMix64;

/// Columns of other means and units; y depends on `b` and `d`.
fn records(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let mut random = SplitMix64::new(5);
    let x = Array2::from_shape_fn((rows, 4), |(_, k)| 10f64.powi(k as i32) * (3.0 + random.normal()));
    let y = Array1::from_shape_fn(rows, |j| x[[j, 1]] - 0.02 * x[[j, 3]] + 0.1 * random.normal());
    (x, y)
}

fn named<T: AsTargets>(x: &Array2<f64>, y: T) -> DatasetBase<Array2<f64>, T> {
    DatasetBase::new(x.clone(), y).with_feature_names(vec!["a", "b", "c", "d"])
}

/// Asserts that coefficients and intercept give the decision values.
fn assert_formula<E: TargetValue, I: linfa::dataset::TargetDim>(fitted: &FittedPipeline<E, I>, x: &Array2<f64>) {
    let formula = fitted.original_scale().unwrap();
    let place = |name: &String| ["a", "b", "c", "d"].iter().position(|other| other == name).unwrap();
    let places: Vec<usize> = formula.columns.iter().map(place).collect();
    let predicted = x.select(Axis(1), &places).dot(&formula.coefficients) + &Array1::from(formula.intercept);
    let expected = fitted.decision_values(x).unwrap();
    let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let near = predicted.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-11 * largest);
    assert!(near && predicted.dim() == expected.dim(), "{predicted}\n{expected}");
}

#[test]
fn coefficients_on_the_scale_of_the_data_predict_what_the_pipeline_predicts() {
    let (x, y) = records(60);
    let plain = Pipeline::new(Loo::default(), Greedy::new(2), Rls::new(1e-3));
    let scaled = plain.clone().preprocess(Standardize::default());
    let both = plain.clone().preprocess(Standardize::default().target(true));
    let twice = both.clone().preprocess(Standardize::default().target(true));
    for pipeline in [plain, scaled.clone(), both.clone(), twice] {
        let fitted = pipeline.fit(&named(&x, y.clone())).unwrap();
        assert_formula(&fitted, &x);
        assert_eq!(fitted.original_scale().unwrap().columns, fitted.selected());
    }
    let fitted = both.fit(&named(&x, y.clone())).unwrap();
    let formula = fitted.original_scale().unwrap();
    assert!((formula.coefficients[[1, 0]] - 1.0).abs() < 0.05, "{formula:?}");
    let [weights, intercept] = [formula.coefficients.column(0).to_vec(), formula.intercept.clone()];
    let [first, second] = [weights[0].abs(), weights[1]].map(vaglio::core::short);
    assert_eq!(formula.to_string(), format!("{} - {first}·d + {second}·b", vaglio::core::short(intercept[0])));
    let pair = ndarray::stack![Axis(1), y, y.mapv(|y| 7.0 - 3.0 * y)];
    assert_formula(&both.fit(&named(&x, pair)).unwrap(), &x);
    let classes = y.mapv(|y| ["low", "middle", "high"][usize::from(y > -40.0) + usize::from(y > -10.0)]);
    assert_formula(&scaled.fit(&named(&x, classes)).unwrap(), &x);
    // A bias that a map adds is in the intercept; a map that leaves the selected columns alone is nothing to them.
    let biased = Pipeline::new(Loo::default(), Greedy::new(3).forced(["constant"]), Rls::new(1.0).intercept(false));
    let biased = biased.preprocess(Log1p::default().columns(["a"])).preprocess(Constant::default());
    let fitted = biased.fit(&named(&x, y)).unwrap();
    assert!(fitted.selected().contains(&"constant") && !fitted.selected().contains(&"a"), "{:?}", fitted.selected());
    assert_formula(&fitted, &x);
}

#[test]
fn maps_that_do_more_than_shift_and_divide_have_no_coefficients_on_the_scale_of_the_data() {
    let (x, y) = records(60);
    let x = x.mapv(f64::abs);
    let refused = |pipeline: Pipeline, expected: &str| {
        let error = pipeline.fit(&named(&x, y.clone())).unwrap().original_scale().unwrap_err().to_string();
        let end = ", so there are no coefficients on the scale of the data";
        assert_eq!(error.strip_suffix(end), Some(expected));
    };
    let of = |map| Pipeline::new(Loo::default(), Greedy::new(1), Rls::new(1e-3)).preprocess(map);
    refused(
        of(Standardize::default()).preprocess(Power::default().lambda(0.5)),
        "`preprocess[1]`: `power` does more for `d` than shift and divide",
    );
    let product = Pipeline::new(Loo::default(), Greedy::new(1).forced(["b*d"]), Rls::new(1e-3));
    let product = product.preprocess(Interactions::new(["b", "d"])).preprocess(Standardize::default());
    refused(product, "`preprocess[0]`: `products` does more for `b*d` than shift and divide");
}

#[test]
fn an_empty_selection_is_its_intercept() {
    // Columns that have nothing to do with the target.
    let x = Array2::from_shape_fn((16, 2), |(row, column)| if row >> column & 1 == 1 { 4.0 } else { 2.0 });
    let y = Array1::from_shape_fn(16, |row| 5.0 + if (row ^ row >> 1) & 1 == 1 { 1.0 } else { -1.0 });
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(2).choose(Choose::Best), Rls::default());
    let fitted = pipeline.preprocess(Standardize::default()).fit(&Dataset::new(x.clone(), y)).unwrap();
    let formula = fitted.original_scale().unwrap();
    assert!(fitted.selected().is_empty() && formula.columns.is_empty(), "{:?}", fitted.selected());
    assert_eq!(formula.coefficients.dim(), (0, 1));
    assert_eq!(formula.intercept[0], fitted.decision_values(&x).unwrap()[[0, 0]]);
    assert!((formula.intercept[0] - 5.0).abs() < 1e-12);
}
