//! Compares predictions with the targets of a file.

use super::condensed::check_weighted;
use super::lags::{later, name_ahead};
use super::predictions::{FileModel, IntervalEnds, Predictions, TargetComparison};
use super::rows::check_weights;
use super::series::{named_cells, number_cells};
use super::targets::encode;
use ndarray::Array2;
use std::collections::HashMap;
use vaglio_core::{Cells, Error, Loss, Part, Result, Table, Task, argsort_by, gather, select_rows};
use vaglio_pipeline::resampling::{PooledPredictions, TargetsAndPredictions, clusters, weights_with_counts};
use vaglio_report::record::LossName;
use vaglio_tables::TableProfile;
use vaglio_tables::read::{Hint, ReadRequest, TableSource};

/// Remedy for missing targets in an error message.
const NO_TARGET: &str =
    "fill it in, or leave such rows out of the file; data.read.na of the pipeline lists the words for missing cells";

/// Rows of a file whose targets are known.
pub(super) struct ObservedRows {
    /// Index of each row's prediction.
    judged: Vec<usize>,
    /// Outputs × rows.
    targets: Array2<f64>,
    weights: Option<Vec<f64>>,
    clusters: Option<Vec<u32>>,
    loss: Part<dyn Loss>,
}

impl FileModel<'_> {
    /// Reads the targets of the `predicted` rows, or of all rows; rows whose targets lie beyond the end have none.
    pub(super) fn observe(&self, source: &TableSource, predicted: Option<&[usize]>) -> Result<ObservedRows> {
        let observed = self.observed_targets()?;
        check_weighted("--evaluate", source.names(), observed.weights.as_deref())?;
        let groups = observed.groups.iter().chain(&self.series).map(|name| (name, Hint::Label));
        let times = self.time.iter().map(|name| (name, Hint::Target));
        let weights = observed.weights.iter().map(|name| (name, Hint::Auto));
        let targets = observed.targets.iter().map(|name| (name, Hint::Target));
        let (table, profile) = self.read_hinted(source, groups.chain(times).chain(weights).chain(targets))?;
        let targets = observed.targets.iter().filter(|_| !self.is_ahead());
        let checked = profile.check_complete(&table, targets.chain(&observed.weights).map(String::as_str), None);
        checked.map_err(|error| error.with_remedy(NO_TARGET))?;
        check_weights(&observed.weights, &table)?;
        let table = self.arrange(table)?;
        let cells = targets_by_row(&observed.targets, &observed.horizons, &table)?;
        let mut places = vec![0; table.rows()];
        (0..table.rows()).for_each(|place| places[table.origin(place)] = place);
        // As in test rows, weights are optional.
        let weights = named_cells(&table, &observed.weights).and_then(Cells::numbers);
        let weighs = |place: usize| weights.is_none_or(|weights| weights.get(place) != 0.0);
        let is_known = |place: usize| weighs(place) && cells.iter().all(|(_, cells)| !cells.is_missing(place));
        // Predicted rows with known targets, and their positions in time order.
        let places = if let Some(rows) = predicted { gather(&places, rows) } else { places };
        let judged: Vec<usize> = (0..places.len()).filter(|&j| is_known(places[j])).collect();
        let rows = gather(&places, &judged);
        if rows.is_empty() {
            return Err(Error::Shape("no row has both a prediction and its targets, so there are no figures".into()));
        }
        let cells: Vec<(String, Cells)> =
            cells.into_iter().map(|(name, cells)| (name, cells.select_rows(&rows))).collect();
        let targets = encode(&self.task, &cells, "data", |row| table.origin(rows[row]))?;
        let weights = weights.map(|all| all.gather(&rows));
        Ok(ObservedRows {
            judged,
            targets,
            weights,
            clusters: self.clusters_by_row(&table, &rows),
            loss: observed.loss,
        })
    }

    /// Figures of predictions against their targets.
    pub(super) fn compare(&self, observed: ObservedRows, predicted: &Predictions) -> Result<TargetComparison> {
        let ObservedRows { judged, targets, weights, clusters, loss } = observed;
        let counts = predicted.counts.as_ref().map(|counts| gather(counts, &judged));
        let counting = weights_with_counts(weights, counts);
        let counting: Option<&[f64]> = counting.as_deref();
        if counting.is_some_and(|counts| !counts.iter().any(|count| *count > 0.0)) {
            return Err(Error::Shape("no row counts, so there are no figures".into()));
        }
        let values = select_rows(&predicted.values, &judged);
        let order = (self.task != Task::Regression).then_some(&self.class_order);
        let compared = TargetsAndPredictions {
            targets: targets.view(),
            predictions: values.view(),
            weights: counting,
            units: None,
            clusters: clusters.as_deref(),
        };
        let figures = PooledPredictions::from_rows(compared).figures(order, &*loss, 1);
        Ok(TargetComparison {
            figures: figures.with_output_names(&self.outputs),
            loss: LossName::from(&*loss),
            classes: self.task.classes(),
            coverage_and_width: predicted.intervals.as_ref().map(|bounds| {
                let select = |ends: &Array2<f64>| select_rows(ends, &judged);
                let lower = select(&bounds.lower);
                let upper = select(&bounds.upper);
                IntervalEnds { level: bounds.level, lower, upper }.coverage_and_width(&targets, counting)
            }),
        })
    }

    /// Reads the columns that a file has, each by its hint. Of several hints for a column, the last counts.
    fn read_hinted<'n>(
        &self,
        source: &TableSource,
        columns: impl Iterator<Item = (&'n String, Hint)>,
    ) -> Result<(Table, TableProfile)> {
        let there = columns.filter(|(name, _)| source.names().contains(name));
        let hints: HashMap<String, Hint> = there.map(|(name, hint)| (name.clone(), hint)).collect();
        let notations = self.notations(hints.keys());
        let wanted = ReadRequest::only(hints.keys().cloned());
        source.read(&ReadRequest { hints, notations, ..wanted })
    }

    /// Cluster of each row, if the table says which rows depend on each other.
    fn clusters_by_row(&self, table: &Table, rows: &[usize]) -> Option<Vec<u32>> {
        let groups = self.observed.as_ref().and_then(|observed| named_cells(table, &observed.groups)).map(number_cells);
        let is_ordered = self.time.is_some() || !self.model.takes_rows_alone();
        let series = table.series().filter(|series| series.iter().any(|id| *id != series[0]));
        if groups.is_none() && series.is_none() && !is_ordered {
            return None;
        }
        // Stretches of time consist of the compared rows, in time order.
        let order = argsort_by(rows.len(), |j, k| rows[j].cmp(&rows[k]));
        let in_order = |labels: &[u32]| order.iter().map(|&j| labels[rows[j]]).collect::<Vec<u32>>();
        let groups = groups.map(|labels| in_order(&labels));
        let series = series.map(in_order);
        let found = clusters(rows.len(), groups.as_deref(), series.as_deref(), is_ordered);
        let mut cluster_by_row = vec![0; rows.len()];
        order.iter().zip(found).for_each(|(&j, cluster)| cluster_by_row[j] = cluster);
        Some(cluster_by_row)
    }
}

/// Targets of each row of a table in series order.
fn targets_by_row(targets: &[String], horizons: &[usize], table: &Table) -> Result<Vec<(String, Cells)>> {
    let mut all = Vec::new();
    for name in targets {
        let cells = table.get(name).ok_or_else(|| Error::unknown("data", "column", name, table.names()))?;
        let ahead = |steps: &usize| (name_ahead(name, *steps), later(cells, table, *steps, |_| true));
        if horizons.is_empty() {
            all.push((name.clone(), cells.clone()))
        } else {
            all.extend(horizons.iter().map(ahead))
        }
    }
    Ok(all)
}
