//! Column lookup and checks shared by maps.

use std::borrow::Cow;
use vaglio_core::{Cells, Error, Result, Table};

/// Refuses a list of columns that is empty or names one twice.
pub fn check(columns: Option<&[String]>) -> Result<()> {
    columns.map_or(Ok(()), |columns| check_list("columns", columns, |column| format!("`{column}`")))
}

/// Refuses a list in the setting `field` that is empty or holds an entry twice; `shown` writes the entry.
pub fn check_list<T: PartialEq>(field: &str, list: &[T], shown: impl Fn(&T) -> String) -> Result<()> {
    if list.is_empty() {
        return Err(Error::setting(field, "it is empty; list at least one entry, or leave the setting out"));
    }
    match (0..list.len()).find(|&k| list[..k].contains(&list[k])) {
        Some(index) => {
            Err(Error::setting(format!("{field}[{index}]"), format!("{} is listed twice", shown(&list[index]))))
        }
        None => Ok(()),
    }
}

/// Columns of the table that satisfy `takes`. If columns are named, each must exist and satisfy it.
///
/// # Errors
/// * [`Error::UnknownName`] for a named column that does not exist.
/// * [`Error::Setting`] for a named column that the map does not accept; `what` says which it accepts.
pub fn chosen<'t>(
    table: &'t Table,
    columns: Option<&[String]>,
    what: &str,
    takes: impl Fn(&Cells) -> bool,
) -> Result<Vec<(&'t str, &'t Cells)>> {
    let all = table.columns().iter().map(|(name, cells)| (name.as_str(), cells));
    let Some(columns) = columns else { return Ok(all.filter(|(_, cells)| takes(cells)).collect()) };
    let named = |(index, wanted): (usize, &String)| {
        let field = || format!("columns[{index}]");
        let Some(found) = all.clone().find(|(name, _)| name == wanted) else {
            return Err(Error::unknown(field(), "column", wanted, table.names()));
        };
        if takes(found.1) {
            return Ok(found);
        }
        let remedy = match found.1 {
            Cells::Text(_) => "; {kind: one_hot} or {kind: ordinal} before it makes numbers of them",
            Cells::Dates(_) => "; {kind: date_parts} before it makes numbers of them",
            Cells::Numbers(_) => "",
        };
        Err(Error::setting(
            field(),
            format!("the column `{wanted}` holds {}, and {what} are taken{remedy}", found.1.what()),
        ))
    };
    columns.iter().enumerate().map(named).collect()
}

/// Columns of text, or the columns that are named, whose values are levels.
pub fn levels<'t>(table: &'t Table, columns: Option<&[String]>) -> Result<Vec<(&'t str, &'t Cells)>> {
    chosen(table, columns, "columns of text", |cells| columns.is_some() || matches!(cells, Cells::Text(_)))
}

/// Numeric columns, converted to doubles one by one. If columns are named, each must be numeric.
pub fn numbers<'t>(
    table: &'t Table,
    columns: Option<&[String]>,
) -> Result<impl Iterator<Item = (&'t str, Cow<'t, [f64]>)> + use<'t>> {
    let chosen = chosen(table, columns, "columns of numbers", |cells| matches!(cells, Cells::Numbers(_)))?;
    Ok(chosen.into_iter().filter_map(|(name, cells)| Some((name, cells.numbers()?.values()))))
}
