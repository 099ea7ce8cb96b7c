//! A table as read, and what checks take from it.

use crate::holdout::classes_of_rows;
use crate::roles::Roles;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;
use vaglio_core::{Cells, Table};
use vaglio_tables::read::TableProfile;

/// A table as read, with the roles of its columns.
#[derive(Clone, Copy)]
pub(crate) struct TableWithRoles<'a> {
    pub roles: &'a Roles<'a>,
    pub profile: &'a TableProfile,
    pub train: &'a Table,
    pub test: Option<&'a Table>,
}

/// Number of rows in the screening sample.
const SAMPLE: usize = 1000;
/// Limit on the names in a message.
const NAMED: usize = 5;

impl<'a> TableWithRoles<'a> {
    /// Columns that may be selected.
    pub fn features(&self) -> impl Iterator<Item = (&'a str, &'a Cells)> {
        let targets = self.roles.spec.target.names().iter().map(String::as_str);
        let others: HashSet<&str> = targets.chain(self.roles.row_roles().into_iter().map(|(_, name)| name)).collect();
        let columns = self.train.columns().iter().map(|(name, cells)| (name.as_str(), cells));
        columns.filter(move |(name, _)| !others.contains(name))
    }

    /// The target columns.
    pub fn targets(&self) -> impl Iterator<Item = (&'a str, &'a Cells)> {
        let names = self.roles.spec.target.names().iter();
        names.filter_map(|name| Some((name.as_str(), self.train.get(name)?)))
    }

    /// Class of each row, if the target is categorical.
    pub fn classes(&self) -> Option<Vec<u32>> {
        classes_of_rows(self.roles.spec, self.train)
    }
}

/// Numbers or dates of a column, as doubles.
pub(super) fn numbers(cells: &Cells) -> Option<Cow<'_, [f64]>> {
    match cells {
        Cells::Dates(dates) => Some(Cow::Borrowed(dates)),
        _ => cells.numbers().map(|column| column.values()),
    }
}

/// Like [`numbers`], for some rows.
pub(super) fn numbers_at(cells: &Cells, rows: &[usize]) -> Option<Vec<f64>> {
    match cells {
        Cells::Text(_) => None,
        _ => numbers(&cells.select_rows(rows)).map(Cow::into_owned),
    }
}

/// Evenly spaced rows, at most [`SAMPLE`].
pub(super) fn sample(rows: usize) -> Vec<usize> {
    let count = rows.min(SAMPLE);
    (0..count).map(|k| k * rows / count).collect()
}

/// Joins a list as `a, b and c`, with the number of those left out.
pub(super) fn listed<T: Display>(items: &[T], more: &str) -> String {
    let mut parts: Vec<String> = items.iter().take(NAMED).map(T::to_string).collect();
    if items.len() > NAMED {
        parts.push(format!("{} more{more}", items.len() - NAMED));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// A name in backticks.
pub(super) fn named(name: &str) -> String {
    format!("`{name}`")
}
