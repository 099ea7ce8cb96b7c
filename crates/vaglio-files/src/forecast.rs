//! Recursive forecasts: predictions replace unknown lagged targets.

use super::file_model::FileModel;
use super::history::{after, history};
use vaglio_core::{Cells, Error, Numbers, Result, Table, Task};
use vaglio_pipeline::pipeline::SavedModel;

/// Adds the last training rows to the model if it uses lagged targets.
pub(super) fn with_history(model: SavedModel, training: Option<&Table>) -> SavedModel {
    let targets = FileModel(&model).lagged_targets();
    let Some(table) = training.filter(|_| !targets.is_empty()) else { return model };
    let of_folds = model.intervals.iter().flat_map(|intervals| intervals.sources());
    let of_rows = [&model.series, &model.time].into_iter().flatten().cloned();
    let names: Vec<String> = model.sources.iter().cloned().chain(of_folds).chain(of_rows).collect();
    let past = FileModel(&model).past();
    SavedModel { history: Some(history(table, &names, &targets, past)), ..model }
}

impl FileModel<'_> {
    /// The targets whose lags the model uses.
    pub(super) fn lagged_targets(&self) -> Vec<String> {
        let targets = self.observed.iter().flat_map(|observed| &observed.targets);
        targets.filter(|name| self.sources.contains(name)).cloned().collect()
    }

    /// Number of previous rows that the maps use.
    fn past(&self) -> usize {
        self.maps.iter().map(|map| map.formulas().past()).sum()
    }

    /// Adds missing columns of lagged targets to the table, and the training rows before it.
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
        match &self.history {
            Some(history) => after(history, table, self.order(), targets),
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
        let with = |table: Table, values: &[Vec<f64>], rows: std::ops::Range<usize>| -> Result<Table> {
            let mut table = table;
            let mut columns = table.take_columns();
            for (name, all) in targets.iter().zip(values) {
                columns.push((name.clone(), Cells::Numbers(Numbers::from(all[rows.clone()].to_vec()))));
            }
            table.with_columns(columns)
        };
        let unknown: Vec<bool> = (0..table.rows()).map(|row| values.iter().any(|all| all[row].is_nan())).collect();
        for run in table.runs() {
            for row in run.clone().filter(|&row| values.iter().any(|all| all[row].is_nan())).collect::<Vec<_>>() {
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
