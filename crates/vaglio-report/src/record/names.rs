//! Lists of names in sentences.

use std::fmt::Display;

/// Joins up to `most` names with commas, and adds the number of the others: `a, b and 3 more`.
pub(crate) fn listed(names: impl IntoIterator<Item = impl Display>, most: usize) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names[..names.len().min(most)].join(", ") + &more
}
