//! Separates role columns from features.

use super::lags::RowsWithLags;
use super::roles::Roles;
use super::series::{numbers_of, places_of};
use super::targets::{encode, task};
use ndarray::Array2;
use std::sync::Arc;
use vaglio_core::{Cells, Error, Result, Table, Task, row_weights};
use vaglio_pipeline::preprocess::LabeledTable;

/// A table split into role columns and the rest.
pub(super) struct RoleColumns {
    targets: Vec<(String, Cells)>,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    assignment: Option<Vec<u32>>,
    time: Option<Vec<u32>>,
    known: Option<Vec<u32>>,
    /// Whether each row belongs to the set, if some only serve as lags.
    counting: Option<Vec<bool>>,
    rest: Table,
}

impl RoleColumns {
    /// Splits a table with the targets `outputs`, which may lie ahead. Targets with lags stay in the table.
    pub fn take(roles: &Roles<'_>, side: RowsWithLags, outputs: &[String], lagged: &[String]) -> Result<Self> {
        let spec = roles.spec;
        let RowsWithLags { mut table, counting, times } = side;
        // One column may be series, groups and folds at once.
        let numbers = |name: Option<&str>| name.and_then(|name| table.get(name)).map(numbers_of);
        let (assignment, groups) = (roles.assigned(&table)?, numbers(roles.groups()));
        let (time, known) = match times {
            Some((time, known)) => (Some(time), Some(known)),
            None => (spec.time.as_ref().and_then(|name| table.get(name)).and_then(places_of), None),
        };
        let missing = |name: &str| Error::Shape(format!("the column `{name}` is missing"));
        let weights = spec.weights.as_ref().and_then(|name| table.take(name));
        let weights = weights.and_then(|cells| Some(cells.numbers()?.values().into_owned()));
        for (_, name) in roles.row_roles() {
            table.take(name);
        }
        let mut targets = Vec::new();
        for name in outputs {
            targets.push((name.clone(), table.take(name).ok_or_else(|| missing(name))?));
        }
        let own = spec.target.names();
        own.iter().filter(|name| !lagged.contains(name)).for_each(|name| drop(table.take(name)));
        if !lagged.is_empty() && outputs == own {
            let mut columns = table.take_columns();
            columns.extend(targets.iter().filter(|(name, _)| lagged.contains(name)).cloned());
            table = table.with_columns(columns)?;
        }
        Ok(RoleColumns { targets, weights, groups, assignment, time, known, counting, rest: table })
    }

    /// Task by the targets of the rows that count.
    pub fn task(&self, roles: &Roles<'_>) -> Result<Task> {
        task(roles.spec, &self.counted().0)
    }

    /// Targets of the rows that count, and their positions.
    fn counted(&self) -> (Vec<(String, Cells)>, Option<Vec<usize>>) {
        let Some(counting) = &self.counting else { return (self.targets.clone(), None) };
        let rows: Vec<usize> = (0..counting.len()).filter(|&row| counting[row]).collect();
        let targets = self.targets.iter().map(|(name, cells)| (name.clone(), cells.select_rows(&rows)));
        (targets.collect(), Some(rows))
    }

    /// Rows with coded targets; rows that do not count get weight 0 and target 0.
    pub fn rows(self, task: &Task, field: &str) -> Result<LabeledTable> {
        let (targets, counted) = self.counted();
        let RoleColumns { mut weights, groups, assignment, time, known, rest: table, .. } = self;
        let targets = match counted {
            None => encode(task, &targets, field, |row| table.origin(row))?,
            Some(rows) => {
                let own = encode(task, &targets, field, |row| table.origin(rows[row]))?;
                let mut all = Array2::zeros((own.nrows(), table.rows()));
                let mut all_weights = vec![0.0; table.rows()];
                for (place, &row) in rows.iter().enumerate() {
                    all.column_mut(row).assign(&own.column(place));
                    all_weights[row] = row_weights(weights.as_deref())(row);
                }
                weights = Some(all_weights);
                all
            }
        };
        let targets = Arc::new(targets);
        Ok(LabeledTable { table, targets, weights, groups, assignment, time, known, ..LabeledTable::default() })
    }
}
