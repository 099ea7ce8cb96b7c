//! Rows before fitting, and the problems made of them.

use crate::preprocess::{FittedPreprocessing, LabeledTable, Preprocessing, numeric};
use ndarray::Array2;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use vaglio_core::{Block, Cells, ClassOrder, Columns, MapFormulas, Problem, Result, RowLabels, Table, Task};
use vaglio_maps::block_of;
use vaglio_maps::folds::{FoldAssignment, connected_groups};
use vaglio_maps::target_maps::TargetUnits;
use vaglio_search::Judge;

/// A problem fitted on training rows, with the maps for other rows.
#[derive(Debug)]
pub struct FittedProblem {
    /// Problem of the training rows.
    pub problem: Problem,
    /// Maps fitted on the training rows.
    pub maps: Vec<MapFormulas>,
    /// Maps and scales of the targets, if any.
    pub units: Option<Vec<TargetUnits>>,
}

/// Rows before anything is learned from them.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Problem of the rows, with targets in the user's units. Where maps make the columns, it has neither columns nor
    /// weights.
    pub(super) problem: Problem,
    /// Rows before the maps, and the maps, if there are any.
    pub(super) mapped: Option<(Arc<LabeledTable>, Arc<Preprocessing>)>,
    /// Whether rows are ordered in time, form one series and are held out in blocks.
    pub ordered: bool,
}

impl Sample {
    /// Rows without maps; `ordered` if they are in time order.
    pub fn from_problem(problem: Problem, ordered: bool) -> Self {
        Sample { ordered: ordered && is_one_series(problem.series()), problem, mapped: None }
    }

    /// Rows of a table before the maps of the recipe; `ordered` if they are in time order.
    pub fn new(mut rows: LabeledTable, recipe: Arc<Preprocessing>, ordered: bool) -> Result<Self> {
        let ordered = ordered || recipe.needs_order();
        if recipe.maps.is_empty() && recipe.target_map.is_none() {
            let (columns, names) = numeric(&mut rows.table)?;
            let problem = recipe.problem(columns, names, std::mem::take(&mut rows.targets))?;
            return Ok(Sample::from_problem(recipe.in_precision(problem)?.with_labels(rows.row_labels())?, ordered));
        }
        if recipe.needs_order() {
            rows = without_lost_series(rows, &recipe)?;
        }
        let ordered = ordered && is_one_series(rows.table.series());
        if let Some(counting) = rows.counted_rows().filter(|_| !ordered && !recipe.needs_order()) {
            // Rows of weight 0 have no place in a fold, but may be the history of others.
            rows = rows.select(&counting);
        }
        rows.table = share_numbers(rows.table)?;
        let columns = Columns::new(rows.targets.ncols());
        let problem = recipe.problem(columns, Vec::new(), Arc::clone(&rows.targets))?;
        let problem = problem.with_labels(RowLabels { weights: None, ..rows.row_labels() })?;
        Ok(Sample { problem, mapped: Some((Arc::new(rows), recipe)), ordered })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.problem.rows()
    }

    /// Prediction task.
    pub fn task(&self) -> &Task {
        self.problem.task()
    }

    /// Scale of the losses that choose, if targets are mapped.
    pub fn judge(&self) -> Option<Judge> {
        let (_, recipe) = self.mapped.as_ref()?;
        recipe.target_map.as_ref().map(|_| recipe.judge)
    }

    /// Targets, outputs × rows, in the user's units.
    pub fn targets(&self) -> &Arc<Array2<f64>> {
        self.problem.targets()
    }

    /// Structure of the rows for a split into folds.
    pub fn fold_assignment(&self) -> FoldAssignment {
        let groups = self.problem.groups();
        if self.ordered && groups.is_none() {
            // Time index of each row, from 0; rows may share times.
            let (rows, time) = (self.rows(), self.problem.labels().time.as_deref());
            let later = (1..rows).scan(0, |point, row| {
                *point += u32::from(time.is_none_or(|time| time[row] != time[row - 1]));
                Some(*point)
            });
            return FoldAssignment::in_time(std::iter::once(0).chain(later).take(rows).collect());
        }
        let labels: Vec<&[u32]> = groups.into_iter().chain(self.whole_series()).collect();
        FoldAssignment::from_labels(&labels, self.rows(), self.classes())
    }

    /// Series whose rows stay together, unless rows are ordered.
    fn whole_series(&self) -> Option<&[u32]> {
        self.problem.series().filter(|_| !self.ordered)
    }

    /// Cluster of each row: its group or series, a stretch of ordered rows, or else the row itself.
    pub fn clusters(&self) -> Vec<u32> {
        clusters(self.rows(), self.problem.groups(), self.whole_series(), self.ordered)
    }

    /// Whether each row is a cluster of its own.
    pub fn has_single_rows(&self) -> bool {
        !self.ordered && self.labels().is_none()
    }

    /// Labels of rows that must stay together in every split.
    pub fn labels(&self) -> Option<&[u32]> {
        self.problem.groups().or_else(|| self.whole_series())
    }

    /// Order of the classes by total weight; `None` for numbers.
    pub fn class_order(&self) -> Option<ClassOrder> {
        let weights = match &self.mapped {
            Some((rows, _)) => rows.labels.weights.as_deref(),
            None => self.problem.weights(),
        };
        (*self.task() != Task::Regression).then(|| ClassOrder::new(self.targets().view(), weights))
    }

    /// Class of each row; `None` for numbers.
    pub fn classes(&self) -> Option<Vec<usize>> {
        self.problem.classes().map(|classes| classes.per_row)
    }

    /// Selects rows, in increasing order. For ordered rows or several series, a gap begins a new series.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        let series = self.problem.series();
        let series_of_row = |row: usize| series.map_or(0, |series| series[row]);
        let (mut run, mut has_gap) = (0, self.ordered);
        let mut next = |pair: &[usize]| {
            let is_gap = pair[1] != pair[0] + 1;
            let is_same = series_of_row(pair[0]) == series_of_row(pair[1]);
            has_gap |= is_gap && is_same;
            run += u32::from(is_gap || !is_same);
            run
        };
        let runs: Vec<u32> = std::iter::once(0).chain(rows.windows(2).map(&mut next)).take(rows.len()).collect();
        let runs = (if series.is_some() { has_gap } else { self.ordered && run > 0 }).then_some(runs);
        let mut problem = self.problem.view_rows(rows);
        if let Some(runs) = &runs {
            let labels = RowLabels { series: Some(runs.as_slice().into()), ..problem.labels().clone() };
            problem = problem.with_labels(labels)?;
        }
        let mut mapped = None;
        if let Some((all, recipe)) = &self.mapped {
            let mut chosen = all.select(rows);
            chosen.table = share_numbers(chosen.table)?;
            if let Some(runs) = runs {
                chosen.table = chosen.table.with_series(runs)?;
            }
            mapped = Some((Arc::new(chosen), Arc::clone(recipe)));
        }
        Ok(Sample { problem, mapped, ordered: self.ordered })
    }

    /// Fits the maps on these rows and makes their problem.
    pub fn fit(&self) -> Result<FittedProblem> {
        let Some((before, recipe)) = &self.mapped else {
            return Ok(FittedProblem { problem: self.problem.clone(), maps: Vec::new(), units: None });
        };
        let mut rows = LabeledTable::clone(before);
        let FittedPreprocessing { maps, units, filled } = recipe.fit(&mut rows)?;
        let (columns, names) = numeric(&mut rows.table)?;
        let blocks = blocks(&maps, &names);
        let problem = recipe.problem(columns, names, std::mem::take(&mut rows.targets))?;
        let problem = recipe.with_bias(recipe.in_precision(problem)?.with_blocks(blocks))?;
        let formulas = recipe.formulas_in_folds(&filled, &maps, problem.names(), &rows.table);
        let needs_maps = formulas.is_none();
        let mut problem = problem.with_preprocessing(formulas.unwrap_or_default()).with_labels(rows.row_labels())?;
        if needs_maps {
            let in_folds = recipe.maps_in_folds(before, &problem)?;
            problem = problem.with_preprocessing(in_folds);
        }
        Ok(FittedProblem { problem, maps, units })
    }

    /// Problem of the held-out rows `held` by maps fitted on others, with the cluster of each row and with targets in the
    /// user's units.
    pub fn held_out(&self, held: &[usize], fitted: &FittedProblem) -> Result<Problem> {
        let all = self.clusters();
        let clusters = Some(held.iter().map(|&row| all[row]).collect());
        let Sample { problem, mapped, .. } = self.select(held)?;
        let Some((rows, recipe)) = mapped else {
            let labels = RowLabels { clusters, ..problem.labels().clone() };
            return problem.with_labels(labels);
        };
        let labels = RowLabels { clusters, ..rows.labels.clone() };
        recipe.apply(LabeledTable { labels, ..LabeledTable::clone(&rows) }, &fitted.maps, fitted.problem.names())
    }

    /// Drops training rows whose later targets are in the held-out block.
    pub(super) fn drop_overlap(&self, training: &mut Vec<usize>, held: &[usize]) {
        let RowLabels { time: Some(time), known: Some(known), .. } = self.problem.labels() else { return };
        let first = held.iter().map(|&row| time[row]).min();
        let last = held.iter().map(|&row| known[row]).max();
        let (Some(first), Some(last)) = (first, last) else { return };
        // Targets of a row lie between its time and the time at which they are known.
        training.retain(|&row| known[row] <= first || time[row] >= last);
    }

    /// Indices of the rows with positive weight, if others only serve as history.
    pub fn counted_rows(&self) -> Option<Vec<usize>> {
        self.mapped.as_ref().and_then(|(rows, _)| rows.counted_rows())
    }

    /// Table of the rows before the maps; `None` without maps.
    pub fn table(&self) -> Option<&Table> {
        self.mapped.as_ref().map(|(rows, _)| &rows.table)
    }

    /// Names of the targets.
    pub fn target_names(&self) -> &[String] {
        self.problem.target_names()
    }
}

/// Makes the numbers of the table shared between copies.
fn share_numbers(mut table: Table) -> Result<Table> {
    let mut columns = table.take_columns();
    for (_, cells) in &mut columns {
        if let Cells::Numbers(numbers) = cells {
            numbers.share();
        }
    }
    table.with_columns(columns)
}

/// Blocks: columns that the maps made from one column.
fn blocks(maps: &[MapFormulas], names: &[String]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        let Some(source) = block_of(maps, name) else { continue };
        let next = blocks.len();
        match *places.entry(source.clone()).or_insert(next) {
            place if place < next => blocks[place].columns.push(index),
            _ => blocks.push(Block { name: source, columns: vec![index] }),
        }
    }
    blocks
}

/// Number of stretches of ordered rows that each count as one observation.
const STRETCHES: usize = 10;

/// Cluster number of each row, from 0. Rows that share a group or a series are one cluster; ordered rows form ten
/// stretches; any other row is its own.
pub fn clusters(rows: usize, groups: Option<&[u32]>, series: Option<&[u32]>, is_ordered: bool) -> Vec<u32> {
    let is_ordered = is_ordered && is_one_series(series);
    let labels: Vec<&[u32]> = groups.into_iter().chain(series.filter(|_| !is_ordered)).collect();
    if labels.is_empty() {
        let stretches = if is_ordered { STRETCHES.min(rows / 2).max(1) } else { rows };
        return (0..rows).map(|row| (row * stretches / rows) as u32).collect();
    }
    connected_groups(&labels, rows).0
}

/// Drops each series that would lose all of its rows in the maps.
fn without_lost_series(rows: LabeledTable, recipe: &Preprocessing) -> Result<LabeledTable> {
    let Some(series) = rows.table.series().map(<[u32]>::to_vec) else { return Ok(rows) };
    let mut mapped = rows.clone();
    recipe.fit(&mut mapped)?;
    let left: HashSet<u32> = mapped.table.series().unwrap_or_default().iter().copied().collect();
    let kept: Vec<usize> = (0..series.len()).filter(|&row| left.contains(&series[row])).collect();
    Ok(if kept.len() == series.len() { rows } else { rows.select(&kept) })
}

fn is_one_series(series: Option<&[u32]>) -> bool {
    series.is_none_or(|series| series.iter().all(|id| *id == series[0]))
}
