//! Missing cells that are filled.

use crate::{fit, fit_weighted, labels, numbers, single_column, table, text, values};
use vaglio_core::{Cells, MapFormulas, Table};
use vaglio_maps::maps::Impute;

const GONE: f64 = f64::NAN;

fn training() -> Table {
    table(vec![
        ("a", numbers(&[1.0, GONE, 4.0, 1.0])),
        ("b", numbers(&[7.0, 0.0, 0.0, 5.0])),
        ("t", text(&["y", "x", "", "x"])),
        ("d", Cells::Dates(vec![0.0, GONE, 0.0, 86400.0])),
    ])
}

#[test]
fn each_way_fills_what_it_can_and_leaves_the_rest() {
    for (how, a, t) in [
        ("\"mean\"", "2", ""),
        ("\"median\"", "1", ""),
        ("\"most_frequent\"", "1", "x"),
        ("{\"constant\": -3}", "-3", ""),
        ("{\"constant\": \"none\"}", "", "none"),
    ] {
        let fitted = fit(&format!("{{\"kind\": \"impute\", \"how\": {how}}}"), &training()).unwrap();
        let out = fitted.transform(training()).unwrap();
        assert_eq!(out.names().collect::<Vec<_>>(), ["a", "b", "t", "d"]);
        assert_eq!(labels(&out, "a"), ["1", a, "4", "1"], "{how}");
        assert_eq!(labels(&out, "t"), ["y", "x", t, "x"], "{how}");
        assert_eq!(labels(&out, "d")[1], "", "{how}");
    }
}

#[test]
fn a_row_of_weight_two_is_that_row_twice_and_one_of_weight_zero_none() {
    let weights = [2.0, 1.0, 1.0, 0.0];
    for (how, a, t) in [("mean", "2", "y"), ("median", "1", "y"), ("most_frequent", "1", "y")] {
        let json = format!("{{\"kind\": \"impute\", \"how\": \"{how}\", \"indicator\": true}}");
        let out = fit_weighted(&json, &training(), Some(&weights)).unwrap().transform(training()).unwrap();
        assert_eq!(labels(&out, "a")[1], a, "{how}");
        if how == "most_frequent" {
            assert_eq!(labels(&out, "t")[2], t);
        }
    }
    let only = table(vec![("a", numbers(&[GONE, 1.0]))]);
    let none =
        fit_weighted(r#"{"kind": "impute"}"#, &only, Some(&[1.0, 0.0])).unwrap().transform(only.clone()).unwrap();
    assert_eq!(labels(&none, "a"), ["0", "1"]);
    let json = r#"{"kind": "impute", "indicator": true}"#;
    let out = fit_weighted(json, &only, Some(&[0.0, 1.0])).unwrap().transform(only).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn an_indicator_follows_each_column_that_had_missing_cells() {
    let fitted = fit(r#"{"kind": "impute", "how": "most_frequent", "indicator": true}"#, &training()).unwrap();
    let new = table(vec![
        ("t", text(&["", "z"])),
        ("b", numbers(&[GONE, 2.0])),
        ("a", numbers(&[3.0, GONE])),
        ("a_missing", numbers(&[8.0, 8.0])),
    ]);
    let out = fitted.transform(new).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["t", "t_missing", "b", "a", "a_missing"]);
    assert_eq!(labels(&out, "a_missing"), ["0", "1"]);
    assert_eq!(labels(&out, "t_missing"), ["1", "0"]);
    assert_eq!(labels(&out, "b"), ["0", "2"]);
    assert_eq!(
        (fitted.sources("a_missing"), fitted.sources("b_missing")),
        (vec!["a".into()], vec!["b_missing".into()])
    );
    assert_eq!(fitted.get("a_missing").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
    assert!(fitted.get("a_missing").is_some_and(|formula| !formula.is_block));
    let clash = table(vec![("a", numbers(&[1.0, GONE])), ("a_missing", numbers(&[1.0, 0.0]))]);
    let error = fit(r#"{"kind": "impute", "indicator": true}"#, &clash).unwrap_err();
    assert!(error.to_string().contains("`indicator`: a second column `a_missing` would be made"), "{error}");
}

#[test]
fn kinds_that_changed_are_refused_unless_nothing_is_there() {
    let fitted = fit(r#"{"kind": "impute", "how": "most_frequent"}"#, &training()).unwrap();
    let out = fitted.transform(table(vec![("a", text(&["", ""])), ("t", numbers(&[5.0, GONE]))])).unwrap();
    assert_eq!((labels(&out, "a"), labels(&out, "t")), (vec!["1".into(), "1".into()], vec!["5".into(), "x".into()]));
    let error = fitted.transform(table(vec![("a", text(&["", "q"]))])).unwrap_err();
    assert!(error.to_string().contains("column `a` holds text, and in the training rows it held numbers"), "{error}");
}

#[test]
fn what_is_saved_fills_with_the_same_bits() {
    let training = table(vec![("a", numbers(&[0.1, 0.2, 0.7, GONE])), ("t", text(&["1", "1", "2", ""]))]);
    for json in [r#"{"kind": "impute"}"#, r#"{"kind": "impute", "how": "most_frequent"}"#] {
        let fitted = fit(json, &training).unwrap();
        let saved = serde_json::to_string(&fitted).unwrap();
        let loaded: MapFormulas = serde_json::from_str(&saved).unwrap();
        let bits = |map: &MapFormulas| {
            map.transform(training.clone()).unwrap().get("a").unwrap().numbers().unwrap().get(3).to_bits()
        };
        assert_eq!(bits(&fitted), bits(&loaded));
        // Text that looks like a number stays text.
        assert!(matches!(loaded.transform(training.clone()).unwrap().get("t"), Some(Cells::Text(_))));
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (json, words) in [
        (r#"{"kind": "impute", "columns": []}"#, "`columns`: it is empty"),
        (r#"{"kind": "impute", "columns": ["a", "a"]}"#, "`columns[1]`: `a` is listed twice"),
        (r#"{"kind": "impute", "columns": ["aa"]}"#, "did you mean `a`?"),
        (
            r#"{"kind": "impute", "columns": ["b", "t"]}"#,
            "`columns[1]`: the column `t` holds text, and of `mean` columns of numbers are taken",
        ),
        (r#"{"kind": "impute", "columns": ["d"]}"#, "{kind: date_parts} before it"),
        (r#"{"kind": "impute", "how": {"constant": ""}}"#, "`how.constant`: an empty text"),
    ] {
        let error = fit(json, &training()).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
    assert!(serde_json::from_str::<Impute>(r#"{"how": "average"}"#).is_err());
    assert!(serde_json::from_str::<Impute>(r#"{"how": {"constant": true}}"#).is_err());
}

/// Fills the last cell by a statistic of those before it.
fn filled(how: &str, before: &[f64], weights: Option<&[f64]>) -> f64 {
    let training = single_column(&[before, &[GONE]].concat());
    let weights = weights.map(|weights| [weights, &[1.0]].concat());
    let json = format!("{{\"kind\": \"impute\", \"how\": \"{how}\"}}");
    let out = fit_weighted(&json, &training, weights.as_deref()).unwrap().transform(training).unwrap();
    values(&out, "x")[before.len()]
}

#[test]
fn medians_are_the_middle_or_between_two() {
    for (values, median) in
        [(&[5.0, 1.0, 2.0][..], 2.0), (&[5.0, 1.0, 2.0, 3.0], 2.5), (&[f64::MAX, f64::MAX], f64::MAX)]
    {
        assert_eq!(filled("median", values, None), median);
    }
}

#[test]
fn means_of_large_and_equal_values_are_theirs() {
    for (values, mean) in
        [(&[f64::MAX, f64::MAX][..], f64::MAX), (&[0.1, 0.1, 0.1], 0.1), (&[1e308, -1e308, 1e308, -1e308], 0.0)]
    {
        assert_eq!(filled("mean", values, None), mean);
    }
    let by_weight = filled("mean", &[1.0, 2.0, 2.0, 3.0, 100.0, GONE], Some(&[1.0, 3.0, 1.0, 2.0, 0.0, 5.0]));
    assert_eq!(by_weight, filled("mean", &[1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0], None));
}

#[test]
fn the_first_of_the_most_frequent_wins() {
    let training = table(vec![("t", text(&["c", "a", "b", "c", "b", ""]))]);
    let out = fit(r#"{"kind": "impute", "how": "most_frequent"}"#, &training).unwrap().transform(training).unwrap();
    assert_eq!(labels(&out, "t")[5], "b");
    assert_eq!(filled("most_frequent", &[1.0, 2.0, 2.0], Some(&[1.0, 0.5, 0.75])), 2.0);
}
