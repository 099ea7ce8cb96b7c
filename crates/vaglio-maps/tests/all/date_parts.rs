//! Parts of dates.

use crate::{fit, text, values};
use std::f64::consts::TAU;
use vaglio_core::{Cells, Numbers, Table};

const LEAP_DAY: f64 = 951_782_400.0;

fn table(name: &str, dates: &[f64]) -> Table {
    crate::table([(name, Cells::Dates(dates.to_vec()))])
}

#[test]
fn dates_become_their_parts() {
    // 29 February 2000, a Tuesday; 31 December 1969, a Wednesday.
    let training = table("d", &[LEAP_DAY, -86400.0, f64::NAN]);
    let out = fit(r#"{"kind": "date_parts"}"#, &training).unwrap().transform(training).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["d_days", "d_year", "d_month", "d_day", "d_weekday"]);
    let of = |name: &str| values(&out, name)[..2].to_vec();
    assert_eq!((of("d_days"), of("d_year")), (vec![11016.0, -1.0], vec![2000.0, 1969.0]));
    assert_eq!((of("d_month"), of("d_day"), of("d_weekday")), (vec![2.0, 12.0], vec![29.0, 31.0], vec![2.0, 3.0]));
    assert!(out.columns().iter().all(|(_, cells)| cells.is_missing(2)));
    let evening = table("d", &[LEAP_DAY + 23.0 * 3600.0 + 59.0 * 60.0 + 0.5]);
    let out = fit(r#"{"kind": "date_parts"}"#, &evening).unwrap().transform(evening.clone()).unwrap();
    assert_eq!(values(&out, "d_hour"), [23.0]);
    let parts = r#"{"kind": "date_parts", "parts": ["seconds", "minute", "day_of_year"]}"#;
    let out = fit(parts, &evening).unwrap().transform(evening).unwrap();
    assert_eq!(values(&out, "d_seconds"), [LEAP_DAY + 86340.5]);
    assert_eq!((values(&out, "d_minute"), values(&out, "d_day_of_year")), (vec![59.0], vec![60.0]));
}

#[test]
fn parts_that_begin_anew_lie_on_a_circle() {
    let training = table("d", &[LEAP_DAY, -86400.0]);
    let json = r#"{"kind": "date_parts", "parts": ["year", "month"], "cyclic": true}"#;
    let fitted = fit(json, &training).unwrap();
    let out = fitted.transform(training).unwrap();
    assert_eq!(out.names().collect::<Vec<_>>(), ["d_year", "d_month_sin", "d_month_cos"]);
    assert!((values(&out, "d_month_sin")[0] - 0.5).abs() < 1e-15);
    assert!((values(&out, "d_month_cos")[1] - (TAU / 12.0).cos()).abs() < 1e-15);
    assert_eq!((fitted.sources("d_month_sin"), fitted.sources("d_month")), (vec!["d".into()], vec!["d_month".into()]));
    assert_eq!(fitted.get("d_year").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Code));
}

#[test]
fn what_is_no_date_is_refused() {
    let training = table("d", &[0.0]);
    for (json, words) in [
        (r#"{"kind": "date_parts", "parts": []}"#, "`parts`: it is empty"),
        (r#"{"kind": "date_parts", "parts": ["day", "day"]}"#, "`parts[1]`: `day` is listed twice"),
        (r#"{"kind": "date_parts", "columns": ["e"]}"#, "there is no column `e`"),
    ] {
        let error = fit(json, &training).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
    let fitted = fit(r#"{"kind": "date_parts"}"#, &training).unwrap();
    let error = fitted.transform(table("d", &[0.0, 1e18])).unwrap_err().to_string();
    assert!(error.contains("row 2, column `d`: 1000000000000000000 seconds since 1970 is no date"), "{error}");
    let words = crate::table([("d", text(&["soon", ""]))]);
    assert!(
        fitted.transform(words).unwrap_err().to_string().contains("holds text, and in the training rows it held dates")
    );
    let empty = crate::table([("d", text(&[""]))]);
    assert!(values(&fitted.transform(empty).unwrap(), "d_year")[0].is_nan());
    let mut clash = training.into_columns();
    clash.push(("d_day".into(), Cells::Numbers(Numbers::from(vec![1.0]))));
    let error = fit(r#"{"kind": "date_parts"}"#, &Table::new(clash).unwrap()).unwrap_err().to_string();
    assert!(error.contains("a second column `d_day` would be made"), "{error}");
}
