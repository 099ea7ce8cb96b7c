//! Training or test rows with those of their lags: features, labels and coded targets.

use super::condensed::condensed_labels;
use super::lags::{LagSpec, later, name_ahead};
use super::roles::DataSettings;
use super::series::{named_cells, number_cells, time_ranks};
use super::targets::{encode, task};
use ndarray::Array2;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use vaglio_core::{Cells, Error, Result, RowLabels, Table, Task, gather, row_weights};
use vaglio_pipeline::preprocess::{LabeledTable, Preprocessing};

/// Rows of the training or test set, with the rows of their lags.
pub struct RowsWithLags {
    pub table: Table,
    /// Positions of the rows that belong to the set, if others only serve as lags.
    counted: Option<Vec<usize>>,
    /// With horizons, the rank of each row's time, and of the time at which its targets are known.
    times: Option<(Vec<u32>, Vec<u32>)>,
}

impl RowsWithLags {
    /// Adds the rows of their lags to the rows `own`, from `all` rows in series order. Targets of the rows `hidden` are
    /// set to missing.
    ///
    /// # Errors
    /// [`Error::Setting`] if no row has all its future targets.
    pub fn new(settings: &DataSettings<'_>, own: Table, all: Option<&Table>, hidden: Option<&Table>) -> Result<Self> {
        let LagSpec { past, horizons, .. } = &settings.lags;
        let Some(all) = all.filter(|all| own.rows() < all.rows() || !horizons.is_empty()) else {
            return Ok(RowsWithLags { table: own, counted: None, times: None });
        };
        let own = origins(&own);
        let hidden = hidden.map(origins).unwrap_or_default();
        let rows = all.rows();
        let targets = settings.spec.target.names();
        let is_own: Vec<bool> = (0..rows).map(|row| own.contains(&all.origin(row))).collect();
        let mut ahead: Vec<(String, Cells)> = Vec::new();
        for (name, cells) in targets.iter().filter_map(|name| Some((name, all.get(name)?))) {
            let column = |steps: &usize| (name_ahead(name, *steps), later(cells, all, *steps, |row| is_own[row]));
            ahead.extend(horizons.iter().map(column));
        }
        let counts: Vec<bool> =
            (0..rows).map(|row| is_own[row] && ahead.iter().all(|(_, cells)| !cells.is_missing(row))).collect();
        let has_past = |run: Range<usize>| run.skip(*past).any(|row| counts[row]);
        if let Some(steps) = horizons.last()
            && !all.runs().any(has_past)
        {
            let message = format!(
                "no row that takes part has {past} rows before it in its series and {steps} after it, with their targets"
            );
            return Err(Error::setting("preprocess.horizons", message));
        }
        let kept: Vec<usize> = all.runs().flat_map(|run| rows_with_past(run, &counts, *past)).collect();
        let mut table = all.clone();
        let mut columns = table.take_columns();
        for (_, cells) in columns.iter_mut().filter(|(name, _)| !hidden.is_empty() && targets.contains(name)) {
            *cells = later(cells, all, 0, |row| !hidden.contains(&all.origin(row)));
        }
        columns.extend(ahead);
        let table = table.with_columns(columns)?.select_rows(&kept);
        let counted: Vec<usize> = (0..kept.len()).filter(|&place| counts[kept[place]]).collect();
        let times = horizons.last().map(|steps| {
            let (time, known) = known_times(all, &settings.spec.time, *steps);
            (gather(&time, &kept), gather(&known, &kept))
        });
        Ok(RowsWithLags { table, counted: (counted.len() < kept.len()).then_some(counted), times })
    }

    /// Task of the rows that count.
    ///
    /// # Errors
    /// [`Error::Setting`] for targets that do not fit the settings.
    pub fn task(&self, settings: &DataSettings<'_>) -> Result<Task> {
        task(&settings.spec, &self.counted_targets(&settings.outputs())?)
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
    pub fn label_rows(self, settings: &DataSettings<'_>, recipe: &Preprocessing, field: &str) -> Result<LabeledTable> {
        let spec = &settings.spec;
        let lagged = &recipe.lagged;
        let outputs = settings.outputs();
        let targets = self.counted_targets(&outputs)?;
        let RowsWithLags { mut table, counted, times } = self;
        // One column may be series, groups and folds at once.
        let named = spec.groups.as_ref().or(spec.series.as_ref()).and_then(|name| table.get(name));
        let (groups, counts) = match condensed_labels(&table, settings.counts)? {
            Some((folds, counts)) => (Some(folds), Some(counts)),
            None => (named.map(number_cells), None),
        };
        let (time, known) = match times {
            Some((time, known)) => (Some(time), Some(known)),
            None => (time_ranks(&table, &spec.time), None),
        };
        let weights =
            named_cells(&table, &spec.weights).and_then(Cells::numbers).map(|cells| cells.values().into_owned());
        for (_, name) in settings.row_roles() {
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
            counts: counts.map(Into::into),
            time: time.map(Into::into),
            known: known.map(Into::into),
            ..RowLabels::default()
        };
        let origin = |row: usize| table.origin(counted.as_ref().map_or(row, |counted| counted[row]));
        let own = encode(&recipe.task, &targets, field, origin)?;
        let Some(counted) = counted else { return Ok(LabeledTable { table, targets: Arc::new(own), labels }) };
        let mut all = Array2::zeros((own.nrows(), table.rows()));
        let mut counts = vec![0.0; table.rows()];
        for (place, &row) in counted.iter().enumerate() {
            all.column_mut(row).assign(&own.column(place));
            counts[row] = row_weights(labels.weights.as_deref())(row);
        }
        let labels = RowLabels { weights: Some(counts.into()), ..labels };
        Ok(LabeledTable { table, targets: Arc::new(all), labels })
    }
}

/// Row numbers in the file, from 0.
fn origins(table: &Table) -> HashSet<usize> {
    (0..table.rows()).map(|row| table.origin(row)).collect()
}

/// Rows of `all` up to the last training or test row of each series: the history of new rows.
pub fn history_rows(all: &Table, train: &Table, test: Option<&Table>) -> Table {
    let known: HashSet<usize> = test.into_iter().chain([train]).flat_map(origins).collect();
    let is_known = |row: &usize| known.contains(&all.origin(*row));
    let kept = all.runs().flat_map(|run| run.start..run.rev().find(is_known).map_or(0, |last| last + 1));
    all.select_rows(&kept.collect::<Vec<usize>>())
}

/// Rows of a run that count, or are among the `past` rows before one that does.
fn rows_with_past(run: Range<usize>, counts: &[bool], past: usize) -> Vec<usize> {
    let mut wanted = 0;
    let is_kept = |row: &usize| {
        let is_kept = counts[*row] || wanted > 0;
        wanted = if counts[*row] { past } else { wanted.saturating_sub(1) };
        is_kept
    };
    let mut kept: Vec<usize> = run.rev().filter(is_kept).collect();
    kept.reverse();
    kept
}

/// Rank of each row's time, and of the time `steps` rows later: among all times, or within the series without a column
/// of time.
fn known_times(table: &Table, time: &Option<String>, steps: usize) -> (Vec<u32>, Vec<u32>) {
    let in_series = || table.runs().flat_map(|run| (0..run.len()).map(|place| place as u32)).collect();
    let time: Vec<u32> = time_ranks(table, time).unwrap_or_else(in_series);
    let mut known = vec![u32::MAX; time.len()];
    for run in table.runs() {
        let end = run.end;
        run.filter(|row| row + steps < end).for_each(|row| known[row] = time[row + steps]);
    }
    (time, known)
}
