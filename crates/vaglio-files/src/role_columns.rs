//! Separates role columns from features.

use super::lags::RowsWithLags;
use super::roles::Roles;
use super::series::{numbers_of, places_of};
use super::targets::{encode, task};
use ndarray::Array2;
use std::sync::Arc;
use vaglio_core::{Cells, Error, Result, RowLabels, Task, row_weights};
use vaglio_pipeline::preprocess::{LabeledTable, Preprocessing};

impl RowsWithLags {
    /// Task by the targets `outputs`, which may lie ahead, in the rows that count.
    pub fn task(&self, roles: &Roles<'_>, outputs: &[String]) -> Result<Task> {
        task(roles.spec, &self.counted_targets(outputs)?)
    }

    /// Targets of the rows that count.
    fn counted_targets(&self, outputs: &[String]) -> Result<Vec<(String, Cells)>> {
        let target = |name: &String| {
            let cells = self.table.get(name);
            let cells = cells.ok_or_else(|| Error::Shape(format!("the column `{name}` is missing")))?;
            let counted = self.counted.as_ref().map(|rows| cells.select_rows(rows));
            Ok((name.clone(), counted.unwrap_or_else(|| cells.clone())))
        };
        outputs.iter().map(target).collect()
    }

    /// Rows with labels and coded targets, but without assigned folds. Rows that do not count get weight 0 and target 0.
    /// Targets with lags stay in the table.
    pub fn labeled(
        self,
        roles: &Roles<'_>,
        outputs: &[String],
        recipe: &Preprocessing,
        field: &str,
    ) -> Result<LabeledTable> {
        let (spec, lagged, targets) = (roles.spec, &recipe.lagged, self.counted_targets(outputs)?);
        let RowsWithLags { mut table, counted, times } = self;
        // One column may be series, groups and folds at once.
        let groups = roles.groups().and_then(|name| table.get(name)).map(numbers_of);
        let (time, known) = match times {
            Some((time, known)) => (Some(time), Some(known)),
            None => (spec.time.as_ref().and_then(|name| table.get(name)).and_then(places_of), None),
        };
        let weights = spec.weights.as_ref().and_then(|name| Some(table.get(name)?.numbers()?.values().into_owned()));
        for (_, name) in roles.row_roles() {
            table.take(name);
        }
        let unlagged = spec.target.names().iter().filter(|name| !lagged.contains(name));
        let mut past = Vec::new();
        for name in outputs.iter().chain(unlagged) {
            let cells = table.take(name).filter(|_| lagged.contains(name));
            past.extend(cells.map(|cells| (name.clone(), cells)));
        }
        if !past.is_empty() {
            let mut columns = table.take_columns();
            columns.extend(past);
            table = table.with_columns(columns)?;
        }
        let labels = RowLabels {
            weights: weights.map(Into::into),
            groups: groups.map(Into::into),
            time: time.map(Into::into),
            known: known.map(Into::into),
            ..RowLabels::default()
        };
        let Some(counted) = counted else {
            let targets = Arc::new(encode(&recipe.task, &targets, field, |row| table.origin(row))?);
            return Ok(LabeledTable { table, targets, labels });
        };
        let own = encode(&recipe.task, &targets, field, |row| table.origin(counted[row]))?;
        let (mut all, mut counts) = (Array2::zeros((own.nrows(), table.rows())), vec![0.0; table.rows()]);
        for (place, &row) in counted.iter().enumerate() {
            all.column_mut(row).assign(&own.column(place));
            counts[row] = row_weights(labels.weights.as_deref())(row);
        }
        let labels = RowLabels { weights: Some(counts.into()), ..labels };
        Ok(LabeledTable { table, targets: Arc::new(all), labels })
    }
}
