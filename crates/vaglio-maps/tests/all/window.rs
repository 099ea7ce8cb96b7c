//! Windows of earlier rows.

use crate::{fit, numbers, single_column, text, values};
use vaglio_core::Table;
use vaglio_maps::maps::Window;

fn table() -> Table {
    let text = text(&["p", "q", "r", "s", "t", "u"]);
    let x = numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    let y = numbers(&[-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]);
    crate::table([("x", x), ("t", text), ("y", y)]).with_series(vec![4, 4, 4, 0, 0, 7]).unwrap()
}

#[test]
fn history_stays_inside_a_series() {
    let fitted = fit(r#"{"kind": "window", "lags": [1, 0], "columns": ["x"]}"#, &table()).unwrap();
    let out = fitted.transform(table()).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["x_lag1", "x", "t", "y"]);
    assert_eq!(values(&out, "x"), [2.0, 3.0, 5.0]);
    assert_eq!(values(&out, "x_lag1"), [1.0, 2.0, 4.0]);
    assert_eq!(values(&out, "y"), [-2.0, -3.0, -5.0]);
    assert_eq!((out.series(), out.origins()), (Some(&[4, 4, 0][..]), Some(&[1, 2, 4][..])));
    assert_eq!(
        (fitted.sources("x_lag1"), fitted.sources("x"), fitted.sources("t")),
        (vec!["x".into()], vec!["x".into()], vec!["t".into()])
    );
}

#[test]
fn without_series_the_table_is_one_and_all_numbers_are_taken() {
    let table = crate::table([("x", numbers(&[1.0, 2.0, 4.0])), ("z", numbers(&[0.0, 1.0, 0.0]))]);
    let out = fit(r#"{"kind": "window", "lags": [2]}"#, &table).unwrap().transform(table).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["x_lag2", "z_lag2"]);
    assert_eq!((values(&out, "x_lag2"), values(&out, "z_lag2")), (vec![1.0], vec![0.0]));
}

#[test]
fn columns_have_lags_of_their_own() {
    let fitted = fit(r#"{"kind": "window", "lags": {"y": [1, 2], "x": [0]}}"#, &table()).unwrap();
    let out = fitted.transform(table()).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["x", "t", "y_lag1", "y_lag2"]);
    let values = ["x", "y_lag1", "y_lag2"].map(|name| values(&out, name));
    assert_eq!(values, [vec![3.0], vec![-2.0], vec![-1.0]]);
    assert_eq!((fitted.past(), fitted.sources("y_lag2")), (2, vec!["y".to_owned()]));
}

#[test]
fn the_laws_of_a_map_hold_but_for_repeated_rows() {
    use vaglio_testkit::{data, map};
    let window = Window { lags: vec![2, 0].into(), columns: None, horizons: Vec::new() };
    for table in [data::table(20, 5, 41), data::mixed_table(20, 5, 42)] {
        map::repeatable(&window, &table).unwrap();
        map::fixed(&window, &table).unwrap();
        map::sources(&window, &table).unwrap();
        map::saved(&window, &table).unwrap();
    }
}

#[test]
fn what_cannot_be_made_is_refused() {
    for (json, words) in [
        (r#"{"kind": "window", "lags": []}"#, "`lags`: at least one"),
        (r#"{"kind": "window", "lags": [0, 2, 2]}"#, "`lags[2]`: 2 is listed twice"),
        (r#"{"kind": "window", "lags": {"x": []}}"#, "`lags`: at least one"),
        (r#"{"kind": "window", "lags": {"x": [1, 1]}}"#, "`lags.x[1]`: 1 is listed twice"),
        (r#"{"kind": "window", "lags": {"x": [1]}, "columns": ["y"]}"#, "`columns`: `lags` names the columns"),
        (r#"{"kind": "window", "lags": {"w": [1]}}"#, "no column `w`"),
        (r#"{"kind": "window", "columns": []}"#, "`columns`: it is empty"),
        (r#"{"kind": "window", "lags": [0], "columns": ["x", "x"]}"#, "`columns[1]`: `x` is listed twice"),
        (r#"{"kind": "window", "lags": [1], "columns": ["yy"]}"#, "did you mean `y`?"),
        (r#"{"kind": "window", "lags": [1], "columns": ["t"]}"#, "holds text"),
        (r#"{"kind": "window", "lags": [3]}"#, "no series has more than 3 rows"),
        (r#"{"kind": "window", "lags": [18446744073709551615, 1]}"#, "no series has more than"),
    ] {
        let error = fit(json, &table()).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
    let clash = crate::table([("x", numbers(&[1.0, 2.0])), ("x_lag1", numbers(&[0.5, 1.0]))]);
    let error = fit(r#"{"kind": "window", "lags": [0, 1], "columns": ["x"]}"#, &clash).unwrap_err();
    assert!(error.to_string().contains("a second column `x_lag1`"), "{error}");
    let fitted = fit(r#"{"kind": "window", "lags": [2]}"#, &table()).unwrap();
    let short = single_column(&[1.0, 2.0]);
    assert!(fitted.transform(short).unwrap_err().to_string().contains("no series has more than 2 rows"));
    let words = crate::table([("x", text(&["a"; 3]))]);
    assert!(fitted.transform(words).unwrap_err().to_string().contains("holds text"));
}
