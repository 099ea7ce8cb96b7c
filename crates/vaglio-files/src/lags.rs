//! Lags and horizons: rows with those before them, and targets of later rows.

use std::collections::BTreeMap;
use vaglio_core::{Cells, Error, MapTraits, Numbers, Result, Table};
use vaglio_pipeline::pipeline::ValidPipeline;

/// Lags and horizons of a pipeline's maps.
pub struct LagSpec {
    /// Whether a map needs time order.
    pub needs_order: bool,
    /// Number of previous rows that the maps use together.
    pub past: usize,
    /// Largest number of previous rows that one map uses.
    pub longest: usize,
    /// Prediction horizons of the targets, in steps; empty for targets of the row itself.
    pub horizons: Vec<usize>,
    /// Smallest lag of each column, by the first map that names it.
    pub columns: BTreeMap<String, usize>,
    /// Targets whose lags the first map takes.
    pub targets: Vec<String>,
}

impl LagSpec {
    /// Reads them from the maps of a pipeline.
    ///
    /// # Errors
    /// [`Error::Setting`] if two maps have horizons, or a map before the lags of a target would see its present value.
    pub fn new(pipeline: &ValidPipeline) -> Result<Self> {
        let maps: Vec<MapTraits> = pipeline.preprocess.iter().map(|map| map.traits()).collect();
        let mut ahead = maps.iter().enumerate().filter(|(_, map)| !map.horizons.is_empty());
        let horizons = ahead.next().map_or_else(Vec::new, |(_, map)| map.horizons.clone());
        if let Some((second, _)) = ahead.next() {
            let field = format!("preprocess[{second}].horizons");
            return Err(Error::setting(field, "a map before it has them already, and targets are taken once"));
        }
        let mut targets = Vec::new();
        for name in pipeline.data.iter().flat_map(|data| data.target.names()) {
            match maps.iter().rposition(|map| map.lags.contains_key(name)) {
                Some(0) => targets.push(name.clone()),
                Some(place) => {
                    let message = format!(
                        "the past of the target `{name}` is taken by the first map; those before it would see its present"
                    );
                    return Err(Error::setting(format!("preprocess[{place}]"), message));
                }
                None => {}
            }
        }
        Ok(LagSpec {
            needs_order: maps.iter().any(|map| map.needs_order),
            past: maps.iter().fold(0usize, |sum, map| sum.saturating_add(map.past)),
            longest: maps.iter().map(|map| map.past).max().unwrap_or(0),
            horizons,
            columns: maps.into_iter().rev().flat_map(|map| map.lags).collect(),
            targets,
        })
    }
}

/// Name of the target `name`, `steps` ahead.
pub fn name_ahead(name: &str, steps: usize) -> String {
    format!("{name}+{steps}")
}

/// The cells `steps` rows later in each run, missing beyond its end or if `is_there` is false.
pub fn later(cells: &Cells, table: &Table, steps: usize, is_there: impl Fn(usize) -> bool) -> Cells {
    let mut from: Vec<Option<usize>> = vec![None; table.rows()];
    for run in table.runs() {
        let ends = run.end;
        run.for_each(|row| from[row] = row.checked_add(steps).filter(|&to| to < ends && is_there(to)));
    }
    with_missing(cells, &from)
}

/// The cells of some rows, missing where there is no row.
pub fn with_missing(cells: &Cells, from: &[Option<usize>]) -> Cells {
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
