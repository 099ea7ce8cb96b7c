//! Profile of the training rows, and what checks take from it.

use crate::roles::DataSettings;
use crate::rows::RawTable;
use crate::targets::classes_of_rows;
use std::collections::HashSet;
use std::fmt::Display;
use vaglio_core::{Cells, Table};
use vaglio_tables::ColumnProfile;

/// Training rows with the roles of their columns.
pub struct Profile<'a> {
    pub settings: &'a DataSettings<'a>,
    pub raw: &'a RawTable,
    pub test: Option<&'a Table>,
    /// Columns that may be selected.
    pub features: Vec<(&'a str, &'a Cells)>,
    pub targets: Vec<(&'a str, &'a Cells)>,
    /// Evenly spaced rows for screening.
    pub sample: Vec<usize>,
    /// Class of each row, if the target is categorical.
    pub classes: Option<Vec<u32>>,
}

/// Maximum number of rows in the screening sample.
const SAMPLE: usize = 1000;
/// Limit on the names in a message.
const NAMED: usize = 5;

impl<'a> Profile<'a> {
    /// Profile of the training rows `raw`, for checks with the test rows.
    pub fn new(settings: &'a DataSettings<'a>, raw: &'a RawTable, test: Option<&'a Table>) -> Self {
        let rows = raw.table.rows();
        let sampled = rows.min(SAMPLE);
        let table = &raw.table;
        let targets = settings.spec.target.names().iter().map(String::as_str);
        let others: HashSet<&str> = targets.clone().chain(settings.row_roles().map(|(_, name)| name)).collect();
        Profile {
            settings,
            raw,
            test,
            features: named_columns(table).filter(|(name, _)| !others.contains(name)).collect(),
            targets: targets.filter_map(|name| Some((name, table.get(name)?))).collect(),
            sample: (0..sampled).map(|k| k * rows / sampled).collect(),
            classes: classes_of_rows(&settings.spec, table),
        }
    }

    /// Names of the columns that were read and whose profile is wanted.
    pub fn names(&self, is_wanted: impl Fn(&ColumnProfile) -> bool) -> impl Iterator<Item = &'a str> {
        let columns = self.raw.profile.columns.iter().filter(move |column| is_wanted(column));
        columns.map(|column| column.name.as_str())
    }

    /// Features and targets.
    pub fn columns(&self) -> impl Iterator<Item = (&'a str, &'a Cells)> {
        self.features.iter().chain(&self.targets).copied()
    }
}

/// Minimum and maximum of numbers, ignoring NaN; eight lanes.
pub fn range(values: &[f64]) -> (f64, f64) {
    let mut low = [f64::INFINITY; 8];
    let mut high = [f64::NEG_INFINITY; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights.iter().chain(std::iter::once(&std::array::from_fn(|k| *rest.get(k).unwrap_or(&f64::NAN)))) {
        for lane in 0..8 {
            // Comparisons with NaN are false.
            low[lane] = if eight[lane] < low[lane] { eight[lane] } else { low[lane] };
            high[lane] = if eight[lane] > high[lane] { eight[lane] } else { high[lane] };
        }
    }
    (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// Joins a list as `a, b and c`, with the number of those left out.
pub fn join_with_and(items: impl IntoIterator<Item = impl Display>, more: &str) -> String {
    let mut parts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    let others = parts.len().saturating_sub(NAMED);
    if others > 0 {
        parts.truncate(NAMED);
        parts.push(format!("{others} more{more}"));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Columns of a table, with their names.
pub fn named_columns(table: &Table) -> impl Iterator<Item = (&str, &Cells)> {
    table.columns().iter().map(|(name, cells)| (name.as_str(), cells))
}

/// A name in backticks.
pub fn in_backticks(name: &str) -> String {
    format!("`{name}`")
}
