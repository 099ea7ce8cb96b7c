//! Data checks: warnings of target leaks, duplicated rows, codes for missing values and levels in two spellings.
//!
//! Columns are screened on a sample of the rows and judged on all of them; the cost is that of a few passes over the
//! table. No check fails the run.

mod copies;
mod leaks;
mod profile;

use super::roles::DataSettings;
use super::rows::RawTable;
use profile::{Profile, in_backticks, join_with_and, range};
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Cells, Column, Table, join, pluralize};
use vaglio_kernels::parallel;
use vaglio_report::record::{LeftOutReason, Warning, WarningKind};
use vaglio_tables::read::{IN_COMPANION, LEADING_ZEROS};
use vaglio_tables::{InferredType, quote_for_yaml, word_list};

/// Minimum number of rows for checks, except for leaks, which have a significance level.
const FEWEST: usize = 10;

/// All warnings on the training rows `raw`, in a fixed order. Cost O(rows · columns).
pub fn check_data(settings: &DataSettings<'_>, raw: &RawTable, test: Option<&Table>) -> Vec<Warning> {
    let profile = &Profile::new(settings, raw, test);
    let (mut found, ordered) = leaks::find_leaks(profile);
    found.extend(left_out(profile));
    found.extend(ordered);
    if raw.table.rows() >= FEWEST {
        found.extend(copies::copies(profile));
        found.extend(copies::groups_on_both_sides(profile));
        found.extend(codes(profile));
        found.extend(levels(profile));
        found.extend(leading_zeros(profile));
    }
    found.extend(lag_warnings(profile));
    found
}

/// Numbers that often encode a missing value.
const CODES: [f64; 6] = [-9.0, -99.0, -999.0, -9999.0, 999.0, 9999.0];

/// Warns of numbers that seem to encode missing values.
fn codes(profile: &Profile<'_>) -> Option<Warning> {
    let mut found = Vec::new();
    let mut words = BTreeSet::new();
    let columns: Vec<(&str, &Cells)> = profile.columns().collect();
    let of_columns = parallel::map_slice(&columns, |(_, cells)| {
        // Byte columns cannot hold them.
        let column = cells.numbers().filter(|column| !matches!(column, Column::Byte(_) | Column::Sparse(_)));
        column.map(|column| codes_among(&column.values())).unwrap_or_default()
    });
    for ((name, _), codes) in columns.iter().zip(of_columns) {
        for (code, count) in codes {
            found.push(format!("{code} in {} of {}", pluralize(count, "row"), in_backticks(name)));
            words.insert(code.to_string());
        }
    }
    if found.is_empty() {
        return None;
    }
    let remedy = if profile.raw.profile.is_typed {
        "write these cells as missing".to_owned()
    } else {
        let known = profile.settings.spec.read.na.iter();
        format!("set data.read.na: {} (the list replaces the default one)", word_list(known.chain(&words)))
    };
    let message = format!(
        "{} lie far from all other values; if they are codes of missing cells, {remedy}",
        join_with_and(&found, " columns")
    );
    Some(Warning::new(WarningKind::MissingCodes, message))
}

/// Codes that occur more than once and lie farther from the other values than these from each other.
fn codes_among(values: &[f64]) -> Vec<(f64, usize)> {
    let (low, high) = range(values);
    if !CODES.contains(&low) && !CODES.contains(&high) {
        return Vec::new();
    }
    let others: Vec<f64> = values.iter().copied().filter(|value| !CODES.contains(value)).collect();
    let (low, high) = range(&others);
    let far = |code: f64| high > low && (low - code > high - low || code - high > high - low);
    let count = |code: f64| values.iter().filter(|value| **value == code).count();
    CODES.iter().filter(|code| far(**code)).map(|code| (*code, count(*code))).filter(|(_, count)| *count > 1).collect()
}

/// Warns of levels that differ only by case or spaces.
fn levels(profile: &Profile<'_>) -> Option<Warning> {
    let mut found = Vec::new();
    for (name, cells) in profile.columns() {
        let Cells::Text(text) = cells else { continue };
        let distinct: BTreeSet<&str> = text.iter().map(String::as_str).collect();
        let mut forms: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for level in distinct {
            let form = join(level.split_whitespace(), " ").to_lowercase();
            forms.entry(form).or_default().push(level);
        }
        let alike = forms.into_values().filter(|levels| levels.len() > 1);
        found.extend(alike.map(|levels| {
            format!("{} of {}", join_with_and(levels.into_iter().map(in_backticks), ""), in_backticks(name))
        }));
    }
    if found.is_empty() {
        return None;
    }
    let message = format!(
        "levels differ only by case or blanks: {}; write them alike in the file if they are one level",
        join_with_and(&found, "")
    );
    Some(Warning::new(WarningKind::LevelsAlike, message))
}

/// Warns of columns that are left out because they are empty, or only number or name the rows.
fn left_out(profile: &Profile<'_>) -> Option<Warning> {
    let empty = profile.names(|column| column.taken == InferredType::Empty).map(|name| (name, "no row has a value"));
    let aside = profile.raw.profile.aside.iter().map(|(name, why)| (name.as_str(), *why));
    let aside = aside.filter(|(name, why)| *why != IN_COMPANION && profile.raw.profile.column(name).is_none());
    let all = empty.chain(aside).filter(|(name, _)| !profile.settings.is_named(name));
    let found: Vec<String> = all.map(|(name, why)| format!("{} ({why})", in_backticks(name))).collect();
    let is = if found.len() == 1 { "is" } else { "are" };
    let message = format!("{} {is} left out", join_with_and(&found, " columns"));
    (!found.is_empty()).then(|| Warning::new(WarningKind::ColumnsLeftOut, message))
}

/// Warns of columns that stayed text because of leading zeros.
fn leading_zeros(profile: &Profile<'_>) -> Option<Warning> {
    let with_zeros: BTreeSet<&str> = profile.names(|column| column.note.as_deref() == Some(LEADING_ZEROS)).collect();
    let found: Vec<&str> =
        profile.features.iter().map(|(name, _)| *name).filter(|name| with_zeros.contains(name)).collect();
    let first = found.first()?;
    let is = if found.len() == 1 { "is" } else { "are" };
    let message = format!(
        "{} {is} read as text, since zeros begin some cells; `data.types: {{{}: number}}` reads numbers",
        join_with_and(found.iter().map(|name| in_backticks(name)), " columns"),
        quote_for_yaml(first)
    );
    Some(Warning::new(WarningKind::LeadingZeros, message))
}

/// Warnings for lags.
fn lag_warnings(profile: &Profile<'_>) -> Vec<Warning> {
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

#[cfg(test)]
mod tests;
