//! Selector and Pipeline as a linfa user calls them.

use linfa::prelude::*;
use linfa::traits::Transformer;
use linfa::{Dataset, DatasetBase};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use vaglio::core::{Error, Lambda, ZeroOne};
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::maps::{Standardize, Window};
use vaglio::search::Greedy;
use vaglio::{FitError, Pipeline, Selector};

/// y depends on columns 1 and 3 of 6.
pub fn records(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 6), |(j, k)| (((j * 7 + k * 13) * (k + 3)) % 101) as f64 / 50.0 - 1.0);
    let y = Array1::from_shape_fn(rows, |j| 2.0 * x[[j, 1]] - x[[j, 3]] + 0.5 + 0.01 * ((j * 31 % 17) as f64 - 8.0));
    (x, y)
}

fn selector(features: usize) -> Selector {
    Selector::params(Loo::default(), Greedy::new(features), Rls { lambda: Lambda::from(1e-3), intercept: true })
}

#[test]
fn a_selector_fits_transforms_and_predicts_in_both_precisions() {
    let (x, y) = records(80);
    let fitted = selector(2).fit(&Dataset::new(x.clone(), y.clone())).unwrap();
    assert_eq!(fitted.indices(), [1, 3]);
    let predicted: Array1<f64> = fitted.predict(&x);
    assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.1));
    let kept =
        fitted.transform(Dataset::new(x.clone(), y.clone()).with_feature_names(vec!["a", "b", "c", "d", "e", "f"]));
    assert_eq!(
        (kept.nfeatures(), kept.feature_names().to_vec()),
        (2, vec!["feature-1".to_owned(), "feature-3".to_owned()])
    );
    assert_eq!(kept.records().column(1), x.column(3));

    let (x32, y32) = (x.mapv(|v| v as f32), y.mapv(|v| v as f32));
    let fitted = selector(2).fit(&Dataset::new(x32.clone(), y32.clone())).unwrap();
    assert_eq!(fitted.indices(), [1, 3]);
    let predicted: Array1<f32> = fitted.predict(&x32);
    assert!(predicted.iter().zip(&y32).all(|(p, y)| (p - y).abs() < 0.1));
}

#[test]
fn names_and_weights_of_a_dataset_are_used() {
    let (x, y) = records(40);
    let weights = Array1::from_iter((0..40).map(|j| if j < 30 { 1.0f32 } else { 0.0 }));
    let whole = Dataset::new(x.clone(), y.clone()).with_weights(weights);
    let part = Dataset::new(x.slice(ndarray::s![..30, ..]).to_owned(), y.slice(ndarray::s![..30]).to_owned());
    let (a, b) = (selector(3).fit(&whole).unwrap(), selector(3).fit(&part).unwrap());
    assert_eq!(a.path(), b.path());
    let named = Dataset::new(x, y).with_feature_names(vec!["a", "b", "c", "d", "e", "f"]);
    let fitted = selector(2).fit(&named).unwrap();
    assert_eq!(fitted.transform(named).feature_names(), ["b", "d"]);
}

#[test]
fn several_targets_and_classes() {
    let (x, y) = records(60);
    let both = ndarray::stack![Axis(1), y, y.mapv(|v| -3.0 * v)];
    let fitted = selector(2).fit(&Dataset::new(x.clone(), both.clone())).unwrap();
    let predicted: Array2<f64> = fitted.predict(&x);
    assert_eq!(predicted.dim(), both.dim());
    assert!(predicted.iter().zip(&both).all(|(p, y)| (p - y).abs() < 0.3));

    let criterion = || Loo { loss: ZeroOne.into(), ..Loo::default() };
    let sign = y.mapv(|v| v > 0.5);
    let fitted = Selector::params(criterion(), Greedy::new(2), Rls::default())
        .fit(&Dataset::new(x.clone(), sign.clone()))
        .unwrap();
    let predicted: Array1<bool> = fitted.predict(&x);
    assert!(predicted.iter().zip(&sign).filter(|(a, b)| a == b).count() > 55);

    let classes = y.mapv(|v| {
        if v > 1.2 {
            7usize
        } else if v > -0.2 {
            4
        } else {
            2
        }
    });
    let fitted = Selector::params(criterion(), Greedy::new(3), Rls::default())
        .fit(&Dataset::new(x.clone(), classes.clone()))
        .unwrap();
    let predicted: Array1<usize> = fitted.predict(&x);
    assert!(predicted.iter().all(|c| [2, 4, 7].contains(c)));
    assert!(predicted.iter().zip(&classes).filter(|(a, b)| a == b).count() > 40);
}

#[test]
fn it_runs_inside_linfas_own_cross_validation() {
    let (x, y) = records(60);
    let mut dataset = Dataset::new(x, y);
    let candidates = [selector(1), selector(2)];
    let mean_squared = |p: &Array1<f64>, y: &ArrayView1<f64>| -> Result<f64, linfa::Error> {
        Ok((p - y).mapv(|e| e * e).mean().unwrap_or(f64::NAN))
    };
    let scores: Array1<f64> =
        dataset.cross_validate_single::<_, FitError, _, _, _>(5, &candidates, mean_squared).unwrap();
    assert!(scores[1] < scores[0] && scores[1] < 0.01, "{scores}");
    let pipelines = [Pipeline::new(Loo::default(), Greedy::new(2), Rls::default()).preprocess(Standardize::default())];
    let scores: Array1<f64> =
        dataset.cross_validate_single::<_, FitError, _, _, _>(5, &pipelines, mean_squared).unwrap();
    assert!(scores[0] < 0.05, "{scores}");
}

/// Takes the logarithm of 2 + x, as any linfa transformer could.
struct Logarithm;

impl<T> Transformer<DatasetBase<Array2<f64>, T>, DatasetBase<Array2<f64>, T>> for Logarithm {
    fn transform(&self, dataset: DatasetBase<Array2<f64>, T>) -> DatasetBase<Array2<f64>, T> {
        let DatasetBase { records, targets, .. } = dataset;
        DatasetBase::new(records.mapv(|v| (2.0 + v).ln()), targets)
    }
}

#[test]
fn it_fits_after_a_linfa_transformer_and_pipelines_scale_targets_back() {
    let (x, y) = records(60);
    let dataset = Logarithm.transform(Dataset::new(x.clone(), y.clone()));
    assert_eq!(selector(2).fit(&dataset).unwrap().indices(), [1, 3]);

    let pipeline = Pipeline::new(Loo::default(), Greedy::new(2), Rls { lambda: Lambda::from(1e-3), intercept: true })
        .preprocess(Standardize { target: true, ..Standardize::default() });
    let fitted = pipeline.fit(&Dataset::new(x.clone(), y.clone())).unwrap();
    assert_eq!(fitted.selected(), ["feature-1", "feature-3"]);
    let predicted: Array1<f64> = fitted.predict(&x);
    assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.1));
    let kept: Array2<f64> = fitted.transform(x.clone());
    assert_eq!(kept.ncols(), 2);
    assert!(kept.column(0).sum().abs() < 1e-9, "standardized");
}

#[test]
fn settings_are_checked_before_the_data_and_values_with_them() {
    let bad = Selector::params(Loo::default(), Greedy::default(), Rls { lambda: Lambda::from(0.0), intercept: true });
    assert!(matches!(bad.clone().check(), Err(Error::Setting { field, .. }) if field == "learner.lambda"));
    let (mut x, y) = records(20);
    assert!(matches!(bad.fit(&Dataset::new(x.clone(), y.clone())), Err(FitError::Vaglio(Error::Setting { .. }))));
    // More features than there are means all.
    selector(7).fit(&Dataset::new(x.clone(), y.clone())).unwrap();
    x[[4, 2]] = f64::NAN;
    let error = selector(2).fit(&Dataset::new(x, y)).unwrap_err();
    assert!(
        matches!(error, FitError::Vaglio(Error::NonFinite { row: 5, ref column, .. }) if column == "feature-2"),
        "{error}"
    );
}

#[test]
fn a_map_that_drops_rows_is_refused() {
    let (x, y) = records(20);
    let window = |lags: Vec<usize>| {
        let map = Window { lags: lags.into(), columns: None, horizons: Vec::new() };
        Pipeline::new(Loo::default(), Greedy::new(1), Rls::default())
            .preprocess(map)
            .fit(&Dataset::new(x.clone(), y.clone()))
    };
    let error = window(vec![0, 1]).unwrap_err();
    assert!(matches!(error, FitError::Vaglio(Error::Setting { .. })), "{error}");
    assert!(
        error.to_string().contains("rows are dropped, which predictions cannot follow; use `vaglio::files::run`"),
        "{error}"
    );
    let fitted = window(vec![0]).unwrap();
    let predicted: Array1<f64> = fitted.predict(&x);
    assert_eq!(predicted.len(), 20);
}
