//! Products of columns.

use crate::numbers;
use vaglio_core::{MapFormulas, Result, Table};

fn table() -> Table {
    let columns = [("a", [2.0, f64::NAN]), ("b", [3.0, 4.0]), ("c", [-1.0, 5.0])];
    crate::table(columns.map(|(name, values)| (name, numbers(&values))))
}

fn fit(json: &str) -> Result<MapFormulas> {
    crate::fit(json, &table())
}

fn first(table: &Table) -> Vec<(String, String)> {
    table.columns().iter().skip(3).map(|(name, cells)| (name.clone(), cells.label(0))).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn products_of_pairs_and_powers_are_added() {
    let fitted = fit(r#"{"kind": "interactions", "columns": ["b", "a", "c"]}"#).unwrap();
    let out = fitted.transform(table()).unwrap();
    assert_eq!(first(&out), pairs(&[("b*a", "6"), ("b*c", "-3"), ("a*c", "-2")]));
    assert!(out.get("b*a").unwrap().is_missing(1) && !out.get("b*c").unwrap().is_missing(1));
    assert_eq!((fitted.sources("b*a"), fitted.sources("a")), (vec!["b".into(), "a".into()], vec!["a".into()]));
    assert_eq!(fitted.get("b*a").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
    let out = fit(r#"{"kind": "polynomial", "degree": 3, "columns": ["a", "b"]}"#).unwrap().transform(table()).unwrap();
    let expected =
        [("a^2", "4"), ("a*b", "6"), ("b^2", "9"), ("a^3", "8"), ("a^2*b", "12"), ("a*b^2", "18"), ("b^3", "27")];
    assert_eq!(first(&out), pairs(&expected));
}

#[test]
fn what_is_saved_multiplies_alike_and_fewer_columns_are_enough() {
    let fitted = fit(r#"{"kind": "polynomial", "columns": ["a", "b"]}"#).unwrap();
    let loaded: MapFormulas = serde_json::from_str(&serde_json::to_string(&fitted).unwrap()).unwrap();
    assert_eq!(first(&loaded.transform(table()).unwrap()), first(&fitted.transform(table()).unwrap()));
    let fewer = crate::table([("b", numbers(&[3.0])), ("a*b", numbers(&[0.0]))]);
    assert_eq!(fitted.transform(fewer).unwrap().names().collect::<Vec<_>>(), ["b", "b^2"]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    for (json, words) in [
        (r#"{"kind": "interactions", "columns": ["a"]}"#.to_owned(), "`columns`: two columns at least"),
        (r#"{"kind": "interactions", "columns": ["a", "a"]}"#.to_owned(), "`columns[1]`: `a` is listed twice"),
        (r#"{"kind": "interactions", "columns": ["a", "x"]}"#.to_owned(), "there is no column `x`"),
        (r#"{"kind": "polynomial", "columns": []}"#.to_owned(), "`columns`: it is empty"),
        (r#"{"kind": "polynomial", "degree": 1, "columns": ["a"]}"#.to_owned(), "`degree`: 1 is not between 2 and 9"),
        (
            format!(
                "{{\"kind\": \"polynomial\", \"columns\": {:?}}}",
                (0..450).map(|k| k.to_string()).collect::<Vec<_>>()
            ),
            "more than 100000 columns would be made",
        ),
    ] {
        let error = fit(&json).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
    let fitted = fit(r#"{"kind": "interactions", "columns": ["a", "b"]}"#).unwrap();
    let large = crate::table(["a", "b"].map(|name| (name, numbers(&[1.0, 1e200]))));
    let error = fitted.transform(large).unwrap_err();
    assert!(error.to_string().contains("row 2, column `a*b`: the result of the map overflows"), "{error}");
}
