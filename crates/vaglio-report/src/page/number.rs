//! Formats numbers: few digits in the text, all of them in the tooltip.

use vaglio_core::escape_controls;

/// Returns the number if it is finite.
pub fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

/// Formats a number with five significant digits; a dash if not finite.
pub fn short(x: f64) -> String {
    typeset(x, &vaglio_core::short(x))
}

/// Formats a number with `digits` significant digits and no trailing zeros; with powers of ten below 10⁻⁴ and from 10⁶.
pub fn significant(x: f64, digits: usize) -> String {
    typeset(x, &vaglio_core::significant(x, digits))
}

/// Typesets the minus sign and power of ten of a number printed as `text`; a dash if `x` is not finite.
fn typeset(x: f64, text: &str) -> String {
    if !x.is_finite() {
        return "–".into();
    }
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.replace('-', "−") };
    let superscript = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c.to_digit(10)? as usize);
    let power: String = exponent.chars().map(|c| superscript(c).unwrap_or('⁻')).collect();
    let mantissa = mantissa.replace('-', "−");
    match mantissa.trim_start_matches('−') {
        "1" => format!("{}10{power}", mantissa.trim_end_matches('1')),
        _ => format!("{mantissa} × 10{power}"),
    }
}

/// Formats a share as percent: whole, or with two digits below 1 %.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent.abs() < 1.0 => format!("{} %", significant(percent, 2)),
        percent => format!("{percent:.0} %").replace('-', "−"),
    }
}

/// Formats a share as whole percent: `< 1 %` for a smaller one, so that 0 % is none at all.
pub fn whole_percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "< 1 %".into() } else { format!("{:.0} %", 100.0 * share) }
}

/// Formats all digits, in the shortest form that parses to the same number; a dash if not finite.
pub fn full(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "–".into() }
}

/// Formats a whole number with thin spaces between thousands, from five digits on.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join("\u{202f}")
}

/// Escapes text for HTML and SVG: markup as entities, control characters as by [`escape_controls`].
pub fn escape(text: &str) -> String {
    let text = escape_controls(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#x27;")
}

/// An element of text, given its name and attributes; empty without text. Text in backticks is code.
pub fn element(open: &str, text: &str) -> String {
    let name = open.split(' ').next().unwrap_or(open);
    if text.is_empty() { String::new() } else { format!("<{open}>{}</{name}>\n", code_spans(&escape(text))) }
}

/// Puts text between backticks into `code` elements; as it is if a backtick has no other.
fn code_spans(html: &str) -> String {
    let pieces: Vec<&str> = html.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return html.to_owned();
    }
    let span =
        |(k, piece): (usize, &&str)| if k % 2 == 0 { (*piece).to_owned() } else { format!("<code>{piece}</code>") };
    pieces.iter().enumerate().map(span).collect()
}
