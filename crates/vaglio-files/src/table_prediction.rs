//! Predicts the rows of a table with a saved model.

use super::predictions::{FileModel, IntervalEnds, PredictOptions, Predictions, header};
use super::roles::hint;
use super::series::arrange_rows;
use super::unseen_levels::UnseenLevels;
use ndarray::s;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use vaglio_core::{Cells, Error, MapFormulas, Model, Result, SourceLocation, Table, Task};
use vaglio_pipeline::pipeline::Calibration;
use vaglio_tables::read::{Hint, Notations};
use vaglio_tables::{ReadSpec, TableProfile};

impl FileModel<'_> {
    /// Columns that are read, for intervals as well if wanted.
    pub(super) fn reads(&self, with_intervals: bool) -> Vec<String> {
        let fold_sources = self.intervals.as_ref().filter(|_| with_intervals).map(|intervals| intervals.sources());
        let sources = self.sources.iter().cloned().chain(fold_sources.into_iter().flatten());
        sources.chain(self.order_columns().cloned()).collect()
    }

    /// Columns of series and time.
    fn order_columns(&self) -> impl Iterator<Item = &String> {
        self.series.iter().chain(&self.time)
    }

    /// Columns that are read from the file `path` with this header, with their types, after a check of the outputs.
    pub(super) fn columns_to_read(
        &self,
        path: &Path,
        header: &[String],
        options: &PredictOptions,
    ) -> Result<(Vec<String>, HashMap<String, Hint>)> {
        self.check_options(options, header)?;
        let there: HashSet<&String> = header.iter().collect();
        let mut wanted = self.reads(options.intervals);
        // Missing columns of lagged targets are forecast.
        let lagged = self.lagged_targets();
        wanted.retain(|name| there.contains(name) || self.is_ahead() || !lagged.contains(name));
        if let Some(missing) = wanted.iter().find(|name| !there.contains(name)) {
            let unknown = Error::unknown("data", "column", missing, header.iter());
            return Err(unknown.at(Some(SourceLocation::whole(path.display().to_string()))));
        }
        let mut hints = self.hints(&wanted);
        // A model without columns still predicts every row.
        if wanted.is_empty() {
            wanted.extend(header.iter().take(1).cloned());
            hints = wanted.iter().map(|name| (name.clone(), Hint::Written)).collect();
        }
        Ok((wanted, hints))
    }

    /// Predicts rows that were read, with the outputs that `options` asks for.
    pub(super) fn predict_with_options(
        &self,
        mut table: Table,
        profile: &TableProfile,
        options: &PredictOptions,
    ) -> Result<Predictions> {
        if self.reads(options.intervals).is_empty() {
            table.take_columns();
        }
        let mut predictions = self.predict_table(table, options.intervals).map_err(|error| {
            profile.locate(error).with_remedy(
                "fill it in, or leave the row out; the model has no map that does, and data.read.na of its pipeline lists the words for missing cells",
            )
        })?;
        let to_probabilities =
            |calibration: &Calibration| (self.task.classes(), calibration.probabilities(predictions.values.view()));
        predictions.probabilities = self.calibration.as_ref().filter(|_| options.probabilities).map(to_probabilities);
        predictions.raw = options.raw;
        Ok(predictions)
    }

    /// Kept columns with their types; `is_typed`: the file declares types.
    pub(super) fn kept_hints(&self, options: &PredictOptions, is_typed: bool) -> Vec<(String, Hint)> {
        let known = self.hints(&options.keep);
        let hint = |name: &String| {
            let is_target = self.observed.as_ref().is_some_and(|observed| observed.targets.contains(name));
            let is_known = self.sources.contains(name) || is_target && self.task == Task::Regression;
            match known.get(name) {
                _ if !options.typed => Hint::Written,
                _ if is_typed => Hint::Auto,
                Some(hint @ (Hint::Number | Hint::Date)) if is_known => *hint,
                _ => Hint::Written,
            }
        };
        options.keep.iter().map(|name| (name.clone(), hint(name))).collect()
    }

    /// Settings for reading files like the training rows.
    pub(super) fn read_spec(&self) -> ReadSpec {
        self.reading.as_ref().map(|reading| reading.read.clone()).unwrap_or_default()
    }

    /// Types of a file's columns, as in the training rows.
    fn hints(&self, wanted: &[String]) -> HashMap<String, Hint> {
        let Some(reading) = &self.reading else { return HashMap::new() };
        let known = |name: &String| match reading.types.get(name) {
            Some(kind) => hint(*kind),
            None if self.series.as_ref() == Some(name) => Hint::Label,
            None if self.time.as_ref() == Some(name) => Hint::Auto,
            None => Hint::Number,
        };
        wanted.iter().map(|name| (name.clone(), known(name))).collect()
    }

    /// Notations of a file's columns, as in the training rows.
    pub(super) fn notations<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Notations {
        let Some(known) = self.reading.as_ref().and_then(|reading| reading.notations.as_ref()) else {
            return Notations::new();
        };
        names.into_iter().map(|name| (name.clone(), known.get(name).copied().unwrap_or_default())).collect()
    }

    /// Rejects outputs that the model or the file cannot give.
    fn check_options(&self, options: &PredictOptions, names: &[String]) -> Result<()> {
        let is_numbers = self.task == Task::Regression;
        if options.probabilities && is_numbers {
            return Err(Error::setting("--proba", "the targets are numbers, and probabilities are of classes"));
        }
        if options.probabilities && self.calibration.is_none() {
            let message = "the model has none, since no predictions of rows held out were at hand when it was trained; run \
                           the pipeline again with `evaluate: {nested: {folds: 5}}`";
            return Err(Error::setting("--proba", message));
        }
        if options.intervals && self.intervals.is_none() {
            let message = if is_numbers {
                "the model has none; run the pipeline again with `evaluate: {intervals: 0.9}`"
            } else {
                "intervals are of numbers, and the targets are classes; `--proba` gives their probabilities"
            };
            return Err(Error::setting("--interval", message));
        }
        let known = |option: &str, name: &String| {
            if names.contains(name) { Ok(()) } else { Err(Error::unknown(option, "column", name, names.iter())) }
        };
        if options.evaluate {
            for name in &self.observed_targets()?.targets {
                known("--evaluate", name)?;
            }
        }
        let classes = self.task.classes();
        let probabilities = if options.probabilities { &classes[..] } else { &[] };
        let own = header(&self.outputs, !classes.is_empty(), probabilities, options.intervals);
        for (index, name) in options.keep.iter().enumerate() {
            known("--keep", name)?;
            if options.keep[..index].contains(name) {
                return Err(Error::setting("--keep", format!("`{name}` is listed twice")));
            }
            if own.contains(name) {
                let message = format!("`{name}` is also the name of a column that is predicted; rename it in the data");
                return Err(Error::setting("--keep", message));
            }
        }
        Ok(())
    }

    /// Whether targets lie ahead of the rows.
    pub(super) fn is_ahead(&self) -> bool {
        self.observed.as_ref().is_some_and(|observed| !observed.horizons.is_empty())
    }

    /// Puts the rows of a table in the order of series and time.
    pub(super) fn arrange(&self, table: Table) -> Result<Table> {
        let in_steps = !take_rows_alone(&self.maps, &self.model);
        arrange_rows(table, &self.series, &self.time, in_steps)
    }

    /// Predicts a table, with intervals if wanted and available.
    pub(super) fn predict_table(&self, mut table: Table, with_intervals: bool) -> Result<Predictions> {
        if let Some(missing) = self.order_columns().find(|name| table.get(name).is_none()) {
            return Err(Error::unknown("data", "column", missing, table.names()));
        }
        let all = table.rows();
        let unseen = UnseenLevels::new(&self.maps, &table);
        let mut keys: Vec<(String, Cells)> =
            self.order_columns().filter_map(|name| Some((name.clone(), table.get(name)?.clone()))).collect();
        let lagged = self.lagged_targets();
        table = self.with_past(table, &lagged)?;
        table = self.arrange(table)?;
        for name in self.order_columns() {
            table.take(name);
        }
        if !self.is_ahead() {
            table = self.forecast(table, &lagged, with_intervals)?;
        }
        let intervals = self.intervals.as_ref().filter(|_| with_intervals);
        let mut intervals = intervals.map(|own| IntervalEnds::new(own, &table)).transpose()?;
        let predicted = self.chain().predict(table)?;
        let mut rows = predicted.rows;
        let mut values = predicted.values;
        let mut counts = predicted.counts;
        // History rows are numbered after those of the table.
        let own = if lagged.is_empty() { rows.len() } else { rows.partition_point(|&row| row < all) };
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
        Ok(Predictions {
            outputs: self.outputs.clone(),
            values,
            labels,
            dropped: rows.len() < all,
            rows,
            keys,
            intervals,
            unseen,
            counts,
            ..Predictions::default()
        })
    }
}

/// Whether a model and its maps use one row at a time.
pub fn take_rows_alone(maps: &[MapFormulas], model: &Model) -> bool {
    model.takes_rows_alone() && maps.iter().all(|map| map.takes_rows_alone())
}
