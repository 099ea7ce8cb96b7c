//! Levels as indicators.

use crate::{fit_map, numbers, table, text, values};
use vaglio_core::{Cells, MapFormulas, Table};
use vaglio_maps::maps::OneHot;

fn fitted() -> MapFormulas {
    fit(r#"{"kind": "one_hot", "unknown": "error"}"#)
}

fn fit(json: &str) -> MapFormulas {
    let (c, d) = (text(&["y", "x", "1"]), text(&["p", "p", "p"]));
    fit_on(json, &table(vec![("a", numbers(&[1.0, 2.0, 3.0])), ("c", c), ("d", d)]))
}

fn fit_on(json: &str, table: &Table) -> MapFormulas {
    crate::fit(json, table).unwrap()
}

#[test]
fn text_becomes_indicators_in_its_place() {
    let out = fitted()
        .transform(table(vec![("d", text(&["p", "p"])), ("c", text(&["x", "y"])), ("a", numbers(&[5.0, 6.0]))]))
        .unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["d=p", "c=1", "c=x", "c=y", "a"]);
    assert_eq!(values(&out, "c=x"), [1.0, 0.0]);
    assert_eq!(values(&out, "c=y"), [0.0, 1.0]);
    assert_eq!(values(&out, "c=1"), [0.0, 0.0]);
    assert_eq!(values(&out, "d=p"), [1.0, 1.0]);
    assert_eq!(values(&out, "a"), [5.0, 6.0]);
}

#[test]
fn fewer_columns_are_enough_and_numbers_match_their_text() {
    let out = fitted().transform(table(vec![("c", numbers(&[1.0]))])).unwrap();
    assert_eq!(values(&out, "c=1"), [1.0]);
}

#[test]
fn a_level_that_training_lacked_is_named() {
    let error = fitted().transform(table(vec![("c", text(&["x", "z"]))])).unwrap_err();
    assert_eq!(error.to_string(), "row 2, column `c`: `z` is none of the levels of the training rows: 1, x, y");
    assert_eq!(error.class(), vaglio_core::ErrorClass::Data);
}

#[test]
fn an_output_knows_its_source() {
    let fitted = fitted();
    assert_eq!(fitted.sources("c=x"), ["c"]);
    assert_eq!(fitted.sources("a"), ["a"]);
}

#[test]
fn a_name_made_twice_is_refused() {
    let clash = table(vec![("c", text(&["x"])), ("c=x", numbers(&[1.0]))]);
    let error = fit_map(&OneHot::default(), &clash, None).unwrap_err().to_string();
    assert!(error.contains("a second column `c=x` would be made"), "{error}");
}

#[test]
fn a_level_that_training_lacked_is_zeros_or_a_rare_one() {
    let out = fit(r#"{"kind": "one_hot"}"#).transform(table(vec![("c", text(&["z", "x"]))])).unwrap();
    assert_eq!(["c=1", "c=x", "c=y"].map(|name| values(&out, name)[0]), [0.0; 3]);
    let training = table(vec![("c", text(&["x", "y", "x", "w", "(rare)", "y"]))]);
    let rare = OneHot::default().rare(2);
    for (map, z) in [(rare.clone(), Some(1.0)), (rare.refuse_unknown(), None)] {
        let fitted = fit_map(&map, &training, None).unwrap();
        let out = fitted.transform(training.clone()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["c=x", "c=y", "c=(rare)"]);
        assert_eq!(values(&out, "c=(rare)"), [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!(fitted.sources("c=(rare)"), ["c"]);
        let new = fitted.transform(table(vec![("c", text(&["z"]))])).ok();
        assert_eq!(new.map(|out| values(&out, "c=(rare)")[0]), z);
    }
    let twice = table(vec![("c", text(&["(rare)", "y", "(rare)"]))]);
    let error = fit_map(&OneHot::default().rare(2), &twice, None).unwrap_err();
    assert!(error.to_string().contains("`rare`: the column `c` has a level `(rare)`"), "{error}");
}

#[test]
fn of_two_levels_the_first_may_have_no_column() {
    let training = table(vec![("c", text(&["x", "y", "x"])), ("d", text(&["p", "q", "r"]))]);
    for (unknown, is_taken) in [("zeros", true), ("error", false)] {
        let fitted =
            fit_on(&format!(r#"{{"kind": "one_hot", "drop": "if_binary", "unknown": "{unknown}"}}"#), &training);
        let out = fitted.transform(training.clone()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["c=y", "d=p", "d=q", "d=r"]);
        assert_eq!(values(&out, "c=y"), [0.0, 1.0, 0.0]);
        assert_eq!(fitted.sources("c=y"), ["c"]);
        let new = fitted.transform(table(vec![("c", text(&["z"]))]));
        if is_taken {
            assert_eq!(values(&new.unwrap(), "c=y"), [0.0]);
        } else {
            assert!(new.unwrap_err().to_string().ends_with("levels of the training rows: x, y"));
        }
    }
}

#[test]
fn levels_count_by_rows_of_positive_weight() {
    let training = table(vec![("c", text(&["x", "x", "y", "z", "z"]))]);
    let map = OneHot::default().rare(2);
    let out = fit_map(&map, &training, Some(&[0.5, 0.1, 7.0, 0.0, 3.0])).unwrap().transform(training).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["c=x", "c=(rare)"]);
}

#[test]
fn a_missing_cell_leaves_its_indicators_missing() {
    let training = table(vec![("c", text(&["x", "", "y"]))]);
    let out = fit_map(&OneHot::default(), &training, None).unwrap().transform(training).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["c=x", "c=y"]);
    for name in ["c=x", "c=y"] {
        assert!(values(&out, name)[1].is_nan() && !values(&out, name)[2].is_nan(), "{name}");
    }
}

#[test]
fn a_column_without_levels_is_dropped() {
    let training = table(vec![("c", text(&["", ""])), ("a", numbers(&[1.0, 2.0]))]);
    let out = fit_map(&OneHot::default(), &training, None).unwrap().transform(training).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn columns_that_are_named_may_hold_numbers() {
    let training = table(vec![("c", numbers(&[3.0, 10.0, f64::NAN])), ("d", text(&["p", "q", "p"]))]);
    let map = OneHot::default().columns(["c"]);
    let out = fit_map(&map, &training, None).unwrap().transform(training).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["c=10", "c=3", "d"]);
}

#[test]
fn what_was_saved_before_there_was_a_choice_refuses_unknown_levels() {
    let json = r#"{"kind": "one_hot", "columns": [{"column": "c", "levels": ["x", "y"]}]}"#;
    let fitted: MapFormulas = serde_json::from_str(json).unwrap();
    assert!(fitted.transform(table(vec![("c", text(&["z"]))])).is_err());
    assert_eq!(values(&fitted.transform(table(vec![("c", text(&["y"]))])).unwrap(), "c=y"), [1.0]);
}

#[test]
fn levels_of_few_of_many_rows_are_sparse_with_the_same_cells() {
    let label = |row: usize| if row.is_multiple_of(4) { "most".to_owned() } else { format!("l{}", row % 100) };
    let labels: Vec<String> = (0..1600).map(label).collect();
    let whole = table(vec![("c", Cells::Text(labels.clone()))]);
    let map = fit_on(r#"{"kind": "one_hot"}"#, &whole);
    let out = map.transform(whole.clone()).unwrap();
    let column = |out: &Table, name: &str| {
        let column = out.get(name).unwrap().numbers().unwrap();
        (matches!(column, vaglio_core::Column::Sparse(_)), column.values().into_owned())
    };
    for level in ["most", "l1", "l99"] {
        let expected: Vec<f64> = labels.iter().map(|of| f64::from(u8::from(of == level))).collect();
        assert_eq!(column(&out, &format!("c={level}")), (level != "most", expected), "{level}");
    }
    // Bound: one dense column, sparse rows of all others, and the working lists.
    assert!(map.growth(&whole) < (32 * 1600 + 13 * 1600) as f64);
    // Few rows, and missing cells.
    let some = table(vec![("c", Cells::Text(labels[..100].to_vec()))]);
    assert!(!column(&map.transform(some).unwrap(), "c=l1").0);
    let mut labels = labels;
    labels[7].clear();
    let found = column(&map.transform(table(vec![("c", Cells::Text(labels))])).unwrap(), "c=l1");
    assert!(!found.0 && found.1[7].is_nan() && found.1[1] == 1.0);
}
