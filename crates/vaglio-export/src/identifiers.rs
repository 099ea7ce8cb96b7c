//! Identifiers for arbitrary column names.

use crate::formulas::Formulas;
use std::collections::{HashMap, HashSet};

/// Distinct identifiers of letters, digits and underscores for inputs and steps, avoiding reserved words.
pub fn identifiers(formulas: &Formulas, reserved: &str) -> HashMap<String, String> {
    let mut taken: HashSet<String> = reserved.split_whitespace().map(str::to_owned).collect();
    let mut identifiers = HashMap::new();
    for name in formulas.columns() {
        let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let mut wanted: String = name.chars().take(40).map(kept).collect();
        wanted = wanted.trim_matches('_').to_owned();
        if wanted.is_empty() || wanted.starts_with(|c: char| c.is_ascii_digit()) {
            wanted = format!("x{}{wanted}", if wanted.is_empty() { "" } else { "_" });
        }
        let mut own = wanted.clone();
        for count in 2.. {
            if taken.insert(own.clone()) {
                break;
            }
            own = format!("{wanted}_{count}");
        }
        identifiers.insert(name.to_owned(), own);
    }
    identifiers
}
