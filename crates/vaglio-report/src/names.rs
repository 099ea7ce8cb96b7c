//! Lists of names, and sentences.

use std::fmt::Display;

/// Joins up to `most` names with commas, and adds the number of the others: `a, b and 3 more`.
pub fn join_up_to(names: impl IntoIterator<Item = impl Display>, most: usize) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let more = names.len().checked_sub(most).filter(|more| *more > 0);
    names[..names.len().min(most)].join(", ") + &clause(" and {} more", more)
}

/// A phrase with a text in place of `{}`; empty if the text is absent or empty.
pub fn clause(phrase: &str, text: Option<impl Display>) -> String {
    let text = text.map(|text| text.to_string()).filter(|text| !text.is_empty());
    text.map_or_else(String::new, |text| phrase.replace("{}", &text))
}

/// Capitalizes the first letter of a text.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Capitalizes a text and ends it with a period.
pub fn sentence(text: impl AsRef<str>) -> String {
    format!("{}.", capital(text.as_ref().trim_end_matches('.')))
}
