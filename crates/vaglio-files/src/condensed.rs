//! Condensed tables: weighted rows that stand for many, fold by fold.

use vaglio_core::{Error, Result, Table};
use vaglio_pipeline::pipeline::{DataSpec, ValidPipeline};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_search::MOST_FOLDS;

/// Column of the weights.
pub const WEIGHT: &str = "vaglio_weight";
/// Column of the folds.
pub const FOLD: &str = "vaglio_fold";
/// Column with the number of rows that each row stands for; without it, the weight is that number.
pub const ROWS: &str = "vaglio_rows";

fn has(names: &[String], column: &str) -> bool {
    names.iter().any(|name| name == column)
}

/// Whether a table with these columns is condensed.
pub fn is_condensed(names: &[String]) -> bool {
    has(names, WEIGHT) && has(names, FOLD)
}

/// Refuses a condensed table if its columns are read without its weights.
pub fn check_weighted(field: &str, names: &[String], weights: Option<&str>) -> Result<()> {
    if is_condensed(names) && weights != Some(WEIGHT) {
        Err(Error::setting(field, "the table is condensed, so each row is made of several; take plain rows"))
    } else {
        Ok(())
    }
}

/// Gives the columns of a condensed table their roles. Returns the column with the numbers of rows; `None` for other
/// tables.
///
/// # Errors
/// [`Error::Setting`] for other weights or groups, an order of the rows, and parts of folds.
pub fn set_roles(spec: &mut DataSpec, names: &[String]) -> Result<Option<&'static str>> {
    if !is_condensed(names) {
        return Ok(None);
    }
    for (field, role, column) in [("data.weights", &mut spec.weights, WEIGHT), ("data.groups", &mut spec.groups, FOLD)]
    {
        if role.get_or_insert_with(|| column.into()) != column {
            return Err(refuse(field, &format!("it must be `{column}`")));
        }
    }
    refuse_first(&[
        ("data.series", spec.series.is_some()),
        ("data.time", spec.time.is_some()),
        ("data.test_last", spec.test_last.is_some()),
    ])?;
    let filters = spec.filters().map(|(field, filter)| (field, &filter.column));
    let test = spec.test_rows.iter().map(|test| ("data.test_rows".to_owned(), &test.column));
    match filters.chain(test).find(|(_, column)| *column != FOLD) {
        Some((field, _)) => Err(refuse(&field, &format!("rows are taken by whole folds, by `{FOLD}`"))),
        None => Ok(Some(if has(names, ROWS) { ROWS } else { WEIGHT })),
    }
}

/// An error for a setting that needs single rows.
pub fn refuse(field: &str, message: &str) -> Error {
    Error::setting(field, format!("{message}: the table is condensed, and has no single rows"))
}

/// Refuses the first of some settings that is asked for.
pub fn refuse_first(settings: &[(&str, bool)]) -> Result<()> {
    let asked = settings.iter().find(|(_, is_asked)| *is_asked);
    asked.map_or(Ok(()), |(field, _)| Err(refuse(field, "it needs single rows")))
}

/// Folds of condensed rows, and how many rows each stands for; `None` for a table without the column `counts`.
///
/// # Errors
/// [`Error::Setting`] for folds that are no whole numbers.
pub fn condensed_labels(table: &Table, counts: Option<&str>) -> Result<Option<(Vec<u32>, Vec<f64>)>> {
    let columns = counts.and_then(|counts| Some((table.get(FOLD)?, table.get(counts)?)));
    let Some((folds, counts)) = columns else { return Ok(None) };
    let fold = |row: usize| {
        let label = folds.label(row);
        let is_fold = |fold: &f64| fold.fract() == 0.0 && (0.0..MOST_FOLDS as f64).contains(fold);
        label.parse::<f64>().ok().filter(is_fold).map(|fold| fold as u32).ok_or_else(|| {
            let message = format!("row {} of `{FOLD}` is `{label}`, no whole number below {MOST_FOLDS}", row + 1);
            Error::setting("data.train", message)
        })
    };
    let counts = counts.numbers().map(|counts| counts.values().into_owned()).unwrap_or_default();
    Ok(Some(((0..folds.len()).map(fold).collect::<Result<_>>()?, counts)))
}

/// Refuses maps other than `standardize`, which need single rows.
pub fn check_maps(pipeline: &ValidPipeline) -> Result<()> {
    let other_map = pipeline.preprocess.iter().position(|map| map.kind() != "standardize");
    other_map.map_or(Ok(()), |at| {
        let message = "only `standardize` is possible; `vaglio condense` takes a pipeline with maps";
        Err(refuse(&format!("preprocess[{at}]"), message))
    })
}

/// Says what a condensed table stands for.
pub fn notice(rows: usize, counts: &[f64]) -> Warning {
    let all: f64 = counts.iter().sum();
    let message = format!("the table is condensed: {rows} weighted rows stand for {all:.0} rows");
    Warning::new(WarningKind::Condensed, message)
}
