//! Checks for maps with lags: steps over gaps, series that are too short, columns of the present.

use super::table_with_roles::{TableWithRoles, listed, named};
use vaglio_core::{Cells, Table};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_report::record::{Warning, WarningKind};

/// Warnings for lags. `has_gaps`: rows without a target are left out. `all`: the rows before the test split.
pub(in super::super) fn steps(
    read: TableWithRoles<'_>,
    pipeline: &ValidPipeline,
    has_gaps: bool,
    all: Option<&Table>,
) -> Vec<Warning> {
    let gaps = (has_gaps && pipeline.selector().needs_order()).then(|| {
        let message = "rows without a target are left out, and steps back in time are counted over those that are left";
        Warning::new(WarningKind::StepsOverGaps, message)
    });
    let past = pipeline.preprocess.iter().map(|map| map.traits().past).max().unwrap_or(0);
    let dropped = all.and_then(|all| dropped_series(all, past));
    gaps.into_iter().chain(dropped).chain(present(read, pipeline)).collect()
}

/// Warns of series that are not longer than the longest lag.
fn dropped_series(table: &Table, past: usize) -> Option<Warning> {
    let short: Vec<usize> =
        table.runs().filter(|run| run.len() <= past).map(|run| table.origin(run.start) + 1).collect();
    let first = short.first()?;
    let message = match short.len() {
        1 => format!("the series of row {first} has no row with {past} before it, which lags need; it is dropped"),
        count => format!(
            "{count} series have no row with {past} before it, which lags need, that of row {first} first; they are dropped"
        ),
    };
    Some(Warning::new(WarningKind::SeriesDropped, message))
}

/// Warns of features from the predicted row if other columns are lagged: a forecast may not know them.
fn present(read: TableWithRoles<'_>, pipeline: &ValidPipeline) -> Option<Warning> {
    let maps = &pipeline.preprocess;
    let past = |name: &str| maps.iter().find_map(|map| map.traits().lags.get(name).copied());
    let features = || read.features().filter(|(_, cells)| matches!(cells, Cells::Numbers(_)));
    let lagged = features().map(|(name, _)| name).chain(read.targets().map(|(name, _)| name));
    let lagged: Vec<String> = lagged.filter(|name| past(name).is_some_and(|steps| steps > 0)).map(named).collect();
    let present: Vec<String> =
        features().map(|(name, _)| name).filter(|name| past(name).is_none()).map(named).collect();
    if lagged.is_empty() || present.is_empty() || maps.iter().any(|map| !map.traits().horizons.is_empty()) {
        return None;
    }
    let (is, them) = if present.len() == 1 { ("is", "it") } else { ("are", "them") };
    let message = format!(
        "{} {is} taken from the row that is predicted, beside earlier values of {}; if that is not known before it, give {them} lags, or leave \
         {them} out by `data.exclude`; else lag 0 says that it is",
        listed(&present, " columns"),
        listed(&lagged, " columns")
    );
    Some(Warning::new(WarningKind::PresentColumns, message))
}
