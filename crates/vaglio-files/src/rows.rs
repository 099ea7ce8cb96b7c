//! Filters rows by the settings and by known targets.

use super::roles::Roles;
use super::series::whole_numbers;
use super::targets::same_label;
use std::collections::{BTreeSet, HashMap};
use vaglio_core::{Cells, Error, Result, Table};
use vaglio_pipeline::document::Label;
use vaglio_pipeline::pipeline::{DataSpec, MissingTarget, RowFilter};
use vaglio_report::record::{LeftOutReason, LeftOutRows};
use vaglio_tables::read::{Hint, TableProfile, date_span};

/// Evenly spaced rows, at most `most`.
pub(crate) fn evenly_spaced(rows: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(rows.div_ceil(most).max(1))
}

/// Leaves out filtered rows and the columns read for filters only; adjusts the profile.
///
/// # Errors
/// Returns [`Error::Setting`] for filters that do not fit their column or leave no row. Returns [`Error::Shape`] if
/// every target is missing.
pub(super) fn taking_part(
    roles: &Roles<'_>,
    mut table: Table,
    profile: &mut TableProfile,
    hints: &HashMap<String, Hint>,
    is_training: bool,
) -> Result<(Table, Vec<LeftOutRows>)> {
    let spec = roles.spec;
    let mut kept: Vec<usize> = (0..table.rows()).collect();
    let mut left_out = Vec::new();
    let mut record = |reason: LeftOutReason, column: &str, filter: Option<String>, count: usize| {
        if count > 0 {
            let (rows, test_rows) = if is_training { (count, 0) } else { (0, count) };
            left_out.push(LeftOutRows { reason, column: column.to_owned(), filter, rows, test_rows });
        }
    };
    for (field, filter) in spec.filters() {
        let Some(cells) = table.get(&filter.column) else { continue };
        let passes = passing(&field, filter, cells, spec, is_training)?;
        let before = kept.len();
        kept.retain(|&row| passes[row]);
        record(LeftOutReason::Filter, &filter.column, Some(filter.words()), before - kept.len());
        if kept.is_empty() {
            return Err(Error::setting(field, format!("no row is left where `{}`", filter.words())));
        }
    }
    // For lags, rows without a target stay in the table if their position is known.
    let of_rows = roles.row_roles().into_iter().filter(|(field, _)| *field != "data.weights");
    let of_rows: Vec<&Cells> = of_rows.filter_map(|(_, name)| table.get(name)).collect();
    let is_placed = |row: usize| roles.lags.is_some() && of_rows.iter().all(|cells| !cells.is_missing(row));
    let mut counting = kept.clone();
    if spec.missing_target == MissingTarget::Drop {
        let targets = spec.target.names().iter().map(|name| (LeftOutReason::MissingTarget, name));
        for (reason, name) in targets.chain(spec.weights.iter().map(|name| (LeftOutReason::MissingWeight, name))) {
            let Some(cells) = table.get(name) else { continue };
            let before = counting.len();
            counting.retain(|&row| !cells.is_missing(row));
            kept.retain(|&row| !cells.is_missing(row) || is_placed(row));
            record(reason, name, None, before - counting.len());
            if counting.is_empty() {
                return Err(Error::Shape(format!("the column `{name}` has no value in any row that is left")));
            }
        }
    }
    roles.for_filters_alone(&profile.aside).for_each(|name| drop(table.take(name)));
    if kept.len() < table.rows() {
        table = table.select_rows(&kept);
        profile.update_from(&table, hints);
    }
    Ok((table, left_out))
}

/// Merges the reasons of training and test rows.
pub(super) fn together(mut of_training: Vec<LeftOutRows>, of_test: Vec<LeftOutRows>) -> Vec<LeftOutRows> {
    for test in of_test {
        let same =
            |of: &&mut LeftOutRows| (of.reason, &of.column, &of.filter) == (test.reason, &test.column, &test.filter);
        match of_training.iter_mut().find(same) {
            Some(of) => of.test_rows += test.test_rows,
            None => of_training.push(test),
        }
    }
    of_training
}

/// Whether each row passes the filter.
fn passing(field: &str, filter: &RowFilter, cells: &Cells, spec: &DataSpec, is_training: bool) -> Result<Vec<bool>> {
    if let Some(labels) = &filter.is {
        return having(&format!("{field}.is"), cells, labels, spec, is_training);
    }
    let all = [f64::NEG_INFINITY, f64::INFINITY];
    Ok(match cells {
        Cells::Dates(dates) => {
            let date = |text: &str, at: usize| date_span(text, spec.read.dates).map(|span| span[at]);
            let [from, to] = bounds(field, filter, all, "dates; write one as 2024-01-31", date)?;
            // A time span ends before the next second; a single moment is included.
            let moment = filter.to.as_ref().is_some_and(|to| to.0.contains(':'));
            dates.iter().map(|date| *date >= from && (*date < to || moment && *date == to)).collect()
        }
        Cells::Numbers(numbers) => {
            let number = |text: &str, _| text.parse().ok().filter(|value: &f64| value.is_finite());
            let [from, to] = bounds(field, filter, all, "numbers", number)?;
            let column = numbers.view();
            (0..column.len()).map(|row| column.get(row)).map(|value| value >= from && value <= to).collect()
        }
        Cells::Text(text) => match whole_numbers(text) {
            Some(wholes) => {
                let all = [i128::MIN, i128::MAX];
                let [from, to] = bounds(field, filter, all, "whole numbers", |text, _| text.parse().ok())?;
                wholes.iter().map(|whole| whole.is_some_and(|whole| (from..=to).contains(&whole))).collect()
            }
            None => {
                bounds(field, filter, all, "text, which has no order; give `is`", |_, _| None)?;
                vec![false; text.len()]
            }
        },
    })
}

/// Bounds of a filter, by default `all`; `parse` reads the lower one with 0 and the upper one with 1.
fn bounds<T: Copy>(
    field: &str,
    filter: &RowFilter,
    all: [T; 2],
    what: &str,
    parse: impl Fn(&str, usize) -> Option<T>,
) -> Result<[T; 2]> {
    let bound = |key: &str, bound: &Option<Label>, at: usize| {
        let Some(Label(text)) = bound else { return Ok(all[at]) };
        let wrong = format!("it is `{text}`, and `{}` holds {what}", filter.column);
        parse(text, at).ok_or_else(|| Error::setting(format!("{field}.{key}"), wrong))
    };
    Ok([bound("from", &filter.from, 0)?, bound("to", &filter.to, 1)?])
}

/// Whether each row has one of the values.
///
/// # Errors
/// [`Error::UnknownName`] for a value that no training row has.
pub(super) fn having(
    field: &str,
    cells: &Cells,
    labels: &[Label],
    spec: &DataSpec,
    is_training: bool,
) -> Result<Vec<bool>> {
    let mut has = vec![false; cells.len()];
    let own: Vec<String> = (0..cells.len()).map(|row| cells.label(row)).collect();
    for Label(label) in labels {
        let is_written = own.contains(label);
        let is_same = |row: usize| match cells {
            Cells::Dates(dates) => date_span(label, spec.read.dates)
                .is_some_and(|[from, to]| dates[row] >= from && (dates[row] < to || dates[row] == from)),
            // Codes such as `01` are compared as written if some row has them so.
            Cells::Text(_) if is_written && own[row].parse::<f64>().is_ok() => own[row] == *label,
            Cells::Text(_) | Cells::Numbers(_) => same_label(&own[row], label),
        };
        let rows: Vec<usize> = (0..cells.len()).filter(|&row| !cells.is_missing(row) && is_same(row)).collect();
        rows.iter().for_each(|&row| has[row] = true);
        if rows.is_empty() && is_training {
            let known: BTreeSet<&str> = own.iter().map(String::as_str).filter(|own| !own.is_empty()).collect();
            return Err(Error::unknown(field, "label", label, known));
        }
    }
    Ok(has)
}
