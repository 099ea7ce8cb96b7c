//! History of a model: its last training rows, stored and prepended to new rows.

use super::lags::with_missing;
use super::periods::periods;
use super::series::{SeriesOrder, moments};
use std::collections::HashMap;
use std::ops::Range;
use vaglio_core::{Cells, Error, Result, Table};
use vaglio_pipeline::pipeline::History;

/// The last `past` rows of each series, and as many before missing targets, from a table in series order.
pub(super) fn history(table: &Table, names: &[String], targets: &[String], past: usize) -> History {
    let targets: Vec<&Cells> = targets.iter().filter_map(|name| table.get(name)).collect();
    let is_unknown = |row: &usize| targets.iter().any(|cells| cells.is_missing(*row));
    let of_run = |run: Range<usize>| {
        // Missing targets are forecast from the rows before them.
        let mut start = run.start.max(run.end.saturating_sub(past));
        while let Some(first) = (start..run.end).find(is_unknown).filter(|first| first - start < past) {
            if start == run.start {
                break;
            }
            start = run.start.max(first.saturating_sub(past));
        }
        start..run.end
    };
    let rows: Vec<usize> = table.runs().flat_map(of_run).collect();
    let kept = |(name, cells): &(String, Cells)| (name.clone(), cells.select_rows(&rows));
    History::new(table.columns().iter().filter(|(name, _)| names.contains(name)).map(kept))
}

/// Adds history rows to a table: those of a series that the table's rows all follow in time; without times, those of a
/// series without known targets in the table. Table rows keep their numbers; history rows are numbered after them.
///
/// # Errors
/// [`Error::Shape`] for a column whose type differs from that in the training rows.
pub(super) fn after(history: &History, table: Table, order: SeriesOrder<'_>, targets: &[String]) -> Result<Table> {
    let own = history.table()?;
    let label = |table: &Table, row: usize| {
        order.series.and_then(|name| table.get(name)).map(|cells| cells.label(row)).unwrap_or_default()
    };
    let is_known = |row: usize| targets.iter().any(|name| table.get(name).is_some_and(|cells| !cells.is_missing(row)));
    let unless_known = |row: usize| if is_known(row) { f64::NEG_INFINITY } else { f64::INFINITY };
    let (times, own_times) = match order.time {
        Some(name) => times_of(table.get(name), own.get(name)),
        None => ((0..table.rows()).map(unless_known).collect(), Vec::new()),
    };
    // First time of each series, or −∞ if one of its targets is known.
    let mut begin: HashMap<String, f64> = HashMap::new();
    for (row, time) in times.into_iter().enumerate() {
        let first = begin.entry(label(&table, row)).or_insert(f64::INFINITY);
        *first = first.min(time);
    }
    let mut last: HashMap<String, f64> = HashMap::new();
    for row in 0..own.rows() {
        let last = last.entry(label(&own, row)).or_insert(f64::NEG_INFINITY);
        *last = last.max(own_times.get(row).copied().unwrap_or(0.0));
    }
    let comes_before = |row: &usize| {
        let label = label(&own, *row);
        begin.get(&label).is_some_and(|begin| last[&label] < *begin)
    };
    let rows: Vec<usize> = (0..own.rows()).filter(comes_before).collect();
    if rows.is_empty() {
        return Ok(table);
    }
    let (own, count, more) = (own.select_rows(&rows), table.rows(), rows.len());
    let columns = table.into_columns().into_iter().map(|(name, cells)| {
        let before = own.get(&name).cloned();
        let cells = joined(&name, cells, before, more)?;
        Ok((name, cells))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let order: Vec<usize> = (count..count + more).chain(0..count).collect();
    Ok(Table::new(columns)?.select_rows(&order))
}

/// Times of two tables as comparable numbers; empty for a missing column.
fn times_of(table: Option<&Cells>, own: Option<&Cells>) -> (Vec<f64>, Vec<f64>) {
    if let (Some(Cells::Text(table)), Some(Cells::Text(own))) = (table, own) {
        let mut all = periods(&[&table[..], own].concat()).unwrap_or_default();
        let later = all.split_off(table.len().min(all.len()));
        return (all, later);
    }
    let of = |cells: Option<&Cells>| cells.and_then(moments).map(|times| times.into_owned()).unwrap_or_default();
    (of(table), of(own))
}

/// Appends history cells to a column, or missing cells if there are none.
fn joined(name: &str, cells: Cells, before: Option<Cells>, more: usize) -> Result<Cells> {
    match (cells, before) {
        (cells, None) => {
            let rows = (0..cells.len()).map(Some).chain(std::iter::repeat_n(None, more));
            Ok(with_missing(&cells, &rows.collect::<Vec<_>>()))
        }
        (Cells::Numbers(own), Some(Cells::Numbers(before))) => {
            Ok(Cells::Numbers([own.view().values(), before.view().values()].concat().into()))
        }
        (Cells::Dates(own), Some(Cells::Dates(before))) => Ok(Cells::Dates([own, before].concat())),
        (Cells::Text(mut own), Some(before)) => {
            own.extend((0..more).map(|row| before.label(row)));
            Ok(Cells::Text(own))
        }
        (own, Some(before)) => Err(Error::Shape(format!(
            "column `{name}` holds {}, and in the training rows it held {}",
            own.what(),
            before.what()
        ))),
    }
}
