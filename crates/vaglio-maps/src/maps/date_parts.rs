//! Numeric parts of dates.

use super::columns;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
pub use vaglio_core::DatePart;
use vaglio_core::{Function, Map, Result, prelude::*};

/// Replaces date columns by numeric columns: `when` becomes `when_days`, `when_year`, `when_month` and so on.
///
/// A missing date has missing parts. Cost O(rows · parts).
///
/// # Errors
/// A date outside the range of the calendar, with row and column.
#[part(
    Map,
    "date_parts",
    summary = "year, month, weekday and other numbers of dates",
    example = "preprocess: [{kind: date_parts, cyclic: false}]"
)]
#[derive(PartialEq, Eq)]
pub struct DateParts {
    /// Columns to transform; by default all date columns.
    pub columns: Option<Vec<String>>,
    /// Parts to compute; by default `days`, `year`, `month`, `day` and `weekday`, and `hour` for a column with times of
    /// day in the training rows.
    pub parts: Option<Vec<DatePart>>,
    /// Whether a cyclic part is replaced by its sine and cosine, so that its last and first values are neighbors:
    /// `when_month_sin` and `when_month_cos`.
    pub cyclic: bool,
}

impl Map for DateParts {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let takes = |cells: &Cells| matches!(cells, Cells::Dates(_));
        let chosen = columns::chosen(rows.table, self.columns.as_deref(), "columns of dates", takes)?;
        let parts = |cells: &Cells| self.parts.clone().unwrap_or_else(|| usual(cells));
        let columns = chosen.into_iter().map(|(name, cells)| (name.to_owned(), parts(cells))).collect();
        Ok(formulas(&columns, self.cyclic))
    }

    fn check_settings(&self) -> Result<()> {
        if let Some(parts) = &self.parts {
            columns::check_list("parts", parts, |part| format!("`{}`", part.word()))?;
        }
        columns::check(self.columns.as_deref())
    }
}

/// Default parts of a column.
fn usual(cells: &Cells) -> Vec<DatePart> {
    use DatePart::{Day, Days, Hour, Month, Weekday, Year};
    let mut parts = vec![Days, Year, Month, Day, Weekday];
    if matches!(cells, Cells::Dates(dates) if dates.iter().any(|date| date.rem_euclid(86_400.0) > 0.0)) {
        parts.push(Hour);
    }
    parts
}

/// First value and period of a cyclic part; `None` for others.
fn cycle(part: DatePart) -> Option<(f64, f64)> {
    match part {
        DatePart::Seconds | DatePart::Days | DatePart::Year => None,
        DatePart::Month => Some((1.0, 12.0)),
        DatePart::Day => Some((1.0, 31.0)),
        DatePart::Weekday => Some((1.0, 7.0)),
        DatePart::DayOfYear => Some((1.0, 366.0)),
        DatePart::Hour => Some((0.0, 24.0)),
        DatePart::Minute => Some((0.0, 60.0)),
    }
}

/// Formulas of the parts of each column.
pub fn formulas(columns: &BTreeMap<String, Vec<DatePart>>, is_cyclic: bool) -> MapFormulas {
    let formulas = columns.iter().flat_map(|(column, parts)| {
        parts.iter().flat_map(move |&part| {
            let value = Expression::DatePart(part, Box::new(Expression::column(column)));
            let name = format!("{column}_{}", part.word());
            let Some((first, period)) = cycle(part).filter(|_| is_cyclic) else { return vec![(name, value)] };
            let turn = value.plus(-first).times(TAU).over(period);
            let wave = |end: &str, function| (format!("{name}_{end}"), turn.clone().apply(function));
            vec![wave("sin", Function::Sin), wave("cos", Function::Cos)]
        })
    });
    let formulas: MapFormulas = formulas.map(|(name, value): (String, Expression)| value.named(name)).collect();
    formulas.named_by("parts").with_domain("{} seconds since 1970 is no date that a calendar has")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::tests::{fit, values};
    use vaglio_core::{Numbers, Table};

    const LEAP_DAY: f64 = 951_782_400.0;

    fn table(name: &str, dates: &[f64]) -> Table {
        Table::new(vec![(name.to_owned(), Cells::Dates(dates.to_vec()))]).unwrap()
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
        assert_eq!(
            (fitted.sources("d_month_sin"), fitted.sources("d_month")),
            (vec!["d".into()], vec!["d_month".into()])
        );
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
        let text = Table::new(vec![("d".into(), Cells::Text(vec!["soon".into(), String::new()]))]).unwrap();
        assert!(
            fitted
                .transform(text)
                .unwrap_err()
                .to_string()
                .contains("holds text, and in the training rows it held dates")
        );
        let empty = Table::new(vec![("d".into(), Cells::Text(vec![String::new()]))]).unwrap();
        assert!(values(&fitted.transform(empty).unwrap(), "d_year")[0].is_nan());
        let mut clash = training.into_columns();
        clash.push(("d_day".into(), Cells::Numbers(Numbers::from(vec![1.0]))));
        let error = fit(r#"{"kind": "date_parts"}"#, &Table::new(clash).unwrap()).unwrap_err().to_string();
        assert!(error.contains("a second column `d_day` would be made"), "{error}");
    }
}
