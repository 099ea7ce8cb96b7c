//! Safe display of foreign text, and formatting of numbers.

use std::borrow::Cow;
use std::fmt::Display;

/// Whether a character has an effect rather than a glyph: control characters, line ends and direction marks.
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes every character that [`is_control`], as `\n` or `\u{1b}`; all others stay.
///
/// # Example
/// ```
/// assert_eq!(vaglio_core::escape_controls("città\n\u{1b}[31m"), "città\\n\\u{1b}[31m");
/// ```
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Cuts text to at most `most` characters, with an ellipsis as the last if any were cut.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.chars().take(most.saturating_sub(1)).chain(['…']).collect()),
    }
}

/// Joins texts with one between each two: `a, b`.
pub fn join(parts: impl IntoIterator<Item = impl Display>, between: &str) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(between)
}

/// Joins the first `most` texts with commas, and an ellipsis if there are more: `a, b, …`.
pub fn abridge(parts: impl IntoIterator<Item = impl Display>, most: usize) -> String {
    let mut parts = parts.into_iter();
    let first = join(parts.by_ref().take(most), ", ");
    if parts.next().is_some() { first + ", …" } else { first }
}

/// Formats a count with its noun: `1 column`, `2 columns`.
pub fn pluralize(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Significant digits of numbers in text and tables.
const DIGITS: usize = 5;

/// Formats a number with five significant digits, without trailing zeros.
pub fn short(value: f64) -> String {
    significant(value, DIGITS)
}

/// Formats a number for a table column: like [`short`], but with trailing zeros for alignment.
pub fn table_number(value: f64) -> String {
    format_number(value, DIGITS, |number| number)
}

/// Formats a number with `digits` significant digits, without trailing zeros. Uses powers of ten below 1e-4 and from
/// 1e6 on: `8.48e-10`.
pub fn significant(value: f64, digits: usize) -> String {
    format_number(value, digits, trim)
}

fn trim(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

fn format_number(value: f64, digits: usize, finish: fn(&str) -> &str) -> String {
    match value {
        0.0 => return "0".into(),
        f64::INFINITY => return "infinite".into(),
        f64::NEG_INFINITY => return "-infinite".into(),
        value if value.is_nan() => return "-".into(),
        _ => {}
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        return format!("{}e{exponent}", finish(mantissa));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    finish(&format!("{value:.decimals$}")).to_owned()
}

/// Formats a number with all its digits, and with a power of ten if it is very large or small.
pub fn number(value: f64) -> String {
    if value == 0.0 || (1e-6..1e15).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}
