//! Recursive forecasts: predictions replace unknown lagged targets. The last known rows are stored with the model, and
//! prepended to new rows.

use super::lags::with_missing;
use super::periods::periods;
use super::predictions::FileModel;
use super::series::{moments, named_cells};
use std::collections::HashMap;
use std::ops::Range;
use vaglio_core::{Cells, Error, Numbers, Result, Table, Task};
use vaglio_pipeline::pipeline::SavedModel;

/// Adds the last training rows, and the rows numbered `test_rows`, to the model if it uses lagged targets.
pub fn with_history(model: SavedModel, known: Option<&Table>, test_rows: &[usize]) -> SavedModel {
    let file_model = FileModel(&model);
    let targets = file_model.lagged_targets();
    let Some(table) = known.filter(|_| !targets.is_empty()) else { return model };
    let is_test = |row: &usize| test_rows.binary_search(&(table.origin(*row) + 1)).is_ok();
    let history = last_rows(table, &file_model.reads(true), &targets, file_model.past(), is_test);
    model.with_history(history)
}

impl FileModel<'_> {
    /// The targets whose lags the model uses.
    pub(super) fn lagged_targets(&self) -> Vec<String> {
        let targets = self.observed.iter().flat_map(|observed| &observed.targets);
        targets.filter(|name| self.sources.contains(name)).cloned().collect()
    }

    /// Number of previous rows that the maps use.
    fn past(&self) -> usize {
        self.maps.iter().map(|map| map.past()).sum()
    }

    /// Adds missing columns of lagged targets to the table, and the history rows before it.
    pub(super) fn with_past(&self, mut table: Table, targets: &[String]) -> Result<Table> {
        if targets.is_empty() || table.series().is_some() || table.origins().is_some() {
            return Ok(table);
        }
        let rows = table.rows();
        let mut columns = table.take_columns();
        for name in targets {
            match columns.iter_mut().find(|(other, _)| other == name) {
                // Readers take an empty column for text.
                Some((_, cells)) if (0..rows).all(|row| cells.is_missing(row)) => *cells = nothing(rows),
                Some(_) => {}
                None => columns.push((name.clone(), nothing(rows))),
            }
        }
        let table = table.with_columns(columns)?;
        match self.history_table()? {
            Some(history) => after(history, table, self, targets),
            None => Ok(table),
        }
    }

    /// Fills in missing targets by predictions from the rows before each, in series order. Cost O(missing targets ·
    /// columns · lags).
    ///
    /// # Errors
    /// [`Error::Shape`] for a missing target without enough rows before it for the lags; [`Error::Setting`] for
    /// intervals of rows with forecast lags; errors of prediction.
    pub(super) fn forecast(&self, mut table: Table, targets: &[String], with_intervals: bool) -> Result<Table> {
        let is_missing = |name: &String| table.get(name).is_some_and(|cells| cells.missing().is_some());
        if !targets.iter().any(is_missing) {
            return Ok(table);
        }
        if self.task != Task::Regression {
            return Err(Error::Shape("targets are missing, and classes of the past are not forecast".into()));
        }
        let past = self.past();
        let outputs: Vec<usize> =
            targets.iter().filter_map(|name| self.outputs.iter().position(|output| output == name)).collect();
        let mut values = Vec::new();
        for name in targets {
            let Some(cells) = table.take(name) else { continue };
            let Some(numbers) = cells.numbers() else {
                return Err(Error::Shape(format!("column `{name}` holds {}, and the target is numbers", cells.what())));
            };
            values.push(numbers.values().into_owned());
        }
        let with = |mut table: Table, values: &[Vec<f64>], rows: Range<usize>| -> Result<Table> {
            let mut columns = table.take_columns();
            for (name, all) in targets.iter().zip(values) {
                columns.push((name.clone(), Cells::Numbers(Numbers::from(all[rows.clone()].to_vec()))));
            }
            table.with_columns(columns)
        };
        let unknown: Vec<bool> = (0..table.rows()).map(|row| values.iter().any(|all| all[row].is_nan())).collect();
        for run in table.runs() {
            for row in run.clone().filter(|&row| unknown[row]) {
                if row - run.start < past {
                    let message = format!(
                        "row {}: the target is missing, and a forecast needs the {past} rows before it in its series",
                        table.origin(row) + 1
                    );
                    return Err(Error::Shape(message));
                }
                if with_intervals && unknown[row - past..row].contains(&true) {
                    let message = format!(
                        "row {}: it is predicted from targets that are predicted themselves, and an interval holds for one step; \
                         train with `horizons` in the window, such as `horizons: [1, 2, 3]`, for intervals of every step",
                        table.origin(row) + 1
                    );
                    return Err(Error::setting("--interval", message));
                }
                let from = if self.model.takes_rows_alone() { row - past } else { run.start };
                let part = table.select_rows(&(from..=row).collect::<Vec<_>>());
                let predicted = self.chain().predict(with(part, &values, from..row + 1)?)?;
                // Rows are returned in reading order.
                let origin = table.origin(row);
                let place = predicted.rows.iter().position(|&other| other == origin);
                let place = place.ok_or_else(|| Error::Shape(format!("row {}: no forecast was made", origin + 1)))?;
                for (all, &output) in values.iter_mut().zip(&outputs).filter(|(all, _)| all[row].is_nan()) {
                    all[row] = predicted.values[[output, place]];
                }
            }
        }
        let rows = 0..table.rows();
        with(table, &values, rows)
    }
}

fn nothing(rows: usize) -> Cells {
    Cells::Numbers(Numbers::from(vec![f64::NAN; rows]))
}

/// Each series from its last `past` training rows on, and as many before missing targets, of a table in series order.
fn last_rows(
    table: &Table,
    names: &[String],
    targets: &[String],
    past: usize,
    is_test: impl Fn(&usize) -> bool,
) -> Vec<(String, Cells)> {
    let targets: Vec<&Cells> = targets.iter().filter_map(|name| table.get(name)).collect();
    let is_unknown = |row: &usize| targets.iter().any(|cells| cells.is_missing(*row));
    let rows_of_series = |run: Range<usize>| {
        // Past the last training row.
        let end = run.clone().rev().find(|row| !is_test(row)).map_or(run.end, |last| last + 1);
        // Missing targets are forecast from the rows before them.
        let mut start = run.start.max(end.saturating_sub(past));
        while let Some(first) = (start..run.end).find(is_unknown).filter(|first| first - start < past) {
            if start == run.start {
                break;
            }
            start = run.start.max(first.saturating_sub(past));
        }
        start..run.end
    };
    let rows: Vec<usize> = table.runs().flat_map(rows_of_series).collect();
    let kept = |(name, cells): &(String, Cells)| (name.clone(), cells.select_rows(&rows));
    let columns = table.columns().iter().filter(|(name, _)| names.contains(name));
    columns.map(kept).collect()
}

/// Adds history rows to a table: those before the table's first row of their series; without times, those of a series
/// without known targets in the table. Table rows keep their numbers; history rows are numbered after them.
fn after(own: Table, table: Table, model: &SavedModel, targets: &[String]) -> Result<Table> {
    let label =
        |table: &Table, row: usize| named_cells(table, &model.series).map(|cells| cells.label(row)).unwrap_or_default();
    let is_known = |row: usize| targets.iter().any(|name| table.get(name).is_some_and(|cells| !cells.is_missing(row)));
    let unless_known = |row: usize| if is_known(row) { f64::NEG_INFINITY } else { f64::INFINITY };
    let (times, own_times) = match &model.time {
        Some(name) => comparable_times(table.get(name), own.get(name)),
        None => ((0..table.rows()).map(unless_known).collect(), Vec::new()),
    };
    // First time of each series, or −∞ if one of its targets is known.
    let mut begin: HashMap<String, f64> = HashMap::new();
    for (row, time) in times.into_iter().enumerate() {
        let first = begin.entry(label(&table, row)).or_insert(f64::INFINITY);
        *first = first.min(time);
    }
    let comes_before = |row: &usize| {
        let time = own_times.get(*row).copied().unwrap_or(0.0);
        begin.get(&label(&own, *row)).is_some_and(|begin| time < *begin)
    };
    let rows: Vec<usize> = (0..own.rows()).filter(comes_before).collect();
    if rows.is_empty() {
        return Ok(table);
    }
    let own = own.select_rows(&rows);
    let count = table.rows();
    let more = rows.len();
    let columns = table.into_columns().into_iter().map(|(name, cells)| {
        let before = own.get(&name).cloned();
        let cells = append_cells(&name, cells, before, more)?;
        Ok((name, cells))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let order: Vec<usize> = (count..count + more).chain(0..count).collect();
    Ok(Table::new(columns)?.select_rows(&order))
}

/// Times of two tables as comparable numbers; empty for a missing column.
fn comparable_times(table: Option<&Cells>, own: Option<&Cells>) -> (Vec<f64>, Vec<f64>) {
    if let (Some(Cells::Text(table)), Some(Cells::Text(own))) = (table, own) {
        let mut all = periods(&[&table[..], own].concat()).unwrap_or_default();
        let later = all.split_off(table.len().min(all.len()));
        return (all, later);
    }
    let to_times = |cells: Option<&Cells>| cells.and_then(moments).map(|times| times.into_owned()).unwrap_or_default();
    (to_times(table), to_times(own))
}

/// Appends history cells to a column, or missing cells if there are none.
fn append_cells(name: &str, cells: Cells, before: Option<Cells>, more: usize) -> Result<Cells> {
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
