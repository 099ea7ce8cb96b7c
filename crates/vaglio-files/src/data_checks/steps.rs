//! Checks for maps with lags: steps over gaps, series that are too short, columns of the present.

use super::profile::{Profile, in_backticks, join_with_and};
use vaglio_core::{Cells, Table};
use vaglio_report::record::{LeftOutReason, Warning, WarningKind};

/// Warnings for lags.
pub(super) fn steps(profile: &Profile<'_>) -> Vec<Warning> {
    let Profile { settings, raw, .. } = profile;
    let has_gaps = raw.left_out.iter().any(|rows| rows.reason != LeftOutReason::Filter);
    let gaps = (has_gaps && settings.needs_order).then(|| {
        let message = "rows without a target are left out, and steps back in time are counted over those that are left";
        Warning::new(WarningKind::StepsOverGaps, message)
    });
    let dropped = raw.all.as_ref().and_then(|all| warn_of_short_series(all, settings.lags.longest));
    gaps.into_iter().chain(dropped).chain(present(profile)).collect()
}

/// Warns of series that are not longer than the longest lag.
fn warn_of_short_series(table: &Table, past: usize) -> Option<Warning> {
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
fn present(profile: &Profile<'_>) -> Option<Warning> {
    let lags = &profile.settings.lags;
    let past = |name: &str| lags.columns.get(name).copied();
    let features = || profile.features.iter().filter(|(_, cells)| matches!(cells, Cells::Numbers(_)));
    let lagged = features().chain(&profile.targets).filter(|(name, _)| past(name).is_some_and(|steps| steps > 0));
    let lagged: Vec<String> = lagged.map(|(name, _)| in_backticks(name)).collect();
    let present = features().filter(|(name, _)| past(name).is_none());
    let present: Vec<String> = present.map(|(name, _)| in_backticks(name)).collect();
    if lagged.is_empty() || present.is_empty() || !lags.horizons.is_empty() {
        return None;
    }
    let (is, them) = if present.len() == 1 { ("is", "it") } else { ("are", "them") };
    let message = format!(
        "{} {is} taken from the row that is predicted, beside earlier values of {}; if that is not known before it, give {them} lags, or leave \
         {them} out by `data.exclude`; else lag 0 says that it is",
        join_with_and(&present, " columns"),
        join_with_and(&lagged, " columns")
    );
    Some(Warning::new(WarningKind::PresentColumns, message))
}
