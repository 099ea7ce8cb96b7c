//! Levels as means of the target.

use crate::{text, values};
use ndarray::{Array2, array};
use vaglio_core::{Map, MapFormulas, Table, TrainingRows};
use vaglio_maps::folds::FoldAssignment;
use vaglio_maps::maps::TargetEncode;

fn table(levels: &[&str]) -> Table {
    crate::table([("c", text(levels))])
}

fn rows<'a>(table: &'a Table, targets: &'a Array2<f64>, outputs: &'a [String]) -> TrainingRows<'a> {
    TrainingRows { table, targets: targets.view(), outputs, lagged: &[], weights: None, groups: None, seed: 0 }
}

#[test]
fn new_rows_are_encoded_by_all_training_rows() {
    let (table, y) = (table(&["a", "b", "a", "", "b", "b"]), array![[1.0, 2.0, 3.0, 10.0, 4.0, 4.0]]);
    let names = ["y".to_owned()];
    let map = TargetEncode { smoothing: 2.0, ..TargetEncode::default() };
    let fitted = map.fit(&rows(&table, &y, &names)).unwrap();
    let new = self::table(&["a", "b", "z", ""]);
    let out = values(&fitted.transform(new).unwrap(), "c");
    // The overall mean is 4.
    assert_eq!(out[..3], [(4.0 + 8.0) / 4.0, (10.0 + 8.0) / 5.0, 4.0]);
    assert!(out[3].is_nan());
    let mut twice = rows(&table, &y, &names);
    twice.weights = Some(&[2.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    let fitted = map.fit(&twice).unwrap();
    // The overall mean is 12 / 5, and two rows of mean weight weigh 2.5.
    assert_eq!(values(&fitted.transform(self::table(&["a"])).unwrap(), "c"), [(2.0 + 2.5 * 2.4) / 4.5]);
}

#[test]
fn a_training_row_is_encoded_by_the_other_folds_alone() {
    let levels: Vec<&str> = (0..40).map(|row| ["a", "b", "c"][row * 7 % 3]).collect();
    let table = table(&levels);
    let y: Array2<f64> = Array2::from_shape_fn((1, 40), |(_, row)| ((row * 13) % 11) as f64);
    let names = ["y".to_owned()];
    let groups: Vec<u32> = (0..40).map(|row| row / 4).collect();
    for groups in [None, Some(&groups[..])] {
        let map = TargetEncode { smoothing: 1.0, folds: 4, ..TargetEncode::default() };
        let encoded = |y: &Array2<f64>| {
            let rows = TrainingRows { groups, ..rows(&table, y, &names) };
            values(&map.fit(&rows).unwrap().training.unwrap(), "c")
        };
        let before = encoded(&y);
        let labels: Vec<&[u32]> = groups.into_iter().collect();
        let folds = FoldAssignment::from_labels(&labels, 40, None).folds(4, 0).unwrap();
        if let Some(groups) = groups {
            assert!((1..40).all(|row| groups[row] != groups[row - 1] || folds[row] == folds[row - 1]));
        }
        for changed in [0, 17, 39] {
            let mut other = y.clone();
            other[[0, changed]] += 100.0;
            let after = encoded(&other);
            for row in 0..40 {
                let same = before[row].to_bits() == after[row].to_bits();
                assert!(same == (folds[row] == folds[changed]) || !same, "{row} of {changed}");
                assert!(same || folds[row] != folds[changed], "{row} of {changed}");
            }
        }
        // Plain computation of the definition.
        for row in 0..40 {
            let others = || (0..40).filter(|&other| folds[other] != folds[row]);
            let all = others().map(|other| y[[0, other]]).sum::<f64>() / others().count() as f64;
            let alike: Vec<f64> =
                others().filter(|&other| levels[other] == levels[row]).map(|other| y[[0, other]]).collect();
            let expected = (alike.iter().sum::<f64>() + all) / (alike.len() as f64 + 1.0);
            assert!((before[row] - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn each_class_has_a_column() {
    let (table, y) = (table(&["a", "b", "a", "b"]), array![[1.0, -1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]]);
    let names = ["p".to_owned(), "q".to_owned()];
    let map = TargetEncode { smoothing: 0.0, ..TargetEncode::default() };
    let fitted = map.fit(&rows(&table, &y, &names)).unwrap();
    let out = fitted.transform(table.clone()).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["c_p", "c_q"]);
    assert_eq!(fitted.training.as_ref().unwrap().names().collect::<Vec<_>>(), ["c_p", "c_q"]);
    assert_eq!((values(&out, "c_p"), values(&out, "c_q")), (vec![1.0, -1.0, 1.0, -1.0], vec![-1.0, 1.0, -1.0, 1.0]));
    assert_eq!((fitted.sources("c_q"), fitted.sources("d")), (vec!["c".into()], vec!["d".into()]));
    assert_eq!(fitted.get("c_q").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
    let saved = serde_json::to_string(&fitted).unwrap();
    let loaded: MapFormulas = serde_json::from_str(&saved).unwrap();
    assert_eq!(values(&loaded.transform(table).unwrap(), "c_p"), values(&out, "c_p"));
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (json, words) in [
        (r#"{"smoothing": -1}"#, "`smoothing`: -1 is no number from 0 on"),
        (r#"{"folds": 1}"#, "`folds`: 1 is too few"),
        (r#"{"columns": []}"#, "`columns`: it is empty"),
    ] {
        let map: TargetEncode = serde_json::from_str(json).unwrap();
        let error = map.check_settings().unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
    let (table, y, names) = (table(&["a", "b"]), array![[1.0, 2.0]], ["y".to_owned()]);
    let together = TrainingRows { groups: Some(&[7, 7]), ..rows(&table, &y, &names) };
    let error = TargetEncode::default().fit(&together).unwrap_err().to_string();
    assert!(error.contains("`folds`: 1 groups of rows cannot be split into folds"), "{error}");
}
