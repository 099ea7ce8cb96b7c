//! Use of a fitted pipeline in a linfa program: saving, inspection, rows in another order.

use crate::linfa_api::records;
use linfa::Dataset;
use linfa::prelude::*;
use linfa::traits::Transformer;
use ndarray::{Array1, Array2, Axis, s};
use std::error::Error as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use vaglio::core::Error;
use vaglio::prelude::*;
use vaglio::{Rows, problem};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn named(rows: usize) -> Dataset<f64, f64, Ix1> {
    let (x, y) = records(rows);
    Dataset::new(x, y).with_feature_names(NAMES.to_vec()).with_target_names(vec!["yield"])
}

fn pipeline(features: usize) -> Pipeline {
    let scaled = Standardize::default().target(true);
    Pipeline::new(Loo::default(), Greedy::new(features), Rls::default().lambda(1e-3)).preprocess(scaled)
}

/// A file that is gone when the test ends.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str) -> Self {
        TemporaryFile(std::env::temp_dir().join(format!("vaglio-fitted-{}-{name}.json", std::process::id())))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The text of a panic.
fn panic_of<T>(work: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(work)).err().unwrap();
    payload.downcast_ref::<String>().cloned().unwrap()
}

/// Fits classes, and compares with the model saved, loaded, cloned and through serde.
fn classes_are_kept<E>(name: &str, class: impl Fn(f64) -> E)
where
    E: TargetValue + std::fmt::Debug,
{
    let dataset = named(60).map_targets(|y| class(*y));
    let maps = Pipeline::new(Loo::default().loss(ZeroOne), Greedy::new(3), Rls::default());
    let fitted = maps.preprocess(Standardize::default()).fit(&dataset).unwrap();
    let hits = fitted.predict(&dataset).iter().zip(dataset.targets()).filter(|(a, b)| a == b).count();
    assert!(hits > 40, "{name}: {hits}");
    let file = TemporaryFile::new(name);
    fitted.save(&file.0).unwrap();
    let loaded: FittedPipeline<E, Ix1> = FittedPipeline::load(&file.0).unwrap();
    let again: FittedPipeline<E, Ix1> = serde_json::from_str(&serde_json::to_string(&fitted).unwrap()).unwrap();
    for other in [loaded, again, fitted.clone()] {
        assert_eq!(other.predict(&dataset), fitted.predict(&dataset), "{name}");
        assert_eq!(other.decision_values(&dataset).unwrap(), fitted.decision_values(&dataset).unwrap());
        assert_eq!(other.probabilities(&dataset).unwrap(), fitted.probabilities(&dataset).unwrap());
        assert_eq!(other.classes(), fitted.classes());
    }
    let probabilities = fitted.probabilities(&dataset).unwrap().unwrap();
    assert_eq!(probabilities.dim(), (60, fitted.classes().len()));
    assert!(probabilities.rows().into_iter().all(|row| (row.iter().map(|p| **p).sum::<f32>() - 1.0).abs() < 1e-5));
}

#[test]
fn classes_of_any_type_are_predicted_and_kept() {
    classes_are_kept("bool", |y| y > 0.5);
    classes_are_kept("string", |y| if y > 0.5 { "tall".to_owned() } else { "small".into() });
    let third = |y: f64| {
        if y > 1.2 {
            7
        } else if y > -0.2 {
            4
        } else {
            2
        }
    };
    classes_are_kept("usize", |y| third(y) as usize);
    classes_are_kept("u32", |y| third(y) as u32);
    classes_are_kept("i8", |y| -(third(y) as i8));
    classes_are_kept("i64", |y| i64::from(third(y)) - 4);
}

#[test]
fn borrowed_text_is_predicted_and_read_back_as_owned() {
    let dataset = named(60).map_targets(|y| if *y > 0.5 { "yes" } else { "no" });
    let fitted = pipeline_of_classes().fit(&dataset).unwrap();
    assert_eq!(fitted.classes(), ["no", "yes"]);
    let predicted: Array1<&str> = fitted.predict(&dataset);
    let file = TemporaryFile::new("str");
    fitted.save(&file.0).unwrap();
    let loaded: FittedPipeline<String, Ix1> = FittedPipeline::load(&file.0).unwrap();
    assert_eq!(loaded.predict(&dataset), predicted.mapv(str::to_owned));
    let refused = FittedPipeline::<&str, Ix1>::load(&file.0).unwrap_err().to_string();
    assert!(refused.ends_with("the class `no` is no value of this type; use `String`"), "{refused}");
    let refused = FittedPipeline::<f64, Ix1>::load(&file.0).unwrap_err().to_string();
    assert!(refused.ends_with("the targets are classes; use the type `String`"), "{refused}");
}

fn pipeline_of_classes() -> Pipeline {
    Pipeline::new(Loo::default().loss(ZeroOne), Greedy::new(3), Rls::default())
}

#[test]
fn a_model_is_looked_into_alike_before_and_after_it_was_kept() {
    let dataset = named(80);
    let fitted = pipeline(2).fit(&dataset).unwrap();
    let file = TemporaryFile::new("accessors");
    fitted.save(&file.0).unwrap();
    let loaded: FittedPipeline<f64, Ix1> = FittedPipeline::load(&file.0).unwrap();
    for one in [&fitted, &loaded] {
        assert_eq!(one.selected(), ["b", "d"]);
        assert_eq!(one.indices(), [1, 3]);
        assert_eq!(one.support().unwrap(), [false, true, false, true, false, false]);
        assert_eq!(one.columns(), NAMES);
        assert_eq!(one.coefficients().unwrap().dim(), (2, 1));
        assert_eq!(one.intercept().unwrap().len(), 1);
        assert_eq!(one.lambda(), Some(1e-3));
        assert_eq!(one.path(), fitted.path());
        assert_eq!(one.entries().iter().map(|entry| entry.subset.len()).collect::<Vec<_>>(), [1, 2]);
        assert!(one.classes().is_empty() && one.probabilities(&dataset).unwrap().is_none());
        assert_eq!(one.saved().observed.as_ref().unwrap().targets, ["yield"]);
    }
    assert!(fitted.selection().unwrap().to_string().starts_with("b, d: 5-fold error ") && loaded.selection().is_none());
    // Coefficients are of standardized columns: they give the decision values back.
    let x: Array2<f64> = fitted.transform(&dataset).records;
    let (mean, deviation) = (dataset.targets().mean().unwrap(), dataset.targets().std(0.0));
    let of_rows = (x.dot(fitted.coefficients().unwrap()) + fitted.intercept().unwrap()[0]) * deviation + mean;
    let expected = fitted.decision_values(&dataset).unwrap();
    assert!(of_rows.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{of_rows} {expected}");
}

#[test]
fn several_targets_are_kept_with_their_names() {
    let (x, y) = records(60);
    let both = ndarray::stack![Axis(1), y, y.mapv(|v| -3.0 * v)];
    let dataset = Dataset::new(x, both).with_feature_names(NAMES.to_vec()).with_target_names(vec!["up", "down"]);
    let fitted = pipeline(2).fit(&dataset).unwrap();
    let file = TemporaryFile::new("several");
    fitted.save(&file.0).unwrap();
    let loaded: FittedPipeline<f64, Ix2> = FittedPipeline::load(&file.0).unwrap();
    assert_eq!(loaded.predict(&dataset), fitted.predict(&dataset));
    assert_eq!(loaded.predict(&dataset).dim(), (60, 2));
    let refused = FittedPipeline::<f64, Ix1>::load(&file.0).unwrap_err().to_string();
    assert!(refused.ends_with("there are 2 target columns; use the dimension `Ix2`"), "{refused}");
    let kept = fitted.transform(&dataset);
    assert_eq!((kept.feature_names(), kept.target_names()), (&["b".into(), "d".into()][..], dataset.target_names()));
}

#[test]
fn an_error_has_the_outside_error_as_its_source() {
    let file = TemporaryFile::new("source");
    let load = || FittedPipeline::<f64, Ix1>::load(&file.0).unwrap_err();
    let missing = load();
    let system = missing.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(system.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound));
    std::fs::write(&file.0, "{\n3").unwrap();
    let damaged = load();
    let parser = damaged.source().and_then(|source| source.downcast_ref::<serde_json::Error>());
    assert_eq!(parser.map(serde_json::Error::line), Some(2));
}

#[test]
fn a_changed_file_is_refused() {
    let fitted = pipeline(2).fit(&named(40)).unwrap();
    let file = TemporaryFile::new("changed");
    fitted.save(&file.0).unwrap();
    let text = std::fs::read_to_string(&file.0).unwrap();
    std::fs::write(&file.0, text.replacen("\"b\"", "\"c\"", 1)).unwrap();
    let error = FittedPipeline::<f64, Ix1>::load(&file.0).unwrap_err();
    assert!(matches!(error, Error::ModelRefused { .. }), "{error}");
    let mut value = serde_json::to_value(&fitted).unwrap();
    value["selected"]["indices"] = serde_json::json!([1, 9]);
    assert!(serde_json::from_value::<FittedPipeline<f64, Ix1>>(value).is_err());
}

#[test]
fn predictions_have_one_meaning_and_another_order_is_refused_where_names_are_seen() {
    let dataset = named(60);
    let fitted = pipeline(2).fit(&dataset).unwrap();
    let reversed = Dataset::new(dataset.records().slice(s![.., ..;-1]).to_owned(), dataset.targets().clone())
        .with_feature_names(NAMES.iter().rev().copied().collect());
    let expected = fitted.predict(&dataset);
    // By the method, by the trait, by value and by the records alone: by place.
    let by_place = fitted.predict(reversed.records());
    assert_ne!(by_place, expected);
    let by_trait: Array1<f64> = Predict::predict(&fitted, &reversed);
    assert_eq!(
        [fitted.predict(&reversed), by_trait, fitted.predict(reversed.clone()).targets],
        [(); 3].map(|()| by_place.clone())
    );
    // What sees the names refuses them in another order.
    let told = "column 2 of the dataset is `e`, and the pipeline was fitted on `b` there; `by_name` takes the columns of a \
                dataset by their names";
    let refused = [
        fitted.predict_with(&reversed, &Rows::new()).unwrap_err().to_string(),
        fitted.decision_values(&reversed).unwrap_err().to_string(),
        panic_of(|| fitted.transform(&reversed)),
        panic_of(|| fitted.transform(reversed.clone())),
    ];
    assert_eq!(refused, [told; 4]);
    // By name in any order; columns that are not read may be missing, and others be there.
    let by_name = fitted.by_name(&reversed).unwrap();
    assert_eq!((fitted.predict(&by_name), by_name.records()), (expected.clone(), dataset.records()));
    assert_eq!(by_name.feature_names(), NAMES);
    assert_eq!(fitted.transform(&by_name).records(), fitted.transform(&dataset).records());
    assert_eq!(fitted.transform(by_name.clone()).feature_names(), ["b", "d"]);
    let fewer = Dataset::new(dataset.records().select(Axis(1), &[3, 0, 1]), dataset.targets().clone());
    let part = fitted.by_name(&fewer.clone().with_feature_names(vec!["d", "new", "b"])).unwrap();
    assert_eq!(fitted.predict(&part), expected);
    let text = fitted.by_name(&fewer.clone().with_feature_names(vec!["d", "new", "bb"])).unwrap_err().to_string();
    assert_eq!(text, "`dataset`: there is no column `b`; did you mean `bb`?");
    let narrow = fitted.decision_values(&fewer.with_feature_names(vec!["d", "new", "b"])).unwrap_err().to_string();
    assert!(narrow.starts_with("the pipeline was fitted on 6 columns, and these rows have 3; `by_name`"), "{narrow}");
    // Where one of both has no names there is nothing to refuse.
    let unnamed = pipeline(2).fit(&Dataset::new(dataset.records().clone(), dataset.targets().clone())).unwrap();
    assert_eq!(unnamed.predict_with(&dataset, &Rows::new()).unwrap(), expected);
}

#[test]
fn series_are_told_to_predictions_too() {
    let (mut x, _) = records(60);
    let within = Array1::from_shape_fn(60, |row| x[[row, 0]]);
    x.rows_mut().into_iter().zip(0..).for_each(|(mut row, at)| row += f64::from(at / 6));
    let dataset = Dataset::new(x.clone(), within);
    let rows = Rows::new().series((0..60).map(|row| row / 6)).times((0..60).map(|row| row % 6));
    let pipeline = Pipeline::new(KFold::new(5), Greedy::new(1).choose(Choose::Last), Rls::new(0.1));
    let fitted = pipeline.preprocess(WithinSeries::default()).fit_with(&dataset, &rows).unwrap();
    let together = fitted.predict_with(&dataset, &rows).unwrap();
    // Each series alone, and all in another order.
    for of in 0..10 {
        let part = x.slice(s![6 * of..6 * of + 6, ..]).to_owned();
        assert_eq!(fitted.predict(&part), together.slice(s![6 * of..6 * of + 6]), "{of}");
    }
    assert_ne!(fitted.predict(&dataset), together);
    let order: Vec<usize> = (0..60).map(|row| row * 7 % 60).collect();
    let turned = Dataset::new(x.select(Axis(0), &order), Array1::<f64>::zeros(60));
    let known = Rows::new().series(order.iter().map(|row| row / 6)).times(order.iter().map(|row| row % 6));
    assert_eq!(fitted.predict_with(&turned, &known).unwrap(), together.select(Axis(0), &order));
    let values = fitted.decision_values(known.label(&turned)).unwrap();
    assert_eq!(values.column(0), together.select(Axis(0), &order));
    // A model that was saved predicts alike, and lists of another length are refused.
    let file = TemporaryFile::new("series");
    fitted.save(&file.0).unwrap();
    let loaded = FittedPipeline::<f64, Ix1>::load(&file.0).unwrap();
    assert_eq!(loaded.predict_with(&dataset, &rows).unwrap(), together);
    let short = loaded.predict_with(&dataset, &Rows::new().series([1, 2])).unwrap_err().to_string();
    assert_eq!(short, "`Rows::series` has 2 entries for 60 rows");
}

#[test]
fn a_wrong_width_says_so() {
    let fitted = pipeline(2).fit(&named(40)).unwrap();
    let narrow = records(40).0.slice(s![.., ..3]).to_owned();
    let expected = "the pipeline was fitted on 6 columns, and these rows have 3";
    let by_linfa = || -> Array1<f64> { Predict::predict(&fitted, &narrow) };
    assert_eq!(panic_of(|| fitted.predict(&narrow)), expected);
    assert_eq!(panic_of(by_linfa), expected);
    assert_eq!(panic_of(|| fitted.transform(&narrow)), expected);
    assert_eq!(fitted.decision_values(&narrow).unwrap_err().to_string(), expected);
}

#[test]
fn groups_and_folds_are_those_of_a_problem_built_by_hand() {
    let weights = Array1::from_iter((0..60).map(|j| 0.5 + (j % 3) as f32));
    let dataset = named(60).with_weights(weights);
    let groups: Vec<usize> = (0..60).map(|row| row / 5).collect();
    let selector = Selector::params(KFold::new(4).by(FoldBy::Groups), Greedy::new(3), Rls::default()).seed(3);
    let pipeline = Pipeline::from(selector.clone());
    let fitted = pipeline.fit_with(&dataset, &Rows::new().groups(&groups)).unwrap();
    let by_hand = problem(&dataset, &Rows::new().groups(&groups)).unwrap();
    assert_eq!((by_hand.groups().unwrap().len(), by_hand.weights().unwrap().len()), (60, 60));
    let path = selector.check().unwrap().select(&by_hand, &mut vaglio::search::Silent).unwrap().path;
    assert_eq!(fitted.path(), Some(&path));
    let given = Pipeline::new(KFold::default().assignment("part".to_owned()), Greedy::new(3), Rls::default());
    assert!(given.fit_with(&dataset, &Rows::new().folds((0..60).map(|row| row % 3))).is_ok());
    for (error, expected) in [
        (pipeline.fit(&dataset).unwrap_err(), "or give them by `Rows::groups`"),
        (given.fit(&dataset).unwrap_err(), "in code, give them by `Rows::folds`"),
        (
            pipeline.fit_with(&dataset, &Rows::new().groups([1, 2])).unwrap_err(),
            "`Rows::groups` has 2 entries for 60 rows",
        ),
    ] {
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[test]
fn times_of_rows_are_what_forward_folds_go_by() {
    let dataset = named(48);
    let forward = KFold::default().splits(Forward::default().folds(3).gap(1));
    let pipeline = Pipeline::new(forward, Greedy::new(2).choose(Choose::Best), Rls::default());
    let by_rows = pipeline.fit(&dataset).unwrap();
    let times = (0..48).map(|row| 2000.0 + 0.5 * f64::from(row));
    assert_eq!(pipeline.fit_with(&dataset, &Rows::new().times(times)).unwrap().path(), by_rows.path());
    // Two series of the same days are split by the day.
    let series = Rows::new().series((0..48).map(|row| row / 24)).times((0..48).map(|row| row % 24));
    assert_ne!(pipeline.fit_with(&dataset, &series).unwrap().path(), by_rows.path());
    let refused = |rows: Rows, expected: &str| {
        assert_eq!(pipeline.fit_with(&dataset, &rows).unwrap_err().to_string(), expected);
    };
    let twice = "row 8: its time is that of row 1 of the same series; a time stands once";
    refused(Rows::new().times((0..48).map(|row| row % 7)), twice);
    let none = (0..48).map(|row| if row == 3 { f64::NAN } else { f64::from(row) });
    refused(Rows::new().times(none), "row 4: its time is not a number");
}

#[test]
fn rows_in_any_order_are_those_in_the_order_of_time() {
    let (x, y) = records(48);
    let order: Vec<usize> = (0..48).map(|row| row * 31 % 48).collect();
    let weights: Vec<f32> = (0..48).map(|row| if row % 11 == 5 { 0.0 } else { 1.0 + (row % 3) as f32 }).collect();
    let of = |rows: &[usize]| {
        let weights = Array1::from_iter(rows.iter().map(|&row| weights[row]));
        Dataset::new(x.select(Axis(0), rows), y.select(Axis(0), rows)).with_weights(weights)
    };
    let known = |rows: &[usize]| {
        let series = rows.iter().map(|row| if row / 24 == 0 { "north" } else { "south" }).collect::<Vec<_>>();
        Rows::new().series(series).times(rows.iter().map(|row| row % 24))
    };
    let in_order: Vec<usize> = (0..48).collect();
    let forward = KFold::with_splits(Forward::new(3).gap(1));
    let pipeline = Pipeline::new(forward, Greedy::new(2).choose(Choose::Best), Rls::new(1e-3));
    let pipeline = pipeline.preprocess(Standardize::default());
    let sorted = pipeline.fit_with(&of(&in_order), &known(&in_order)).unwrap();
    // The first row is of the same series, so that series have the same numbers.
    let shuffled = pipeline.fit_with(&of(&order), &known(&order)).unwrap();
    assert_eq!(shuffled.path(), sorted.path());
    assert_eq!(shuffled.decision_values(&x).unwrap(), sorted.decision_values(&x).unwrap());
    let worth = |rows: &[usize]| pipeline.nested_with(4, 1, &of(rows), &Rows::new().times(rows.to_vec())).unwrap();
    let (sorted, shuffled) = (worth(&in_order), worth(&order));
    assert_eq!(sorted.loss, shuffled.loss);
    for (a, b) in sorted.folds.iter().zip(&shuffled.folds) {
        let there: Vec<usize> = b.rows.iter().map(|&row| order[row]).collect();
        assert_eq!((&a.rows, &a.predictions), (&there, &b.predictions));
    }
}

#[test]
fn missing_cells_are_filled_by_a_map() {
    let (mut x, y) = records(50);
    x[[4, 1]] = f64::NAN;
    let dataset = Dataset::new(x, y);
    let error = pipeline(2).fit(&dataset).unwrap_err();
    assert!(matches!(error, FitError::Vaglio(Error::NonFinite { row: 5, .. })));
    let told = "add the map `Impute` to the pipeline, or leave the column out";
    assert!(error.to_string().ends_with(told) && !format!("{error:?}").contains("data.exclude"), "{error}");
    let fitted = pipeline(2).preprocess(Impute::default()).fit(&dataset).unwrap();
    assert!(fitted.predict(&dataset).iter().all(|p| p.is_finite()));
}

#[test]
fn nested_folds_tell_what_a_pipeline_is_worth() {
    let dataset = named(60);
    let worth = pipeline(2).nested_with(5, 2, &dataset, &Rows::new()).unwrap();
    assert_eq!(worth.folds.len(), 10);
    let mut rows: Vec<usize> = worth.folds[..5].iter().flat_map(|fold| fold.rows.clone()).collect();
    rows.sort_unstable();
    assert_eq!(rows, (0..60).collect::<Vec<_>>());
    let squared = |fold: &vaglio::NestedFold| -> f64 {
        let errors =
            fold.rows.iter().zip(fold.predictions.column(0)).map(|(row, p)| (dataset.targets()[*row] - p).powi(2));
        errors.sum()
    };
    let mean = worth.folds.iter().map(squared).sum::<f64>() / 120.0;
    assert!((worth.loss - mean).abs() < 1e-12 * mean, "{} {mean}", worth.loss);
    assert!(worth.loss < worth.empty_loss && worth.standard_error.is_some());
    assert!(worth.folds.iter().all(|fold| fold.selected.contains(&"b".to_owned())));
    // A row of weight 0 is in no fold.
    let weighted = named(60).with_weights(Array1::from_iter((0..60).map(|j| if j == 7 { 0.0f32 } else { 1.0 })));
    let worth = pipeline(2).nested(5, &weighted).unwrap();
    let rows: Vec<usize> = worth.folds.iter().flat_map(|fold| fold.rows.clone()).collect();
    assert!(rows.len() == 59 && !rows.contains(&7) && rows.contains(&59));
}
