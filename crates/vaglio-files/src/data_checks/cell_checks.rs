//! Cell checks: codes for missing values among numbers, levels in two spellings, codes with leading zeros.

use super::profile::{Profile, in_backticks, join_with_and};
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Cells, Column, join, pluralize};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_tables::read::{IN_COMPANION, InferredType, LEADING_ZEROS};
use vaglio_tables::{quote_for_yaml, word_list};

/// Numbers that often encode a missing value.
const CODES: [f64; 6] = [-9.0, -99.0, -999.0, -9999.0, 999.0, 9999.0];

/// Warns of numbers that seem to encode missing values.
pub(super) fn codes(profile: &Profile<'_>) -> Option<Warning> {
    let (mut found, mut words) = (Vec::new(), BTreeSet::new());
    for (name, cells) in profile.columns() {
        // Byte columns cannot hold them.
        let column = cells.numbers().filter(|column| !matches!(column, Column::Byte(_) | Column::Sparse(_)));
        for (code, count) in column.map(|column| codes_among(&column.values())).unwrap_or_default() {
            found.push(format!("{code} in {} of {}", pluralize(count, "row"), in_backticks(name)));
            words.insert(code.to_string());
        }
    }
    if found.is_empty() {
        return None;
    }
    let remedy = match profile.raw.profile.is_typed {
        true => "write these cells as missing".to_owned(),
        false => {
            let known = profile.settings.spec.read.na.iter().map(|word| &word.0);
            format!("set data.read.na: {} (the list replaces the default one)", word_list(known.chain(&words)))
        }
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

/// Minimum and maximum of numbers, ignoring NaN; eight lanes.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights.iter().chain(std::iter::once(&std::array::from_fn(|k| *rest.get(k).unwrap_or(&f64::NAN)))) {
        for lane in 0..8 {
            // Comparisons with NaN are false.
            low[lane] = if eight[lane] < low[lane] { eight[lane] } else { low[lane] };
            high[lane] = if eight[lane] > high[lane] { eight[lane] } else { high[lane] };
        }
    }
    (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// Warns of levels that differ only by case or spaces.
pub(super) fn levels(profile: &Profile<'_>) -> Option<Warning> {
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
            let levels: Vec<String> = levels.into_iter().map(in_backticks).collect();
            format!("{} of {}", join_with_and(&levels, ""), in_backticks(name))
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
pub(super) fn left_out(profile: &Profile<'_>) -> Option<Warning> {
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
pub(super) fn leading_zeros(profile: &Profile<'_>) -> Option<Warning> {
    let with_zeros: BTreeSet<&str> = profile.names(|column| column.note.as_deref() == Some(LEADING_ZEROS)).collect();
    let found: Vec<&str> =
        profile.features.iter().map(|(name, _)| *name).filter(|name| with_zeros.contains(name)).collect();
    let first = found.first()?;
    let names: Vec<String> = found.iter().map(|name| in_backticks(name)).collect();
    let is = if found.len() == 1 { "is" } else { "are" };
    let message = format!(
        "{} {is} read as text, since zeros begin some cells; `data.types: {{{}: number}}` reads numbers",
        join_with_and(&names, " columns"),
        quote_for_yaml(first)
    );
    Some(Warning::new(WarningKind::LeadingZeros, message))
}
