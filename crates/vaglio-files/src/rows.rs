//! A table as read: filters of its rows, types of its columns, weights, folds and order.

use super::assignment::Assignment;
use super::roles::DataSettings;
use super::series::{arrange_rows, named_cells, number_cells, whole_numbers};
use super::targets::same_label;
use std::collections::{BTreeSet, HashMap};
use vaglio_core::numerals::holds;
use vaglio_core::{Cells, Error, Result, Table, join};
use vaglio_pipeline::document::Label;
use vaglio_pipeline::pipeline::{DataSpec, RowFilter};
use vaglio_report::record::{LeftOutReason, LeftOutRows};
use vaglio_tables::read::{BEYOND_DOUBLES, Hint, LEADING_ZEROS, date_span};
use vaglio_tables::{ColumnProfile, DateOrder, InferredType, TableProfile, quote_for_yaml};

/// A table as read.
#[derive(Default)]
pub struct RawTable {
    /// Rows that count, once they are in order.
    pub table: Table,
    /// All rows, if maps use lags.
    pub all: Option<Table>,
    pub profile: TableProfile,
    /// Type hints that it was read by.
    pub hints: HashMap<String, Hint>,
    pub is_training: bool,
    /// Rows left out, by reason.
    pub left_out: Vec<LeftOutRows>,
    /// Estimated rows per row that was read.
    pub row_factor: f64,
}

/// Evenly spaced rows, at most `most`.
pub fn evenly_spaced(rows: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(rows.div_ceil(most).max(1))
}

impl DataSettings<'_> {
    /// Leaves out filtered rows and the columns read for filters only; adjusts the profile.
    ///
    /// # Errors
    /// Returns [`Error::Setting`] for filters that do not fit their column or leave no row. Returns [`Error::Shape`] if
    /// every target is missing.
    pub fn filter_rows(&self, raw: &mut RawTable) -> Result<()> {
        let (RawTable { table, profile, hints, is_training, left_out, .. }, spec) = (raw, &self.spec);
        let mut kept: Vec<usize> = (0..table.rows()).collect();
        let mut record = |reason: LeftOutReason, column: &str, filter: Option<String>, count: usize| {
            if count > 0 {
                let (rows, test_rows) = if *is_training { (count, 0) } else { (0, count) };
                left_out.push(LeftOutRows { reason, column: column.to_owned(), filter, rows, test_rows });
            }
        };
        for (field, filter) in spec.filters() {
            let Some(cells) = table.get(&filter.column) else { continue };
            let passes = passing(&field, filter, cells, spec.read.dates, *is_training)?;
            let before = kept.len();
            kept.retain(|&row| passes[row]);
            record(LeftOutReason::Filter, &filter.column, Some(filter.words()), before - kept.len());
            if kept.is_empty() {
                return Err(Error::setting(field, format!("no row is left where `{}`", filter.words())));
            }
        }
        // For lags, rows without a target stay in the table if their position is known.
        let role_columns = self.row_roles().filter(|(field, _)| *field != "data.weights");
        let role_columns: Vec<&Cells> = role_columns.filter_map(|(_, name)| table.get(name)).collect();
        let is_placed = |row: usize| self.lags.needs_order && role_columns.iter().all(|cells| !cells.is_missing(row));
        let mut counting = kept.clone();
        if spec.missing_target.drops() {
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
        for name in self.for_filters_alone(&profile.aside) {
            table.take(name);
        }
        if kept.len() < table.rows() {
            *table = table.select_rows(&kept);
            profile.update_from(table, hints);
        }
        Ok(())
    }

    /// Rows with known targets and with known weights other than 0.
    fn counting(&self, table: Table) -> Table {
        let known = self.spec.target.names().iter().chain(&self.spec.weights).filter_map(|name| table.get(name));
        let known: Vec<&Cells> = known.filter(|cells| cells.missing().is_some()).collect();
        let weights = named_cells(&table, &self.spec.weights).and_then(Cells::numbers).map(|cells| cells.values());
        let weighs = |row: usize| weights.as_ref().is_none_or(|weights| weights[row] != 0.0);
        let rows: Vec<usize> =
            (0..table.rows()).filter(|&row| weighs(row) && known.iter().all(|cells| !cells.is_missing(row))).collect();
        if rows.len() == table.rows() { table } else { table.select_rows(&rows) }
    }

    /// Rejects missing cells in targets and role columns.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with file, row and column.
    pub fn check_complete(&self, RawTable { table, profile, .. }: &RawTable) -> Result<()> {
        let role_columns = self.row_roles().map(|(_, name)| name);
        let DataSpec { target, weights, .. } = &self.spec;
        let drops = self.lags.needs_order && self.spec.missing_target.drops();
        let counted = target.names().iter().chain(weights).filter(|_| !drops).map(String::as_str);
        profile.check_complete(table, counted, Some("to leave such rows out set data.missing_target: drop"))?;
        profile.check_complete(
            table,
            role_columns,
            Some("each row needs one; fill it in, or leave the row out of the file"),
        )
    }

    /// Rejects text features that are not declared as classes and numeric-looking targets, and removes columns without
    /// any value.
    ///
    /// # Errors
    /// [`Error::Setting`] with the column, its inferred type and a remedy.
    pub fn check_types(&self, raw: &mut RawTable) -> Result<()> {
        for column in &raw.profile.columns {
            if column.taken == InferredType::Empty && !self.is_named(&column.name) {
                raw.table.take(&column.name);
            }
        }
        let raw = &*raw;
        let types = &self.spec.types;
        let is_free = |name: &String| !types.contains_key(name) && self.row_role(name).is_none();
        let mut free = raw.profile.columns.iter().filter(|column| is_free(&column.name));
        free.find_map(|column| self.type_error(column, raw)).map_or(Ok(()), Err)
    }

    /// Error for a feature or target of a type that it cannot have.
    fn type_error(&self, column: &ColumnProfile, raw: &RawTable) -> Option<Error> {
        let ColumnProfile { name, taken, levels, .. } = column;
        let spec = &self.spec;
        let rows = raw.table.rows();
        let is_target = self.is_target(name);
        let note = column.note.as_deref();
        if note == Some(BEYOND_DOUBLES) {
            let are_classes = spec.task.is_some() || spec.positive.is_some() || *levels == 2;
            let cells = raw.table.get(name).filter(|_| !is_target || !are_classes)?;
            return Some(beyond(name, cells, raw, is_target));
        }
        let looks = match taken {
            InferredType::Identifier if *levels > 0 => "another text in every row, as identifiers do",
            InferredType::Text if *levels > 0 => "text of too many levels to be a class",
            _ => return None,
        };
        let cells = raw.table.get(name).filter(|_| !is_target || spec.task.is_none())?;
        if is_target {
            let message = format!(
                "`{name}` holds text of {levels} levels in {rows} rows, too many to be taken for classes; correct its cells, or \
                 set data.task: multiclass"
            );
            return Some(Error::setting("data.target", message));
        }
        let as_number =
            if note == Some(LEADING_ZEROS) { ", or number, which drops the zeros it begins with" } else { "" };
        // Text of a file with declared types was not inspected.
        let first = (0..rows).find(|&row| !cells.is_missing(row));
        let is_date = first.is_some_and(|row| date_span(&cells.label(row), spec.read.dates).is_some());
        let as_date = if is_date { ", or date" } else { "" };
        let message = format!(
            "the column `{name}` holds {looks} ({levels} levels in {rows} rows); add it to data.exclude, or set data.types: \
             {{{}: class}} if each level is to be a column{as_date}{as_number}",
            quote_for_yaml(name)
        );
        Some(Error::setting("data.types", message))
    }

    /// Checks the weights, puts the rows in the order of series and time, and leaves out those that do not count.
    pub fn arrange(&self, raw: &mut RawTable) -> Result<()> {
        let DataSpec { series, time, weights, .. } = &self.spec;
        check_weights(weights, &raw.table)?;
        let in_steps = self.lags.needs_order || self.needs_order;
        let table = arrange_rows(std::mem::take(&mut raw.table), series, time, in_steps)?;
        raw.all = self.lags.needs_order.then(|| table.clone());
        raw.table = self.counting(table);
        Ok(())
    }

    /// Fold or number of each row by the assigning column.
    ///
    /// # Errors
    /// [`Error::Setting`] for a word that is not allowed, with its row.
    pub fn fold_of_each_row(&self, table: &Table) -> Result<Option<Vec<u32>>> {
        let Some(Assignment { column: name, field, words }) = &self.assignment else { return Ok(None) };
        let Some(cells) = table.get(name) else { return Ok(None) };
        if words.is_empty() {
            return Ok(Some(number_cells(cells)));
        }
        let number = |row: usize| {
            let found = cells.label(row);
            words.iter().position(|word| *word == found).map(|at| at as u32).ok_or_else(|| {
                let words = join(words.iter().map(|word| format!("`{word}`")), " or ");
                let row = table.origin(row) + 1;
                Error::setting(field, format!("row {row} of the column `{name}` reads `{found}`; it is {words}"))
            })
        };
        (0..cells.len()).map(number).collect::<Result<_>>().map(Some)
    }
}

/// Error for a numeric column with a value that no double represents.
fn beyond(name: &str, cells: &Cells, raw: &RawTable, is_target: bool) -> Error {
    let is_held = |text: &str| text.parse().is_ok_and(|value| holds(text, value));
    let row = (0..cells.len()).find(|&row| !is_held(&cells.label(row))).unwrap_or(0);
    let (file, at) = raw.profile.place(raw.table.origin(row));
    let typed = quote_for_yaml(name);
    let remedy = if is_target {
        format!("set data.types: {{{typed}: class}} if its values are classes")
    } else {
        format!(
            "if it is an identifier, add it to data.exclude, from where groups, series and rows may still name it; set data.types: \
             {{{typed}: class}} if each value is to be a column"
        )
    };
    let message = format!(
        "row {}, column `{name}`: a double cannot hold {} exactly; {remedy}, or {{{typed}: number}} for the next double",
        at + 1,
        cells.label(row)
    );
    Error::unreadable(file.cloned().unwrap_or_default(), message)
}

/// Rejects weights that are text, negative or all 0.
pub fn check_weights(name: &Option<String>, table: &Table) -> Result<()> {
    let (Some(name), Some(cells)) = (name, named_cells(table, name)) else { return Ok(()) };
    let Some(weights) = cells.numbers().map(|numbers| numbers.values()) else {
        return Err(Error::setting("data.weights", format!("the column `{name}` holds text; weights are numbers")));
    };
    if let Some(row) = weights.iter().position(|w| *w < 0.0) {
        let number = table.origin(row) + 1;
        let message = format!("row {number}, column `{name}`: the weight {} is negative", weights[row]);
        return Err(Error::Shape(message));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(Error::Shape(format!("column `{name}`: every row has weight 0")));
    }
    Ok(())
}

/// Adds rows of the test table that were left out to those of the training table.
pub fn merge_left_out(training: &mut Vec<LeftOutRows>, from_test: &[LeftOutRows]) {
    for test in from_test {
        let is_alike = |rows: &&mut LeftOutRows| {
            (rows.reason, &rows.column, &rows.filter) == (test.reason, &test.column, &test.filter)
        };
        match training.iter_mut().find(is_alike) {
            Some(rows) => rows.test_rows += test.test_rows,
            None => training.push(test.clone()),
        }
    }
}

/// Whether each row passes the filter.
fn passing(field: &str, filter: &RowFilter, cells: &Cells, order: DateOrder, is_training: bool) -> Result<Vec<bool>> {
    if let Some(labels) = &filter.is {
        return having(&format!("{field}.is"), cells, labels, order, is_training);
    }
    let all = [f64::NEG_INFINITY, f64::INFINITY];
    Ok(match cells {
        Cells::Dates(dates) => {
            let date = |text: &str, at: usize| date_span(text, order).map(|span| span[at]);
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
pub fn having(field: &str, cells: &Cells, labels: &[Label], order: DateOrder, is_training: bool) -> Result<Vec<bool>> {
    let mut has = vec![false; cells.len()];
    let own: Vec<String> = (0..cells.len()).map(|row| cells.label(row)).collect();
    for Label(label) in labels {
        let is_written = own.contains(label);
        let is_same = |row: usize| match cells {
            Cells::Dates(dates) => date_span(label, order)
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
