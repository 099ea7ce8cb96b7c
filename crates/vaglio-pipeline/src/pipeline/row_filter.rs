//! Filters of rows by column values, and markers of test rows.

use super::one_or_several::{ListItem, OneOrSeveral};
use crate::document::Label;
use vaglio_core::{Error, Result, join, setting};

/// Rows by the values of one column. A row with a missing cell does not pass.
#[setting]
#[derive(PartialEq, Eq)]
pub struct RowFilter {
    /// The column, which may be a feature or excluded.
    #[required]
    pub column: String,
    /// The smallest number or first date that passes.
    pub from: Option<Label>,
    /// The largest number or last date that passes; a day or year is included whole.
    pub to: Option<Label>,
    /// The value that passes, or a list of values.
    pub is: Option<OneOrSeveral<Label>>,
}

/// A column that marks test rows.
#[setting]
#[derive(PartialEq, Eq)]
pub struct TestRows {
    /// The column; it is not a feature.
    pub column: String,
    /// The value of test rows, or a list of values.
    pub is: OneOrSeveral<Label>,
}

impl ListItem for RowFilter {
    const EXPECTED: &'static str = "a filter such as {column: year, from: 1990}, or a list of filters";
}

impl RowFilter {
    /// Describes the filter in words.
    pub fn words(&self) -> String {
        let bound = |word: &str, bound: &Option<Label>| bound.as_ref().map(|bound| format!(" {word} {}", bound.0));
        let is = self.is.as_ref().map(|is| format!(" is {}", join(is.iter().map(|value| &value.0), " or ")));
        let parts = [bound("from", &self.from), bound("to", &self.to), is];
        format!("{}{}", self.column, parts.into_iter().flatten().collect::<String>())
    }

    pub(super) fn check(&self, field: &str) -> Result<()> {
        match (self.from.is_some() || self.to.is_some(), self.is.as_deref()) {
            (false, None) => Err(Error::setting(field, "it names no rows; give `from`, `to` or `is`")),
            (true, Some(_)) => {
                Err(Error::setting(field, "`is` cannot be combined with `from` and `to`; give two filters"))
            }
            (false, Some([])) => Err(Error::setting(format!("{field}.is"), "at least one value is needed")),
            _ => Ok(()),
        }
    }
}
