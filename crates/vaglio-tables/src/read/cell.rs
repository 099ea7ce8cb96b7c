//! Rules for reading the cells of a column, and parsing of one text cell.

use super::fault::CORRECT;
use super::inference::Hint;
use crate::{DateOrder, Decimal, Notation, ReadSpec, quote_for_yaml, word_list};
use chrono::{Datelike, NaiveDate, NaiveTime, Timelike};
use vaglio_core::numerals::holds;

/// Rules for reading the cells of one column.
#[derive(Clone, Default)]
pub(super) struct ColumnRules<'s> {
    /// Name of the column.
    pub name: &'s str,
    /// Prior knowledge of the column's type.
    pub hint: Hint,
    /// Notation of the column in the training rows, if they were read before.
    pub known: Option<Notation>,
    /// Whether text is read as numbers while its cells are numbers.
    pub as_numbers: bool,
    /// Whether numbers are stored in single precision.
    pub is_single: bool,
    /// Whether the decimal mark is a comma, else a point.
    pub comma: bool,
    pub dates: DateOrder,
    /// Whether the file gives column types, so that numbers have no notation.
    pub is_stored: bool,
    /// Words for missing cells.
    pub na: &'s [String],
    /// Numbers for missing cells.
    pub na_numbers: Vec<f64>,
    /// Bytes of the longest word for missing cells.
    pub longest: usize,
    /// Whether the words are for this column alone.
    pub has_own_words: bool,
}

/// Words for missing cells in a file with column types.
static ONLY_EMPTY: [String; 1] = [String::new()];

impl<'s> ColumnRules<'s> {
    /// Rules by settings whose decimal mark was detected. `is_stored`: the file gives column types, and only empty cells
    /// are missing.
    pub fn new(name: &'s str, spec: &'s ReadSpec, is_stored: bool) -> Self {
        let own = spec.na_by_column.get(name).filter(|_| !is_stored);
        let na: &[String] = if is_stored { &ONLY_EMPTY[..] } else { own.unwrap_or(&spec.na) };
        let comma = spec.decimal == Decimal::Comma && !is_stored;
        ColumnRules {
            name,
            comma,
            dates: spec.dates,
            is_stored,
            na,
            na_numbers: na.iter().filter_map(|word| plain(word, comma)).filter(|v| v.is_finite()).collect(),
            longest: na.iter().map(String::len).max().unwrap_or(0),
            has_own_words: own.is_some(),
            ..ColumnRules::default()
        }
    }

    /// Whether a cell is the same number by the rules of another column of the table.
    pub fn is_like(&self, other: &Self) -> bool {
        std::ptr::eq(self.na, other.na) && self.known == other.known
    }

    /// Number of a plain cell of digits, sign, decimals and exponent; NaN if it is missing, `None` for others.
    #[inline]
    pub fn number(&self, cell: &str) -> Option<f64> {
        match plain(cell, self.comma) {
            Some(value) if value.is_finite() => match self.na_numbers.contains(&value) {
                true => Some(f64::NAN),
                false if self.known.is_some_and(|known| known.percent) => None,
                false => Some(value),
            },
            _ if self.is_missing(cell) => Some(f64::NAN),
            _ => None,
        }
    }

    /// A cell that represents a missing value.
    pub fn missing(&self) -> &str {
        self.na.iter().min_by_key(|word| word.len()).map_or("", String::as_str)
    }

    /// Whether whole numbers beyond double precision are rounded: only if the settings declare the column numeric.
    pub fn rounds(&self) -> bool {
        self.hint == Hint::Number && self.known.is_none_or(|known| known.rounded)
    }

    /// Remedy for a cell that is not like others of its column.
    pub fn remedy(&self, cell: &str) -> String {
        if self.known.is_some() || self.is_stored {
            return CORRECT.into();
        }
        let (name, words) = (quote_for_yaml(self.name), word_list(self.na.iter().chain([&cell.to_owned()])));
        let list =
            if self.has_own_words { format!("na_by_column: {{{name}: {words}}}") } else { format!("na: {words}") };
        let missing = "if it is a missing cell (the list replaces the default one)";
        format!("correct it, set data.read.{list} {missing}, or set data.types: {{{name}: text}}")
    }

    /// Whether a cell is missing.
    pub fn is_missing(&self, cell: &str) -> bool {
        cell.len() <= self.longest && self.na.iter().any(|word| word.eq_ignore_ascii_case(cell))
            || (!self.na_numbers.is_empty() && plain(cell, self.comma).is_some_and(|v| self.na_numbers.contains(&v)))
    }

    /// Number of a cell with thousands separators, a percent sign or a currency, if the training rows have such.
    pub fn number_in_known_notation(&self, cell: &str) -> Option<(f64, Notation)> {
        let is_allowed =
            |notation: Notation| !notation.rounded && self.known.is_none_or(|known| known.allows(notation));
        self.number_in_notation(cell).filter(|(_, notation)| is_allowed(*notation))
    }

    /// Number of a cell with thousands separators, a percent sign or a currency.
    pub fn number_in_notation(&self, cell: &str) -> Option<(f64, Notation)> {
        let (mut notation, mut rest) = (Notation::default(), cell.trim());
        let in_brackets = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let negative = in_brackets.is_some() || rest.starts_with(['-', '\u{2212}']);
        rest = in_brackets.unwrap_or(rest);
        rest = rest.strip_prefix(['-', '+', '\u{2212}']).unwrap_or(rest).trim();
        let is_currency = |c: char| matches!(c, '$' | '€' | '£' | '¥' | '₹' | '₽' | '₩');
        if let Some(sign) = rest.chars().next().filter(|c| is_currency(*c)) {
            notation.currency = Some(sign);
            rest = rest[sign.len_utf8()..].trim_start();
        } else if let Some(sign) = rest.chars().last().filter(|c| is_currency(*c)) {
            notation.currency = Some(sign);
            rest = rest[..rest.len() - sign.len_utf8()].trim_end();
        }
        if let Some(before) = rest.strip_suffix('%') {
            (notation.percent, rest) = (true, before.trim_end());
        }
        // Brackets mean negative amounts only: `(5)` alone may be a footnote.
        if in_brackets.is_some() && notation.currency.is_none() && !rest.contains([',', '.']) {
            return None;
        }
        let begins = rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        let whole = plain(rest, self.comma).filter(|_| begins);
        let grouped = if whole.is_none() { Some(without_separators(rest, self.comma)?) } else { None };
        let digits = grouped.as_deref().unwrap_or(rest);
        let value = whole.or_else(|| plain(digits, self.comma))?;
        (notation.thousands, notation.rounded) = (grouped.is_some(), !holds(digits, value));
        value.is_finite().then_some((if negative { -value } else { value }, notation))
    }
}

/// Parses a number of sign, digits, decimals and exponent.
#[inline]
pub(super) fn plain(cell: &str, comma: bool) -> Option<f64> {
    // Most cells of large files are a few digits.
    if let 1..=4 = cell.len()
        && cell.bytes().all(|b| b.is_ascii_digit())
    {
        return Some(f64::from(cell.bytes().fold(0u32, |sum, digit| 10 * sum + u32::from(digit - b'0'))));
    }
    match comma && cell.contains([',', '.']) {
        false => cell.parse().ok(),
        true if cell.contains('.') => None,
        true => cell.replacen(',', ".", 1).parse().ok(),
    }
}

/// Removes thousands separators: `1,234,567.8`, `1 234` or `1'234`.
fn without_separators(cell: &str, comma: bool) -> Option<String> {
    let (decimal, other) = if comma { (',', '.') } else { ('.', ',') };
    let (whole, decimals) = match cell.split_once(decimal) {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (cell, None),
    };
    let parts = |c: char| c == other || matches!(c, ' ' | '\'' | '’' | '\u{a0}' | '\u{202f}' | '\u{2009}');
    let mark = whole.chars().find(|c| parts(*c))?;
    let mut groups = whole.split(mark);
    let first = groups.next()?;
    let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let is_first = (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0');
    let grouped = is_first && groups.all(|g| g.len() == 3 && digits(g));
    let has_decimals = decimals.is_none_or(|decimals| !decimals.is_empty() && digits(decimals));
    (grouped && has_decimals).then(|| {
        let mut text = whole.replace(mark, "");
        if let Some(decimals) = decimals {
            text.push(decimal);
            text.push_str(decimals);
        }
        text
    })
}

/// Format of dates in the words of `chrono`; a time of day may follow.
pub(super) type DateForm = &'static str;

const BY_YEAR: [&str; 3] = ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"];
const BY_DAY: [&str; 3] = ["%d-%m-%Y", "%d/%m/%Y", "%d.%m.%Y"];
const BY_MONTH: [&str; 2] = ["%m-%d-%Y", "%m/%d/%Y"];
/// The month is a word, long or short.
const BY_WORD: [&str; 5] = ["%d-%B-%Y", "%d-%B-%y", "%d %B %Y", "%d. %B %Y", "%B %d, %Y"];

/// Formats that may fit a cell.
pub(super) fn date_forms(cell: &str, order: DateOrder) -> Vec<DateForm> {
    let days = if order == DateOrder::MonthFirst { &[][..] } else { &BY_DAY[..] };
    let months = if order == DateOrder::DayFirst { &[][..] } else { &BY_MONTH[..] };
    let forms = BY_YEAR.iter().chain(days).chain(months).chain(&BY_WORD).copied();
    forms.filter(|form| date_seconds(cell, form).is_some()).collect()
}

/// Seconds since 1970 of a cell in a format; years have four digits.
pub(super) fn date_seconds(cell: &str, form: &str) -> Option<f64> {
    let (date, rest) = NaiveDate::parse_and_remainder(cell, form).ok()?;
    let time = match rest {
        "" => 0.0,
        rest => seconds_of_day(rest.strip_prefix(['T', ' '])?)?,
    };
    (1000..10_000).contains(&date.year()).then(|| midnight(date) + time)
}

/// Seconds from 1970 to the beginning of a day.
fn midnight(date: NaiveDate) -> f64 {
    date.and_time(Default::default()).and_utc().timestamp() as f64
}

/// Half-open interval of seconds since 1970 covered by a text: a year, a day, or one moment. Returns `None` for text
/// that is not a date, or whose order of day and month is ambiguous.
pub fn date_span(text: &str, order: DateOrder) -> Option<[f64; 2]> {
    let day = |year: i32| NaiveDate::from_ymd_opt(year, 1, 1).map(midnight);
    if text.len() == 4
        && let Ok(year) = text.parse::<i32>()
    {
        return Some([day(year)?, day(year + 1)?]);
    }
    let seconds: Vec<f64> = date_forms(text, order).iter().filter_map(|form| date_seconds(text, form)).collect();
    let first = *seconds.first()?;
    let length = if text.contains(':') { 0.0 } else { 86400.0 };
    seconds.iter().all(|other| *other == first).then_some([first, first + length])
}

/// Whether the time of day of a date has a time zone; `None` without a time of day.
pub(super) fn has_zone(cell: &str) -> Option<bool> {
    cell.split_once(':').map(|(_, minutes)| minutes.contains(['Z', '+', '-']))
}

/// Seconds since midnight of a time of day, converted to UTC if it has a time zone.
fn seconds_of_day(time: &str) -> Option<f64> {
    let forms = ["%I:%M:%S %p", "%I:%M %p", "%H:%M:%S%.f", "%H:%M"];
    let (clock, zone) = forms.iter().find_map(|form| NaiveTime::parse_and_remainder(time.trim(), form).ok())?;
    let seconds = f64::from(clock.num_seconds_from_midnight()) + f64::from(clock.nanosecond() / 1000) / 1e6;
    let ahead = match zone.trim_start() {
        "" | "Z" => 0.0,
        zone => {
            let digits: String = zone.strip_prefix(['+', '-'])?.chars().filter(|c| *c != ':').collect();
            let hours: f64 = digits.get(..2)?.parse().ok()?;
            let minutes: f64 = digits.get(2..).filter(|m| !m.is_empty()).map_or(Ok(0.0), str::parse).ok()?;
            (hours * 60.0 + minutes) * if zone.starts_with('-') { -60.0 } else { 60.0 }
        }
    };
    Some(seconds - ahead)
}
