//! Rows with labels, and their preprocessing to a problem and back to the units of the target.

use super::refit::FilledCells;
use ndarray::Array2;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use vaglio_core::{
    Cells, Columns, Error, Map, MapFormulas, Problem, RefitScope, Result, RowLabels, Table, TargetMap, Task,
    TrainingRows, select_rows,
};
use vaglio_maps::moments;
use vaglio_maps::target_maps::TargetUnits;
use vaglio_search::Judge;
use vaglio_tables::budget::Budget;

/// A table with the labels of its rows.
#[derive(Debug, Clone, Default)]
pub struct LabeledTable {
    /// The table.
    pub table: Table,
    /// Targets, outputs × rows.
    pub targets: Arc<Array2<f64>>,
    /// Labels of the rows, except the series, which the table has.
    pub labels: RowLabels,
}

impl LabeledTable {
    /// A table with targets and labels, whose series the table takes over.
    pub fn new(table: Table, targets: Arc<Array2<f64>>, mut labels: RowLabels) -> Result<Self> {
        let table = match labels.series.take() {
            Some(series) => table.with_series(series.to_vec())?,
            None => table,
        };
        Ok(LabeledTable { table, targets, labels })
    }

    /// Applies a map to the table, and keeps the labels of the remaining rows.
    pub fn map(&mut self, map: &MapFormulas) -> Result<()> {
        let table = std::mem::take(&mut self.table);
        if map.takes_rows_alone() {
            self.table = map.transform(table)?;
            return Ok(());
        }
        let places: HashMap<usize, usize> = (0..table.rows()).map(|row| (table.origin(row), row)).collect();
        let table = map.transform(table)?;
        let kept: Option<Vec<usize>> = (0..table.rows()).map(|row| places.get(&table.origin(row)).copied()).collect();
        let kept = kept.ok_or_else(|| Error::Shape("a map made rows that its table did not have".into()))?;
        *self = self.with_table(table, &kept);
        Ok(())
    }

    /// Selects rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        self.with_table(self.table.select_rows(rows), rows)
    }

    /// A table of some of the rows, with their labels.
    fn with_table(&self, table: Table, rows: &[usize]) -> Self {
        let targets = Arc::new(select_rows(&*self.targets, rows));
        LabeledTable { table, targets, labels: self.labels.select(rows) }
    }

    /// Indices of the rows with positive weight, if some have weight 0 and only serve as history.
    pub fn counted_rows(&self) -> Option<Vec<usize>> {
        let weights = self.labels.weights.as_ref().filter(|weights| weights.contains(&0.0))?;
        Some((0..weights.len()).filter(|&row| weights[row] != 0.0).collect())
    }

    /// Drops rows of weight 0, after the last map that uses earlier rows.
    fn drop_history(&mut self) {
        let Some(counting) = self.counted_rows() else { return };
        *self = self.select(&counting);
        // Weights that only mark rows are no longer needed.
        let weights = self.labels.weights.take();
        self.labels.weights = weights.filter(|weights| weights.iter().any(|weight| *weight != 1.0));
    }

    /// Labels of the rows, with the series of the table.
    pub fn row_labels(&self) -> RowLabels {
        RowLabels { series: self.table.series().map(Into::into), ..self.labels.clone() }
    }
}

/// Result of fitting maps on rows.
#[derive(Debug)]
pub struct FittedPreprocessing {
    /// Fitted maps.
    pub maps: Vec<MapFormulas>,
    /// Maps and scales of the targets, if any.
    pub units: Option<Vec<TargetUnits>>,
    /// Filled cells whose means are to be refitted in each fold.
    pub filled: Vec<FilledCells>,
}

/// Preprocessing: the steps from rows to a problem.
#[derive(Debug)]
pub struct Preprocessing {
    /// Maps, in order.
    pub maps: Vec<Arc<dyn Map>>,
    /// Map of the targets, applied first.
    pub target_map: Option<Arc<dyn TargetMap>>,
    /// Whether predictions of mapped targets are smeared.
    pub is_smeared: bool,
    /// Scale of the losses that choose, for mapped targets.
    pub judge: Judge,
    /// Prediction task.
    pub task: Task,
    /// Names of the outputs: targets, or labels of several classes.
    pub target_names: Vec<String>,
    /// Targets that are also columns of the table, for lags.
    pub lagged: Vec<String>,
    /// Seed of random choices in maps.
    pub seed: u64,
    /// Memory budget of maps.
    pub budget: Budget,
    /// Whether columns that maps make are in single precision.
    pub is_single: bool,
}

impl Preprocessing {
    /// Preprocessing by the maps of a pipeline, in order.
    ///
    /// # Errors
    /// [`Error::Setting`] if a map other than the last adds a bias.
    pub fn new(maps: Vec<Arc<dyn Map>>, task: Task, target_names: Vec<String>) -> Result<Self> {
        match maps.iter().rev().skip(1).position(|map| map.traits().bias.is_some()) {
            Some(from_last) => Err(Error::setting(
                format!("preprocess[{}]", maps.len() - 2 - from_last),
                "a map after it would change the bias; move it to the end",
            )),
            None => Ok(Preprocessing {
                maps,
                target_map: None,
                is_smeared: false,
                judge: Judge::Original,
                task,
                target_names,
                lagged: Vec::new(),
                seed: 0,
                budget: Budget::for_machine(),
                is_single: false,
            }),
        }
    }

    /// Whether a map needs ordered rows.
    pub fn needs_order(&self) -> bool {
        self.maps.iter().any(|map| map.traits().needs_order)
    }

    /// Converts the columns of a problem to single precision, if the settings ask for it.
    ///
    /// # Errors
    /// [`Error::Setting`] on `engine.precision` for a column that single precision cannot represent.
    pub fn in_precision(&self, problem: Problem) -> Result<Problem> {
        if !self.is_single {
            return Ok(problem);
        }
        problem.in_single().map_err(|error| Error::setting("engine.precision", error.to_string()))
    }

    /// Fits and applies the map of targets, and then each map on the output of the maps before it.
    pub fn fit(&self, rows: &mut LabeledTable) -> Result<FittedPreprocessing> {
        let units = self.map_targets(rows)?;
        self.fit_between(0..self.maps.len(), rows, units)
    }

    /// Fits and applies the map of targets, if there is one.
    ///
    /// # Errors
    /// [`Error::Shape`] for a target that it cannot transform, with row and column.
    pub fn map_targets(&self, rows: &mut LabeledTable) -> Result<Option<Vec<TargetUnits>>> {
        let Some(map) = &self.target_map else { return Ok(None) };
        let LabeledTable { targets, labels, table } = rows;
        let weights = labels.weights.as_deref();
        let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
        let mut all = Vec::new();
        for (mut target, name) in Arc::make_mut(targets).rows_mut().into_iter().zip(&self.target_names) {
            let before = target.to_vec();
            let fitted = map.fit(&before, weights)?;
            target.mapv_inplace(|y| fitted.map(y));
            if let Some(row) = (0..before.len()).find(|&row| !target[row].is_finite() && counts(row)) {
                let ((takes, otherwise), row, value) = (fitted.takes(), table.origin(row) + 1, before[row]);
                let kind = map.kind();
                let message =
                    format!("row {row}, column `{name}`: target_map {kind} takes {takes}, and this is {value}");
                return Err(Error::Shape(format!("{message}; {otherwise}")));
            }
            // Rows of weight 0 are ignored.
            target.mapv_inplace(|y| if y.is_finite() { y } else { 0.0 });
            all.push(TargetUnits::from_map(fitted, self.is_smeared));
        }
        Ok(Some(all))
    }

    /// Fits and applies the maps in a range, to targets in some units.
    pub fn fit_between(
        &self,
        some: Range<usize>,
        rows: &mut LabeledTable,
        mut units: Option<Vec<TargetUnits>>,
    ) -> Result<FittedPreprocessing> {
        let (mut maps, mut filled) = (Vec::new(), Vec::new());
        for index in some {
            let map = &self.maps[index];
            let under = |e: Error| e.under(&format!("preprocess[{index}]")).named(&**map);
            let training = TrainingRows {
                table: &rows.table,
                targets: rows.targets.view(),
                outputs: &self.target_names,
                lagged: &self.lagged,
                weights: rows.labels.weights.as_deref(),
                groups: rows.labels.groups.as_deref(),
                seed: self.seed,
            };
            let mut fitted = map.fit(&training).map_err(under)?;
            if fitted.kind.is_empty() {
                fitted.kind = map.kind().into();
            }
            fitted.check(&rows.table).map_err(under)?;
            let traits = map.traits();
            let gone = (traits.in_folds == RefitScope::Impute)
                .then(|| FilledCells::before(index, traits.is_refit_required, &rows.table));
            match fitted.training.take() {
                Some(table) => rows.table = table,
                None => {
                    check_size(&fitted, &rows.table, self.budget)?;
                    rows.map(&fitted).map_err(under)?;
                }
            }
            if self.maps.iter().rposition(|map| map.traits().needs_order) == Some(index) {
                rows.drop_history();
            }
            filled.extend(gone.map(|gone| gone.after(&rows.table)));
            maps.push(fitted);
            let outputs = rows.targets.nrows();
            for output in (0..outputs).filter(|_| traits.standardizes_targets) {
                let target = rows.targets.row(output).to_vec();
                let scale = moments(&target, rows.labels.weights.as_deref(), "the target").map_err(under)?;
                if self.task != Task::Regression {
                    return Err(under(Error::setting("target", "classes are not scaled; set it to false")));
                }
                let scaled = |y: f64| (y - scale.shift) / scale.scale;
                Arc::make_mut(&mut rows.targets).row_mut(output).mapv_inplace(scaled);
                let so_far = &mut units.get_or_insert_with(|| vec![TargetUnits::default(); outputs])[output];
                *so_far = std::mem::take(so_far).with_scale(scale);
            }
        }
        Ok(FittedPreprocessing { maps, units, filled })
    }

    /// A problem of these columns and targets.
    pub fn problem(&self, columns: Columns, names: Vec<String>, targets: Arc<Array2<f64>>) -> Result<Problem> {
        Problem::new(columns, names, targets, self.target_names.clone(), self.task.clone())
    }

    /// Marks the bias column that the last map added, if it did.
    pub fn with_bias(&self, problem: Problem) -> Result<Problem> {
        let name = self.maps.last().and_then(|map| map.traits().bias);
        match name.and_then(|name| problem.names().iter().position(|other| *other == name)) {
            Some(bias) => problem.with_bias(bias),
            None => Ok(problem),
        }
    }

    /// Applies fitted maps to other rows, and makes their problem.
    ///
    /// # Errors
    /// Fails for a cell that the maps cannot handle, and if columns of `names` are missing.
    pub fn apply(&self, mut rows: LabeledTable, maps: &[MapFormulas], names: &[String]) -> Result<Problem> {
        for map in maps {
            check_size(map, &rows.table, self.budget)?;
            rows.map(map)?;
        }
        if self.needs_order() {
            rows.drop_history();
        }
        let (columns, found) = numeric(&mut rows.table)?;
        let missing = |name: &String| Error::unknown("data.test", "column", name, found.iter());
        let places: HashMap<&String, usize> = found.iter().enumerate().map(|(place, name)| (name, place)).collect();
        let order: Vec<usize> =
            names.iter().map(|name| places.get(name).copied().ok_or_else(|| missing(name))).collect::<Result<_>>()?;
        let problem = self.problem(columns.select(&order), names.to_vec(), std::mem::take(&mut rows.targets))?;
        problem.with_labels(rows.row_labels())
    }
}

/// Converts predictions, outputs × rows, to the units of the data; smeared if `units` hold residuals.
pub fn in_units(predictions: &mut Array2<f64>, units: Option<&[TargetUnits]>) {
    for (mut row, units) in predictions.rows_mut().into_iter().zip(units.unwrap_or_default()) {
        row.mapv_inplace(|p| units.prediction(p));
    }
}

/// Refuses a map whose output would exceed the memory budget, before it is made.
pub fn check_size(map: &MapFormulas, table: &Table, budget: Budget) -> Result<()> {
    let remedy = "leave columns out by data.exclude, pool rare levels by `rare`, or raise the limit";
    let what = format_args!("{{kind: {}}}: the columns that it makes of {} rows", map.kind, table.rows());
    budget.need(map.growth(table), what, remedy)
}

/// Takes the columns of a table without text, dates and missing cells; the rows stay.
///
/// # Errors
/// * [`Error::NonFinite`] for a missing cell.
/// * [`Error::Setting`] for a column of text or dates, with a remedy.
pub fn numeric(table: &mut Table) -> Result<(Columns, Vec<String>)> {
    let (mut columns, mut names) = (Columns::new(table.rows()), Vec::new());
    for (name, cells) in table.take_columns() {
        if cells.numbers().is_none() {
            let map = if matches!(cells, Cells::Text(_)) { "one_hot" } else { "date_parts" };
            let example = (0..cells.len()).find(|&row| !cells.is_missing(row)).map(|row| cells.label(row));
            let (what, example) = (cells.what(), example.unwrap_or_default());
            let message = format!(
                "the column `{name}` holds {what} (`{example}`, …); add {{kind: {map}}} to preprocess or the column to data.exclude"
            );
            return Err(Error::setting("preprocess", message));
        }
        if let Some((first, count)) = cells.missing() {
            return Err(Error::NonFinite {
                row: table.origin(first) + 1,
                column: name,
                value: "a missing cell".into(),
                count,
                file: None,
                remedy: Some("add {kind: impute} to preprocess, or the column to data.exclude; `mean` and `median` fill numbers, `most_frequent` text too".into()),
            });
        }
        if let Cells::Numbers(numbers) = cells {
            columns.push(numbers);
            names.push(name);
        }
    }
    Ok((columns, names))
}
