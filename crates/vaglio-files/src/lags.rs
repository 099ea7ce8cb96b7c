//! Lags and horizons: rows with those before them, and targets of later rows.

use super::roles::Roles;
use super::series::places_of;
use std::collections::HashSet;
use std::ops::Range;
use vaglio_core::{Cells, Error, MapTraits, Numbers, Result, Table};
use vaglio_pipeline::pipeline::Settings;

/// Lags and horizons of a pipeline.
pub(super) struct LagSpec {
    /// Number of previous rows that the maps use.
    pub past: usize,
    /// Prediction horizons of the targets, in steps; empty for targets of the row itself.
    pub horizons: Vec<usize>,
}

impl LagSpec {
    /// Reads them from the maps of a pipeline; `None` if no map needs time order.
    ///
    /// # Errors
    /// [`Error::Setting`] if two maps have horizons.
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let maps: Vec<MapTraits> = settings.preprocess.iter().map(|map| map.traits()).collect();
        let mut ahead = maps.iter().enumerate().filter(|(_, map)| !map.horizons.is_empty());
        let horizons = ahead.next().map_or_else(Vec::new, |(_, map)| map.horizons.clone());
        if let Some((second, _)) = ahead.next() {
            let field = format!("preprocess[{second}].horizons");
            return Err(Error::setting(field, "a map before it has them already, and targets are taken once"));
        }
        let past = maps.iter().fold(0usize, |sum, map| sum.saturating_add(map.past));
        Ok(maps.iter().any(|map| map.needs_order).then_some(LagSpec { past, horizons }))
    }
}

/// Names of the outputs made from targets.
pub(super) fn outputs(targets: &[String], horizons: &[usize]) -> Vec<String> {
    match horizons.is_empty() {
        true => targets.to_vec(),
        false => targets.iter().flat_map(|name| horizons.iter().map(move |h| ahead_of(name, *h))).collect(),
    }
}

/// Name of the target `name`, `steps` ahead.
pub(super) fn ahead_of(name: &str, steps: usize) -> String {
    format!("{name}+{steps}")
}

/// The cells `steps` rows later in each run, missing beyond its end or if `is_there` is false.
pub(super) fn later(cells: &Cells, table: &Table, steps: usize, is_there: impl Fn(usize) -> bool) -> Cells {
    let mut from: Vec<Option<usize>> = vec![None; table.rows()];
    for run in table.runs() {
        let ends = run.end;
        run.for_each(|row| from[row] = row.checked_add(steps).filter(|&to| to < ends && is_there(to)));
    }
    with_missing(cells, &from)
}

/// The cells of some rows, missing where there is no row.
pub(super) fn with_missing(cells: &Cells, from: &[Option<usize>]) -> Cells {
    let number =
        |value: &dyn Fn(usize) -> f64| from.iter().map(|row| row.map_or(f64::NAN, value)).collect::<Vec<f64>>();
    match cells {
        Cells::Numbers(numbers) => Cells::Numbers(Numbers::from(number(&|row| numbers.view().get(row)))),
        Cells::Dates(dates) => Cells::Dates(number(&|row| dates[row])),
        Cells::Text(text) => {
            Cells::Text(from.iter().map(|row| row.map(|row| text[row].clone()).unwrap_or_default()).collect())
        }
    }
}

/// Rows of the training or test set, with the rows of their lags.
pub(super) struct RowsWithLags {
    pub table: Table,
    /// Positions of the rows that belong to the set, if others only serve as lags.
    pub counted: Option<Vec<usize>>,
    /// With horizons, the rank of each row's time, and of the time at which its targets are known.
    pub times: Option<(Vec<u32>, Vec<u32>)>,
}

impl RowsWithLags {
    /// Adds the rows of their lags to the rows `own`, from `all` rows in series order. Targets of the rows `hidden` are
    /// set to missing.
    ///
    /// # Errors
    /// [`Error::Setting`] if no row has all its future targets.
    pub fn new(roles: &Roles<'_>, own: Table, all: Option<&Table>, hidden: Option<&Table>) -> Result<Self> {
        let plain = |table: Table| Ok(RowsWithLags { table, counted: None, times: None });
        let (Some(LagSpec { past, horizons }), Some(all)) = (roles.lags, all) else { return plain(own) };
        if own.rows() == all.rows() && horizons.is_empty() {
            return plain(own);
        }
        let origins = |table: &Table| (0..table.rows()).map(|row| table.origin(row)).collect::<HashSet<usize>>();
        let (own, hidden) = (origins(&own), hidden.map(origins).unwrap_or_default());
        let (rows, targets) = (all.rows(), roles.spec.target.names());
        let is_own: Vec<bool> = (0..rows).map(|row| own.contains(&all.origin(row))).collect();
        let mut ahead: Vec<(String, Cells)> = Vec::new();
        for (name, cells) in targets.iter().filter_map(|name| Some((name, all.get(name)?))) {
            let column = |steps: &usize| (ahead_of(name, *steps), later(cells, all, *steps, |row| is_own[row]));
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
        let kept: Vec<usize> = all.runs().flat_map(|run| looked_at(run, &counts, *past)).collect();
        let mut table = all.clone();
        let mut columns = table.take_columns();
        for (_, cells) in columns.iter_mut().filter(|(name, _)| !hidden.is_empty() && targets.contains(name)) {
            *cells = later(cells, all, 0, |row| !hidden.contains(&all.origin(row)));
        }
        columns.extend(ahead);
        let table = table.with_columns(columns)?.select_rows(&kept);
        let counted: Vec<usize> = (0..kept.len()).filter(|&place| counts[kept[place]]).collect();
        let times = horizons.last().map(|steps| {
            let (time, known) = times(all, roles.spec.time.as_deref(), *steps);
            let of = |ranks: Vec<u32>| kept.iter().map(|&row| ranks[row]).collect();
            (of(time), of(known))
        });
        Ok(RowsWithLags { table, counted: (counted.len() < kept.len()).then_some(counted), times })
    }
}

/// Rows of `all` up to the last of `own` in each series: the history of new rows.
pub(super) fn until_last(all: &Table, own: &Table) -> Table {
    let origins: HashSet<usize> = (0..own.rows()).map(|row| own.origin(row)).collect();
    let is_own = |row: &usize| origins.contains(&all.origin(*row));
    let kept = all.runs().flat_map(|run| run.start..run.rev().find(is_own).map_or(0, |last| last + 1));
    all.select_rows(&kept.collect::<Vec<usize>>())
}

/// Rows of a run that count, or are among the `past` rows before one that does.
fn looked_at(run: Range<usize>, counts: &[bool], past: usize) -> Vec<usize> {
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
fn times(table: &Table, time: Option<&str>, steps: usize) -> (Vec<u32>, Vec<u32>) {
    let in_series = || table.runs().flat_map(|run| (0..run.len()).map(|place| place as u32)).collect();
    let time: Vec<u32> = time.and_then(|name| places_of(table.get(name)?)).unwrap_or_else(in_series);
    let mut known = vec![u32::MAX; time.len()];
    for run in table.runs() {
        let end = run.end;
        run.filter(|row| row + steps < end).for_each(|row| known[row] = time[row + steps]);
    }
    (time, known)
}
