//! Text of others as people may be shown it, on a terminal or on a page.

use std::borrow::Cow;

/// Whether a character would act in place of being seen: control characters, ends of lines, and those that turn the
/// direction of what follows.
pub fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with every character that [`acts`] escaped, as `\n` or `\u{1b}`; all others stay.
///
/// # Example
/// ```
/// assert_eq!(vaglio_core::shown("città\n\u{1b}[31m"), "città\\n\\u{1b}[31m");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// At most `most` characters, the last of them an ellipsis where some were cut.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.chars().take(most.saturating_sub(1)).chain(['…']).collect()),
    }
}

/// A number in no more digits than it has: its powers of ten as such where they are many.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || (1e-6..1e15).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_the_rest_stays() {
        for (text, expected) in [
            ("città 日本 👩‍👩‍👧 \\n", "città 日本 👩‍👩‍👧 \\n"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{1b}]0;x\u{7}\u{9b}", "\\u{1b}]0;x\\u{7}\\u{9b}"),
            ("\u{202e}cba\u{2069}", "\\u{202e}cba\\u{2069}"),
            ("", ""),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn text_is_cut_to_a_length_of_characters() {
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip("äöüß", 4), "äöüß");
        assert_eq!(clip("", 0), "");
    }
}
