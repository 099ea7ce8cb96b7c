//! Data checks: warnings of target leaks, duplicated rows, codes for missing values.
//!
//! Columns are screened on a sample of the rows and judged on all of them; the cost is that of a few passes over the
//! table. No check fails the run.

mod cell_checks;
mod copies;
mod leaks;
mod order;
pub(super) mod steps;

use super::holdout::classes_of_rows;
use super::roles::Roles;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;
use vaglio_core::{Cells, Table};
use vaglio_report::record::Warning;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::TableProfile;

/// A table as read, with the roles of its columns.
#[derive(Clone, Copy)]
pub(super) struct TableWithRoles<'a> {
    pub roles: &'a Roles<'a>,
    pub profile: &'a TableProfile,
    pub train: &'a Table,
    pub test: Option<&'a Table>,
}

/// Number of rows in the screening sample.
const SAMPLE: usize = 1000;
/// Minimum number of rows for checks, except for leaks, which have a significance level.
const FEWEST: usize = 10;
/// Limit on the names in a message.
const NAMED: usize = 5;

/// All warnings, in a fixed order. Cost O(rows · columns).
pub(super) fn findings(read: TableWithRoles<'_>, budget: Budget) -> Vec<Warning> {
    let (mut found, given) = leaks::given_away(read);
    found.extend(cell_checks::left_out(read));
    if read.train.rows() < FEWEST {
        return found;
    }
    found.extend(order::ordering(read, &given));
    found.extend(copies::copies(read, budget));
    found.extend(copies::groups_on_both_sides(read));
    found.extend(cell_checks::codes(read));
    found.extend(cell_checks::levels(read));
    found.extend(cell_checks::leading_zeros(read));
    found
}

impl<'a> TableWithRoles<'a> {
    /// Columns that may be selected.
    fn features(&self) -> impl Iterator<Item = (&'a str, &'a Cells)> {
        let targets = self.roles.spec.target.names().iter().map(String::as_str);
        let others: HashSet<&str> = targets.chain(self.roles.row_roles().into_iter().map(|(_, name)| name)).collect();
        let columns = self.train.columns().iter().map(|(name, cells)| (name.as_str(), cells));
        columns.filter(move |(name, _)| !others.contains(name))
    }

    /// The target columns.
    fn targets(&self) -> impl Iterator<Item = (&'a str, &'a Cells)> {
        let names = self.roles.spec.target.names().iter();
        names.filter_map(|name| Some((name.as_str(), self.train.get(name)?)))
    }

    /// Class of each row, if the target is categorical.
    fn classes(&self) -> Option<Vec<u32>> {
        classes_of_rows(self.roles.spec, self.train)
    }
}

/// Numbers or dates of a column, as doubles.
fn numbers(cells: &Cells) -> Option<Cow<'_, [f64]>> {
    match cells {
        Cells::Numbers(_) => cells.numbers().map(|column| column.values()),
        Cells::Dates(dates) => Some(Cow::Borrowed(dates)),
        Cells::Text(_) => None,
    }
}

/// Like [`numbers`], for some rows.
fn numbers_at(cells: &Cells, rows: &[usize]) -> Option<Vec<f64>> {
    match cells {
        Cells::Numbers(numbers) => Some(numbers.select_rows(rows).view().values().into_owned()),
        Cells::Dates(dates) => Some(rows.iter().map(|&row| dates[row]).collect()),
        Cells::Text(_) => None,
    }
}

/// Evenly spaced rows, at most [`SAMPLE`].
fn sample(rows: usize) -> Vec<usize> {
    let count = rows.min(SAMPLE);
    (0..count).map(|k| k * rows / count).collect()
}

/// Joins a list as `a, b and c`, with the number of those left out.
fn listed<T: Display>(things: &[T], more: &str) -> String {
    let mut parts: Vec<String> = things.iter().take(NAMED).map(T::to_string).collect();
    if things.len() > NAMED {
        parts.push(format!("{} more{more}", things.len() - NAMED));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// A name in backticks.
fn named(name: &str) -> String {
    format!("`{name}`")
}

#[cfg(test)]
mod tests;
