//! Separates role columns from features.

use super::lags::RowsWithLags;
use super::roles::Roles;
use super::series::{numbers_of, places_of};
use super::targets::{encode, task};
use ndarray::Array2;
use std::sync::Arc;
use vaglio_core::{Cells, Error, Result, RowLabels, Task, row_weights};
use vaglio_pipeline::preprocess::LabeledTable;

/// A table split into role columns and the rest.
pub(super) struct RoleColumns {
    targets: Vec<(String, Cells)>,
    /// The rest, with all labels except targets and folds.
    rows: LabeledTable,
    /// Whether each row belongs to the set, if some only serve as lags.
    counting: Option<Vec<bool>>,
}

impl RoleColumns {
    /// Splits a table with the targets `outputs`, which may lie ahead. Targets with lags stay in the table.
    pub fn take(roles: &Roles<'_>, side: RowsWithLags, outputs: &[String], lagged: &[String]) -> Result<Self> {
        let spec = roles.spec;
        let RowsWithLags { mut table, counting, times } = side;
        // One column may be series, groups and folds at once.
        let groups = roles.groups().and_then(|name| table.get(name)).map(numbers_of);
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
        let labels = RowLabels {
            weights: weights.map(Into::into),
            groups: groups.map(Into::into),
            time: time.map(Into::into),
            known: known.map(Into::into),
            ..RowLabels::default()
        };
        let rows = LabeledTable { table, labels, ..LabeledTable::default() };
        Ok(RoleColumns { targets, rows, counting })
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
        let LabeledTable { table, labels, .. } = &self.rows;
        let Some(counted) = counted else {
            let targets = Arc::new(encode(task, &targets, field, |row| table.origin(row))?);
            return Ok(LabeledTable { targets, ..self.rows });
        };
        let own = encode(task, &targets, field, |row| table.origin(counted[row]))?;
        let (mut all, mut counts) = (Array2::zeros((own.nrows(), table.rows())), vec![0.0; table.rows()]);
        for (place, &row) in counted.iter().enumerate() {
            all.column_mut(row).assign(&own.column(place));
            counts[row] = row_weights(labels.weights.as_deref())(row);
        }
        let labels = RowLabels { weights: Some(counts.into()), ..self.rows.labels };
        Ok(LabeledTable { targets: Arc::new(all), labels, table: self.rows.table })
    }
}
