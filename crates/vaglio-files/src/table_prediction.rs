//! Predicts tables with a saved model.

use super::predictions::{FileModel, Predictions};
use super::series::arrange_rows;
use ndarray::s;
use vaglio_core::{Cells, Error, Loss, MapFormulas, Model, Part, Result, Squared, Table, Task, ZeroOne};
use vaglio_pipeline::maps::UnseenLevels;
use vaglio_pipeline::pipeline::Observed;

/// Whether a model and its maps use one row at a time.
pub(super) fn take_rows_alone(maps: &[MapFormulas], model: &Model) -> bool {
    model.takes_rows_alone() && maps.iter().all(|map| map.takes_rows_alone())
}

impl FileModel<'_> {
    /// The targets to compare predictions with. Models of earlier versions do not name them; the outputs serve instead.
    ///
    /// # Errors
    /// [`Error::Setting`] if the outputs are classes.
    pub(super) fn observed_targets(&self) -> Result<Observed> {
        if let Some(observed) = &self.observed {
            return Ok(observed.clone());
        }
        let loss = match self.task {
            Task::Regression => Part::<dyn Loss>::from(Squared),
            Task::Binary { .. } => ZeroOne.into(),
            Task::Multiclass { .. } => {
                let message =
                    "the model was saved by an earlier version and does not name its target; run the pipeline again";
                return Err(Error::setting("--evaluate", message));
            }
        };
        Ok(Observed { targets: self.outputs.clone(), weights: None, groups: None, horizons: Vec::new(), loss })
    }

    /// Whether targets lie ahead of the rows.
    pub(super) fn is_ahead(&self) -> bool {
        self.observed.as_ref().is_some_and(|observed| !observed.horizons.is_empty())
    }

    /// Puts the rows of a table in the order of series and time.
    pub(super) fn arrange(&self, table: Table) -> Result<Table> {
        let in_steps = !take_rows_alone(&self.maps, &self.model);
        arrange_rows(table, self.series.as_ref(), self.time.as_ref(), in_steps)
    }

    /// Predicts a table, with intervals if wanted and available. Also returns the weights that the model gives to the
    /// rows.
    pub(super) fn predict_with_weights(
        &self,
        mut table: Table,
        with_intervals: bool,
    ) -> Result<(Predictions, Option<Vec<f64>>)> {
        let names = [&self.series, &self.time];
        for name in names.into_iter().flatten() {
            if table.get(name).is_none() {
                return Err(Error::unknown("data", "column", name, table.names()));
            }
        }
        let all = table.rows();
        let mut unseen = UnseenLevels::default();
        unseen.count(&self.maps, &table);
        let mut keys: Vec<(String, Cells)> =
            names.into_iter().flatten().filter_map(|name| Some((name.clone(), table.get(name)?.clone()))).collect();
        let lagged = self.lagged_targets();
        table = self.with_past(table, &lagged)?;
        table = self.arrange(table)?;
        for name in names.into_iter().flatten() {
            table.take(name);
        }
        if !self.is_ahead() {
            table = self.forecast(table, &lagged, with_intervals)?;
        }
        let intervals = self.intervals.as_ref().filter(|_| with_intervals);
        let mut intervals = intervals.map(|intervals| intervals.bounds(&table, self.outputs.len())).transpose()?;
        let predicted = self.chain().predict(table)?;
        let (mut rows, mut values, mut counts) = (predicted.rows, predicted.values, predicted.counts);
        // Training rows of the history are numbered after those of the table.
        let own = match lagged.is_empty() {
            true => rows.len(),
            false => rows.partition_point(|&row| row < all),
        };
        if own < rows.len() {
            rows.truncate(own);
            values = values.slice(s![.., ..own]).to_owned();
            counts.iter_mut().for_each(|counts| counts.truncate(own));
            for ends in intervals.iter_mut().flat_map(|bounds| [&mut bounds.lower, &mut bounds.upper]) {
                *ends = ends.slice(s![.., ..own]).to_owned();
            }
        }
        if !keys.is_empty() {
            keys = Table::new(keys)?.select_rows(&rows).into_columns();
        }
        let classes = self.task.classes();
        let label = |row: usize| {
            let class = self.class_order.class_of(values.column(row));
            classes.get(class).cloned().unwrap_or_default()
        };
        let labels = (self.task != Task::Regression).then(|| (0..rows.len()).map(label).collect());
        let predictions = Predictions {
            outputs: self.outputs.clone(),
            values,
            labels,
            dropped: rows.len() < all,
            rows,
            keys,
            intervals,
            unseen,
            ..Predictions::default()
        };
        Ok((predictions, counts))
    }
}
