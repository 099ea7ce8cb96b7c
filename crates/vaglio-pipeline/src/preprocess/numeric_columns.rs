//! Conversion of tables to numeric columns, within the memory budget.

use vaglio_core::{Cells, Columns, Error, MapFormulas, Result, Table};
use vaglio_tables::budget::Budget;

/// Refuses a map whose output would exceed the memory budget, before it is made.
///
/// # Errors
/// [`Error::Setting`] on `limits.memory`.
pub fn unless_too_large(map: &MapFormulas, table: &Table, budget: Budget) -> Result<()> {
    let remedy = "leave columns out by data.exclude, pool rare levels by `rare`, or raise the limit";
    let what = format_args!("{{kind: {}}}: the columns that it makes of {} rows", map.kind, table.rows());
    budget.need(map.growth(table), what, remedy)
}

/// Takes the columns of a table without text, dates and missing cells; the rows stay.
///
/// # Errors
/// * [`Error::NonFinite`] for a missing cell.
/// * [`Error::Setting`] for a column of text or dates, with a remedy.
pub fn numeric(table: &mut Table) -> Result<(Columns, Vec<String>)> {
    let (mut columns, mut names) = (Columns::new(table.rows()), Vec::new());
    for (name, cells) in table.take_columns() {
        if cells.numbers().is_none() {
            let map = if matches!(cells, Cells::Text(_)) { "one_hot" } else { "date_parts" };
            let example = (0..cells.len()).find(|&row| !cells.is_missing(row)).map(|row| cells.label(row));
            let (what, example) = (cells.what(), example.unwrap_or_default());
            let message = format!(
                "the column `{name}` holds {what} (`{example}`, …); add {{kind: {map}}} to preprocess or the column to data.exclude"
            );
            return Err(Error::setting("preprocess", message));
        }
        if let Some((first, count)) = cells.missing() {
            return Err(Error::NonFinite {
                row: table.origin(first) + 1,
                column: name,
                value: "a missing cell".into(),
                count,
                file: None,
                remedy: Some("add {kind: impute} to preprocess, or the column to data.exclude; `mean` and `median` fill numbers, `most_frequent` text too".into()),
            });
        }
        if let Cells::Numbers(numbers) = cells {
            columns.push(numbers);
            names.push(name);
        }
    }
    Ok((columns, names))
}
