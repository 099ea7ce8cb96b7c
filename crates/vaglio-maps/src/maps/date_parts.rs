//! Numeric parts of dates.

use super::columns;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use vaglio_core::{DatePart, Function, Map, Result, prelude::*};

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
