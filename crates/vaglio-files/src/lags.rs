//! Lags and horizons: rows with those before them, and targets of later rows.

use vaglio_core::{Cells, Error, MapTraits, Numbers, Result, Table};
use vaglio_pipeline::pipeline::ValidPipeline;

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
    pub fn new(pipeline: &ValidPipeline) -> Result<Option<Self>> {
        let maps: Vec<MapTraits> = pipeline.preprocess.iter().map(|map| map.traits()).collect();
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
