//! Column lookup and checks shared by maps.

use std::borrow::Cow;
use std::collections::HashSet;
use vaglio_core::{Cells, Error, FittedMap, Numbers, Result, Table};

/// Reduces a fitted map to the columns behind some of its outputs; `retain` drops the others.
pub(super) fn restricted<M: FittedMap + Clone + 'static>(
    map: &M,
    names: &[String],
    retain: impl FnOnce(&mut M, &HashSet<String>),
) -> Option<Box<dyn FittedMap>> {
    let mut own = map.clone();
    let map: &dyn FittedMap = map;
    retain(&mut own, &names.iter().flat_map(|name| map.sources(name)).collect());
    Some(Box::new(own))
}

/// Refuses a list of columns that is empty or names one twice.
///
/// # Errors
/// [`Error::Setting`] on `columns`.
pub(super) fn check(columns: Option<&[String]>) -> Result<()> {
    let Some(columns) = columns else { return Ok(()) };
    if columns.is_empty() {
        return Err(Error::setting("columns", "it is empty; leave it out for all columns that the map can take"));
    }
    match (0..columns.len()).find(|&k| columns[..k].contains(&columns[k])) {
        Some(index) => {
            Err(Error::setting(format!("columns[{index}]"), format!("`{}` is listed twice", columns[index])))
        }
        None => Ok(()),
    }
}

/// Columns of the table that satisfy `takes`. If columns are named, each must exist and satisfy it.
///
/// # Errors
/// * [`Error::UnknownName`] for a named column that does not exist.
/// * [`Error::Setting`] for a named column that the map does not accept; `what` says which it accepts.
pub(super) fn chosen<'t>(
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

/// Numeric columns, converted to doubles one by one. If columns are named, each must be numeric.
///
/// # Errors
/// Returns the errors of [`chosen`].
pub(super) fn numbers<'t>(
    table: &'t Table,
    columns: Option<&[String]>,
) -> Result<impl Iterator<Item = (&'t str, Cow<'t, [f64]>)> + use<'t>> {
    let chosen = chosen(table, columns, "columns of numbers", |cells| matches!(cells, Cells::Numbers(_)))?;
    Ok(chosen.into_iter().filter_map(|(name, cells)| Some((name, cells.numbers()?.values()))))
}

/// Extra memory in bytes if byte columns become doubles.
pub(super) fn as_doubles(table: &Table, takes: impl Fn(&str) -> bool) -> f64 {
    let is_byte =
        |cells: &Cells| matches!(cells, Cells::Numbers(numbers) if matches!(numbers.plain(), Numbers::Byte(_)));
    let columns = table.columns().iter().filter(|(name, cells)| is_byte(cells) && takes(name)).count();
    (std::mem::size_of::<f64>() * columns * table.rows()) as f64
}

/// Values of a column that was numeric in training. A column with all cells missing may have any type.
///
/// # Errors
/// [`Error::Shape`] for a column of text or dates.
pub(super) fn values<'c>(name: &str, cells: &'c Cells) -> Result<Cow<'c, [f64]>> {
    match cells.numbers() {
        Some(column) => Ok(column.values()),
        None if all_missing(cells) => Ok(Cow::Owned(vec![f64::NAN; cells.len()])),
        None => Err(Error::Shape(format!(
            "column `{name}` holds {}, and in the training rows it held numbers",
            cells.what()
        ))),
    }
}

/// Whether all cells are missing.
pub(super) fn all_missing(cells: &Cells) -> bool {
    cells.missing().map_or(0, |missing| missing.count) == cells.len()
}

/// Replaces the values of some columns one by one; missing cells stay missing.
///
/// `change` returns the function for a column, and `refusal` the error for a result that is not finite.
///
/// # Errors
/// * [`Error::Shape`] for text or dates in a column to change.
/// * The error of `refusal`, from row, column and value.
pub(super) fn replaced<F: Fn(f64) -> f64>(
    mut table: Table,
    change: impl Fn(&str) -> Option<F>,
    refusal: impl Fn(usize, &str, f64) -> Error,
) -> Result<Table> {
    let columns = table.take_columns().into_iter().map(|(name, cells)| {
        let Some(change) = change(&name) else { return Ok((name, cells)) };
        let before = values(&name, &cells)?;
        let after: Vec<f64> = before.iter().map(|&x| if x.is_nan() { x } else { change(x) }).collect();
        match before.iter().zip(&after).position(|(x, y)| !x.is_nan() && !y.is_finite()) {
            Some(row) => Err(refusal(table.origin(row) + 1, &name, before[row])),
            None => Ok((name, Cells::Numbers(Numbers::from(after)))),
        }
    });
    let columns = columns.collect::<Result<_>>()?;
    table.with_columns(columns)
}

/// Refuses duplicate column names.
///
/// # Errors
/// [`Error::Setting`] on the field.
pub(super) fn unless_twice(field: &str, mut names: Vec<String>) -> Result<()> {
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(Error::setting(field, format!("a second column `{}` would be made; rename one", twice[0]))),
        None => Ok(()),
    }
}
