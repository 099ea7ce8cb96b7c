//! Levels as places in an order.

use crate::{fit, labels, numbers, text};
use vaglio_core::{Result, Table};

fn table() -> Table {
    let (s, t) = (text(&["mid", "", "low"]), text(&["b", "a", "b"]));
    crate::table([("s", s), ("t", t), ("n", numbers(&[10.0, 9.0, f64::NAN]))])
}

fn out(json: &str) -> Result<Table> {
    fit(json, &table())?.transform(table())
}

#[test]
fn levels_become_their_places_in_the_order() {
    let made = out(r#"{"kind": "ordinal", "order": {"s": ["low", "mid", "high"]}}"#).unwrap();
    assert_eq!(
        (labels(&made, "s"), labels(&made, "t")),
        (vec!["1".into(), String::new(), "0".into()], vec!["b".into(), "a".into(), "b".into()])
    );
    let made = out(r#"{"kind": "ordinal"}"#).unwrap();
    assert_eq!((labels(&made, "s")[0].as_str(), labels(&made, "t")), ("1", vec!["1".into(), "0".into(), "1".into()]));
    let made = out(r#"{"kind": "ordinal", "order": {"n": [10, 9]}}"#).unwrap();
    assert_eq!(labels(&made, "n"), ["0", "1", ""]);
    let made = out(r#"{"kind": "ordinal", "order": {"s": ["mid"]}, "unknown": "missing"}"#).unwrap();
    assert_eq!(labels(&made, "s"), ["0", "", ""]);
}

#[test]
fn what_is_not_in_the_order_is_refused() {
    for (json, words) in [
        (
            r#"{"kind": "ordinal", "order": {"s": ["mid", "high"]}}"#,
            "row 3, column `s`: `low` is not in the order mid, high",
        ),
        (r#"{"kind": "ordinal", "order": {"s": []}}"#, "`order.s`: it is empty"),
        (r#"{"kind": "ordinal", "order": {"s": ["a", "a"]}}"#, "`order.s[1]`: `a` is listed twice"),
        (r#"{"kind": "ordinal", "order": {"u": ["a"]}}"#, "`order.u`: there is no column `u`"),
        (r#"{"kind": "ordinal", "order": {"s": ["a"]}, "columns": ["t"]}"#, "`order.s`: `s` is not among `columns`"),
    ] {
        let error = out(json).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
}
