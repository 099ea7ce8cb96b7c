//! Numbers as text: exact conversion to doubles.

use std::borrow::Cow;

/// 2⁵³: every smaller integer is a double.
const EXACT: f64 = (1u64 << 53) as f64;

/// The digits of an integer with its sign, without redundant zeros; `None` for other text.
fn digits(text: &str) -> Option<String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let (sign, size) = match whole.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("", whole.strip_prefix('+').unwrap_or(whole)),
    };
    let is_whole = !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit()) && decimals.bytes().all(|b| b == b'0');
    is_whole.then(|| format!("{sign}{}", size.trim_start_matches('0')))
}

/// Whether the integer `text` survives as `value`, the nearest double. Its digits are all digits of the double, or the
/// shortest that read back as it. True for numbers with a fraction.
#[inline]
pub fn holds(text: &str, value: f64) -> bool {
    let is_kept = |digits: String| digits == format!("{value:.0}") || digits == value.to_string();
    value.abs() < EXACT || digits(text).is_none_or(is_kept)
}

/// Formats a number: an integer with all digits, others in the shortest form that reads back.
pub fn numeral(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1e38 {
        true => (value as i128).to_string(),
        false => value.to_string(),
    }
}

/// The canonical text of a number, whichever way it is written; truth values become 1 or 0. `None` for other text.
pub fn normalize_number(text: &str) -> Option<Cow<'static, str>> {
    match text.parse::<f64>() {
        Ok(value) if !value.is_finite() => None,
        Ok(value) if holds(text, value) => Some(numeral(value).into()),
        Ok(_) => digits(text).map(Cow::from),
        Err(_) if text.eq_ignore_ascii_case("true") => Some("1".into()),
        Err(_) if text.eq_ignore_ascii_case("false") => Some("0".into()),
        Err(_) => None,
    }
}
