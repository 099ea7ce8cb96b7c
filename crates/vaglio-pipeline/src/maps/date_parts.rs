//! Numeric parts of dates.

use super::columns;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
pub use vaglio_core::DatePart;
use vaglio_core::chrono::{DateTime, Datelike, NaiveDateTime, Timelike};
use vaglio_core::{
    Cells, Error, Expression, FittedMap, Function, Map, Numbers, Origin, OutputUnit, Result, Table, part, saved,
};

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

vaglio_core::setters!(DateParts { cyclic: bool;; columns: [String], parts: [DatePart] });

/// Fitted [`DateParts`], with the parts of each column.
#[saved(FittedMap, "date_parts")]
#[derive(Clone, PartialEq, Eq)]
pub struct FittedDateParts {
    columns: BTreeMap<String, Vec<DatePart>>,
    cyclic: bool,
}

const SECONDS_OF_A_DAY: f64 = 86_400.0;

impl Map for DateParts {
    fn fit(&self, table: &Table, _weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        let takes = |cells: &Cells| matches!(cells, Cells::Dates(_));
        let chosen = columns::chosen(table, self.columns.as_deref(), "columns of dates", takes)?;
        let parts = |cells: &Cells| self.parts.clone().unwrap_or_else(|| usual(cells));
        let columns = chosen.into_iter().map(|(name, cells)| (name.to_owned(), parts(cells))).collect();
        let fitted = FittedDateParts { columns, cyclic: self.cyclic };
        let made = table.names().flat_map(|name| match fitted.columns.get(name) {
            Some(parts) => fitted.outputs(name, parts).map(|(output, _)| output).collect(),
            None => vec![name.to_owned()],
        });
        columns::unless_twice("parts", made.collect())?;
        Ok(Box::new(fitted))
    }

    fn check(&self) -> Result<()> {
        if let Some(parts) = &self.parts {
            if parts.is_empty() {
                return Err(Error::setting("parts", "it is empty; leave it out for the usual ones"));
            }
            if let Some(index) = (0..parts.len()).find(|&k| parts[..k].contains(&parts[k])) {
                let name = parts[index].name();
                return Err(Error::setting(format!("parts[{index}]"), format!("`{name}` is listed twice")));
            }
        }
        columns::check(self.columns.as_deref())
    }
}

/// Default parts of a column.
fn usual(cells: &Cells) -> Vec<DatePart> {
    use DatePart::{Day, Days, Hour, Month, Weekday, Year};
    let mut parts = vec![Days, Year, Month, Day, Weekday];
    if matches!(cells, Cells::Dates(dates) if dates.iter().any(|date| date.rem_euclid(SECONDS_OF_A_DAY) > 0.0)) {
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

fn value_of(part: DatePart, seconds: f64, date: &NaiveDateTime) -> f64 {
    match part {
        DatePart::Seconds => seconds,
        DatePart::Days => seconds / SECONDS_OF_A_DAY,
        DatePart::Year => f64::from(date.year()),
        DatePart::Month => f64::from(date.month()),
        DatePart::Day => f64::from(date.day()),
        DatePart::Weekday => f64::from(date.weekday().number_from_monday()),
        DatePart::DayOfYear => f64::from(date.ordinal()),
        DatePart::Hour => f64::from(date.hour()),
        DatePart::Minute => f64::from(date.minute()),
    }
}

/// An output column: a part, or its sine or cosine.
#[derive(Debug, Clone, Copy)]
struct DatePartColumn {
    part: DatePart,
    wave: Option<Wave>,
}

/// Sine or cosine, with the first value and the period of the cycle.
type Wave = (Function, (f64, f64));

impl DatePartColumn {
    fn value(self, seconds: f64, date: &NaiveDateTime) -> f64 {
        let value = value_of(self.part, seconds, date);
        match self.wave {
            Some((function, (first, period))) => {
                let turn = TAU * (value - first) / period;
                if function == Function::Sin { turn.sin() } else { turn.cos() }
            }
            None => value,
        }
    }
}

impl FittedMap for FittedDateParts {
    fn origin(&self, name: &str) -> Option<Origin> {
        let (column, _) = self.find_output(name)?;
        Some(Origin::from_column(column).in_unit(OutputUnit::Code))
    }

    fn growth(&self, table: &Table) -> f64 {
        let made: usize = self.columns.values().map(Vec::len).sum();
        // A cyclic part becomes two columns.
        (2 * std::mem::size_of::<f64>() * made) as f64 * table.rows() as f64
    }

    fn for_outputs(&self, names: &[String]) -> Option<Box<dyn FittedMap>> {
        columns::restricted(self, names, |own, sources| own.columns.retain(|name, _| sources.contains(name)))
    }

    fn transform(&self, mut table: Table) -> Result<Table> {
        let mut out = Vec::new();
        for (name, cells) in table.take_columns() {
            match self.columns.get(&name) {
                Some(parts) => out.extend(self.parts(&name, &cells, parts, |row| table.origin(row))?),
                None => out.push((name, cells)),
            }
        }
        table.with_columns(out)
    }

    fn expression(&self, name: &str) -> Option<Expression> {
        let Some((column, made)) = self.find_output(name) else { return Some(Expression::column(name)) };
        let part = Expression::DatePart(made.part, Box::new(Expression::column(column)));
        Some(match made.wave {
            Some((function, (first, period))) => part.plus(-first).times(TAU).over(period).apply(function),
            None => part,
        })
    }
}

impl FittedDateParts {
    /// Date column and part of the output column `name`.
    fn find_output(&self, name: &str) -> Option<(&String, DatePartColumn)> {
        self.columns.iter().filter(|(column, _)| name.starts_with(column.as_str())).find_map(|(column, parts)| {
            let (_, made) = self.outputs(column, parts).find(|(output, _)| output == name)?;
            Some((column, made))
        })
    }

    /// Output columns for the parts of a date column.
    fn outputs<'s>(
        &'s self,
        column: &'s str,
        parts: &'s [DatePart],
    ) -> impl Iterator<Item = (String, DatePartColumn)> + 's {
        parts.iter().flat_map(move |&part| {
            let name = format!("{column}_{}", part.name());
            match cycle(part).filter(|_| self.cyclic) {
                None => vec![(name, DatePartColumn { part, wave: None })],
                Some(cycle) => vec![
                    (format!("{name}_sin"), DatePartColumn { part, wave: Some((Function::Sin, cycle)) }),
                    (format!("{name}_cos"), DatePartColumn { part, wave: Some((Function::Cos, cycle)) }),
                ],
            }
        })
    }

    fn parts(
        &self,
        name: &str,
        cells: &Cells,
        parts: &[DatePart],
        origin: impl Fn(usize) -> usize,
    ) -> Result<Vec<(String, Cells)>> {
        let dates = match cells {
            Cells::Dates(dates) => Cow::Borrowed(&dates[..]),
            other if columns::all_missing(other) => Cow::Owned(vec![f64::NAN; other.len()]),
            other => {
                let what = other.what();
                return Err(Error::Shape(format!(
                    "column `{name}` holds {what}, and in the training rows it held dates"
                )));
            }
        };
        let outputs: Vec<(String, DatePartColumn)> = self.outputs(name, parts).collect();
        let mut made = vec![Vec::with_capacity(dates.len()); outputs.len()];
        for (row, &seconds) in dates.iter().enumerate() {
            let date = moment(seconds);
            if date.is_none() && !seconds.is_nan() {
                let message = format!("row {}, column `{name}`: {seconds} seconds since 1970", origin(row) + 1);
                return Err(Error::Shape(format!("{message} is no date that a calendar has")));
            }
            for (column, (_, part)) in made.iter_mut().zip(&outputs) {
                column.push(date.as_ref().map_or(f64::NAN, |date| part.value(seconds, date)));
            }
        }
        let names = outputs.into_iter().map(|(name, _)| name);
        Ok(names.zip(made.into_iter().map(|values| Cells::Numbers(Numbers::from(values)))).collect())
    }
}

/// Date and time, to the second; `None` for a missing cell and outside the calendar's range.
fn moment(seconds: f64) -> Option<NaiveDateTime> {
    let whole = seconds.floor();
    // A cast of a larger number would saturate.
    let known = whole.abs() < 1e15;
    known.then(|| DateTime::from_timestamp(whole as i64, 0)).flatten().map(|moment| moment.naive_utc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::fitting::{fit, values};

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
        assert_eq!((fitted.divisor("d_year"), fitted.divisor("x")), (None, Some(1.0)));
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
