//! Lags and horizons: rows with those before them, and targets of later rows.

use super::series::places_of;
use std::collections::HashSet;
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
    pub fn plain(table: Table) -> Self {
        RowsWithLags { table, counted: None, times: None }
    }
}

/// All rows of a table in series order.
pub(super) struct SeriesTable<'a> {
    pub table: Table,
    pub looks: &'a LagSpec,
    pub targets: &'a [String],
    pub time: Option<&'a str>,
}

impl SeriesTable<'_> {
    /// Selects some rows with those of their lags. Targets of the rows `hidden` are set to missing.
    ///
    /// # Errors
    /// [`Error::Setting`] if no row has all its future targets.
    pub fn side(&self, own: &Table, hidden: Option<&Table>) -> Result<RowsWithLags> {
        if own.rows() == self.table.rows() && self.looks.horizons.is_empty() {
            return Ok(RowsWithLags::plain(own.clone()));
        }
        let origins = |table: &Table| (0..table.rows()).map(|row| table.origin(row)).collect::<HashSet<usize>>();
        let (own, hidden) = (origins(own), hidden.map(origins).unwrap_or_default());
        let rows = self.table.rows();
        let is_own: Vec<bool> = (0..rows).map(|row| own.contains(&self.table.origin(row))).collect();
        let ahead = self.ahead(&is_own);
        let counts: Vec<bool> =
            (0..rows).map(|row| is_own[row] && ahead.iter().all(|(_, cells)| !cells.is_missing(row))).collect();
        let past = self.looks.past;
        let has_past = |run: std::ops::Range<usize>| run.skip(past).any(|row| counts[row]);
        if !self.looks.horizons.is_empty() && !self.table.runs().any(has_past) {
            let steps = self.looks.horizons.last().unwrap_or(&0);
            let message = format!(
                "no row that takes part has {past} rows before it in its series and {steps} after it, with their targets"
            );
            return Err(Error::setting("preprocess.horizons", message));
        }
        let kept: Vec<usize> = self.table.runs().flat_map(|run| self.looked_at(run, &counts)).collect();
        let mut all = self.table.clone();
        let mut columns = all.take_columns();
        for (_, cells) in columns.iter_mut().filter(|(name, _)| !hidden.is_empty() && self.targets.contains(name)) {
            let is_known = |row: usize| !hidden.contains(&self.table.origin(row));
            *cells = later(cells, &self.table, 0, is_known);
        }
        columns.extend(ahead);
        let table = all.with_columns(columns)?.select_rows(&kept);
        let counted: Vec<usize> = (0..kept.len()).filter(|&place| counts[kept[place]]).collect();
        let times = self.times().map(|times| {
            let of = |places: Vec<u32>| kept.iter().map(|&row| places[row]).collect();
            (of(times.0), of(times.1))
        });
        Ok(RowsWithLags { table, counted: (counted.len() < kept.len()).then_some(counted), times })
    }

    /// The rows up to the last one in use of each series: the history of new rows.
    pub fn until_last(&self, own: &Table) -> Table {
        let origins: HashSet<usize> = (0..own.rows()).map(|row| own.origin(row)).collect();
        let is_own = |row: &usize| origins.contains(&self.table.origin(*row));
        let runs = self.table.runs();
        let kept = runs.flat_map(|run| run.start..run.rev().find(is_own).map_or(0, |last| last + 1));
        self.table.select_rows(&kept.collect::<Vec<usize>>())
    }

    /// Rows of a run that count or serve as lags of those that do.
    fn looked_at(&self, run: std::ops::Range<usize>, counts: &[bool]) -> Vec<usize> {
        let mut wanted = 0;
        let is_kept = |row: &usize| {
            let is_kept = counts[*row] || wanted > 0;
            wanted = if counts[*row] { self.looks.past } else { wanted.saturating_sub(1) };
            is_kept
        };
        let mut kept: Vec<usize> = run.rev().filter(is_kept).collect();
        kept.reverse();
        kept
    }

    /// Future targets, as columns.
    fn ahead(&self, is_own: &[bool]) -> Vec<(String, Cells)> {
        let of = |name: &String| {
            let cells = self.table.get(name)?;
            let column = |steps: &usize| (ahead_of(name, *steps), later(cells, &self.table, *steps, |row| is_own[row]));
            Some(self.looks.horizons.iter().map(column).collect::<Vec<_>>())
        };
        self.targets.iter().filter_map(of).flatten().collect()
    }

    /// Rank of each row's time, and of the time of its furthest target: among all times, or within the series.
    fn times(&self) -> Option<(Vec<u32>, Vec<u32>)> {
        let steps = *self.looks.horizons.last()?;
        let in_series = || {
            let runs = self.table.runs();
            runs.flat_map(|run| (0..run.len()).map(|place| place as u32)).collect::<Vec<u32>>()
        };
        let time = self.time.and_then(|name| places_of(self.table.get(name)?)).unwrap_or_else(in_series);
        let mut known = vec![u32::MAX; time.len()];
        for run in self.table.runs() {
            let end = run.end;
            run.filter(|row| row + steps < end).for_each(|row| known[row] = time[row + steps]);
        }
        Some((time, known))
    }
}
