//! Columns of dates.

use super::super::cell::{ColumnRules, DateForm, date_forms, date_seconds, has_zone};
use super::super::column_builder::{CountedCells, RawColumn};
use super::super::fault::{CORRECT, InvalidCell};
use super::outcome::{Outcome, done, with_notation};
use crate::{Notation, quote_for_yaml};
use vaglio_core::Cells;

/// Number of cells by which a column is taken for dates.
pub(super) const SAMPLE: usize = 64;

/// Reads a column of dates, all in the format that fits most cells.
pub(super) fn dates(column: &RawColumn, missing: &CountedCells, rules: &ColumnRules<'_>) -> Outcome {
    let present = column.rows() - missing.count;
    let cells = || column.trimmed_cells().enumerate().filter(|(_, cell)| !rules.is_missing(cell));
    let Some((first, example)) = cells().next() else {
        let none = Cells::Dates(vec![f64::NAN; column.rows()]);
        return done(none, missing.clone(), None, rules);
    };
    let mut forms: Vec<DateForm> = Vec::new();
    for form in cells().take(SAMPLE).flat_map(|(_, cell)| date_forms(cell, rules.dates)) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    let count = |form: &DateForm| cells().filter(|(_, cell)| date_seconds(cell, form).is_some()).count();
    let fitting: Vec<usize> = forms.iter().map(count).collect();
    let most = fitting.iter().copied().max().unwrap_or(0);
    let best: Vec<DateForm> = forms.into_iter().zip(fitting).filter(|fit| fit.1 == most).map(|fit| fit.0).collect();
    let [form] = best[..] else {
        if best.is_empty() {
            return Err(InvalidCell::new(first, example, present, "is no date", rules.remedy(example)));
        }
        let wrong = "may begin with the day or with the month, as all dates of the column";
        let as_text = format!("data.types: {{{}: text}}", quote_for_yaml(rules.name));
        let remedy = format!("set data.read.dates: day_first or month_first, or {as_text}");
        return Err(InvalidCell::new(first, example, present, wrong, remedy));
    };
    let odd = || cells().find(|(_, cell)| date_seconds(cell, form).is_none());
    if let Some((row, value)) = (most < present).then(odd).flatten() {
        let wrong = format!("is not a date as {most} of the column's {present} cells are");
        return Err(InvalidCell::new(row, value, present - most, wrong, rules.remedy(value)));
    }
    read_dates(column, form, &mut None, rules)
}

/// Reads a column of dates in one format. `zoned` is whether the times of day before have a time zone; the first sets
/// it.
///
/// # Errors
/// The first cell in another format; a time of day with a zone among others without one, and the reverse.
pub(in crate::read) fn read_dates(
    column: &RawColumn,
    form: DateForm,
    zoned: &mut Option<bool>,
    rules: &ColumnRules<'_>,
) -> Outcome {
    let (mut seconds, mut missing) = (Vec::with_capacity(column.rows()), CountedCells::default());
    for (row, cell) in column.trimmed_cells().enumerate() {
        if rules.is_missing(cell) {
            missing.push(row, cell);
            seconds.push(f64::NAN);
            continue;
        }
        let Some(date) = date_seconds(cell, form) else {
            return Err(InvalidCell::new(row, cell, 1, "is not a date as the cells before it are", CORRECT));
        };
        seconds.push(date);
    }
    let present = column.trimmed_cells().enumerate().filter(|(_, cell)| !rules.is_missing(cell));
    let clocks = present.filter_map(|(row, cell)| Some((row, cell, has_zone(cell)?)));
    let notation = zone_notation(zoned, clocks, rules)?;
    let note = match form {
        "%d-%m-%Y" | "%d/%m/%Y" => Some(DAY_FIRST.to_owned()),
        "%m-%d-%Y" | "%m/%d/%Y" => Some(MONTH_FIRST.to_owned()),
        _ => None,
    };
    with_notation(done(Cells::Dates(seconds), missing, note, rules), notation)
}

/// Notation of a column by its times of day: row, cell, and whether it has a time zone. `zoned` is whether the times
/// before have one; the first sets it.
///
/// # Errors
/// Fails for a time of day with a zone among others without one, and the reverse.
pub(super) fn zone_notation<C: AsRef<str>>(
    zoned: &mut Option<bool>,
    clocks: impl Iterator<Item = (usize, C, bool)>,
    rules: &ColumnRules<'_>,
) -> Result<Notation, InvalidCell> {
    for (row, cell, is_zoned) in clocks {
        let (expected, others) = match rules.known {
            Some(known) => (known.zoned, "times of day of the training rows"),
            None => (*zoned.get_or_insert(is_zoned), "times of day before it"),
        };
        if is_zoned != expected {
            let [own, their] = if is_zoned { ["a", "none"] } else { ["no", "one"] };
            let wrong = format!("has {own} time zone, and the {others} have {their}");
            let remedy = "write all with a zone, such as `Z`, or all without";
            return Err(InvalidCell::new(row, cell.as_ref(), 1, wrong, remedy));
        }
    }
    let zoned = *zoned == Some(true) || rules.known.is_some_and(|known| known.zoned);
    Ok(Notation { zoned, ..Notation::default() })
}

/// Note for dates read with the day first that could also begin with the month.
pub const DAY_FIRST: &str = "day first";
/// Note for dates that begin with the month.
pub const MONTH_FIRST: &str = "month first";
