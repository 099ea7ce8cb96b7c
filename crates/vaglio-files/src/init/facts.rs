//! Facts of an undescribed table.

use super::options::{InitOptions, TestOption};
use super::order::{CodedColumn, Nesting, RowLayout, find, is_among, nesting, words};
use super::words::{ColumnWords, TableReader};
use std::collections::BTreeMap;
use std::path::Path;
use vaglio_core::{Cells, Result};
use vaglio_tables::read::{ReadColumn, TRUTH, TableSource};
use vaglio_tables::{ColumnProfile, InferredType};

/// Facts of a column.
pub struct ColumnFacts {
    pub profile: ColumnProfile,
    /// Reason that the column cannot be read: its type, or a cell.
    pub fault: Option<String>,
    /// Number of distinct values.
    pub distinct: usize,
    /// Number of rows with the rarest value.
    pub rarest: usize,
}

/// Facts of a table.
pub struct TableFacts {
    pub rows: usize,
    pub columns: Vec<ColumnFacts>,
    pub aside: Vec<(String, &'static str)>,
    /// Detected order of the rows.
    pub layout: Option<RowLayout>,
    /// Column that seems to group the rows.
    pub nesting: Option<Nesting>,
    /// Test rows that a column seems to mark.
    pub test_rows: Option<TestOption>,
    /// Words for missing cells, of columns that have some.
    pub words: Vec<ColumnWords>,
    /// Columns to be read as classes, with their levels in order if ordered.
    pub classes: BTreeMap<String, Option<Vec<String>>>,
    /// Whether column names look like cells, so that the file seems to have no header.
    pub header_is_row: bool,
}

impl TableFacts {
    /// Collects the facts of the table of a source that was opened at `path`; columns that the user named are trusted.
    pub fn new(source: TableSource, path: &Path, options: &InitOptions) -> Result<Self> {
        let aside = source.aside().to_vec();
        let unsupported = source.unsupported().to_vec();
        let read = TableReader::read(source, path)?;
        let mut columns = Vec::new();
        let mut candidates = Vec::new();
        let mut test_rows = None;
        for (name, column) in &read.columns {
            let (cells, profile) = match column {
                Ok((cells, profile)) => (cells, profile),
                Err(fault) => {
                    let taken = if fault.among_numbers { InferredType::Number } else { InferredType::Text };
                    let profile = ColumnProfile { missing: fault.count, ..ColumnProfile::new(name.clone(), taken) };
                    let wrong = fault.wrong.as_deref().unwrap_or("is not a finite number");
                    let why = format!("row {}: `{}` {wrong}", fault.row + 1, fault.value);
                    columns.push(ColumnFacts::faulty(profile, why));
                    continue;
                }
            };
            let coded = CodedColumn::new(name, cells);
            columns.push(ColumnFacts::new(&coded, profile));
            if options.targets.contains(name) {
                continue;
            }
            if test_rows.is_none() && options.test.is_none() {
                test_rows = marked_test_rows(&coded, profile.note.as_deref() == Some(TRUTH));
            }
            let is_constant = matches!(profile.taken, InferredType::Constant | InferredType::Empty);
            let is_asked = Some(name) == options.time.as_ref() || Some(name) == options.groups.as_ref();
            let is_left_out = options.exclude.as_ref().is_some_and(|exclude| exclude.contains(name));
            if profile.missing == 0 && !is_constant && (is_asked || !is_left_out) {
                candidates.push(coded);
            }
        }
        let faulty = |(name, why)| ColumnFacts::faulty(ColumnProfile::new(name, InferredType::Text), why);
        columns.extend(unsupported.into_iter().map(faulty));
        let layout = find(&candidates, options.time.as_deref(), options.groups.as_deref());
        let nesting = nesting(&candidates);
        let header_is_row = header_is_row(&read.columns);
        let TableReader { rows, words, classes, .. } = read;
        Ok(TableFacts { rows, columns, aside, layout, nesting, test_rows, words, classes, header_is_row })
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&ColumnFacts> {
        self.columns.iter().find(|seen| seen.profile.name == name)
    }

    /// Whether all values of a column are distinct.
    pub fn differs(&self, column: &ColumnFacts) -> bool {
        column.distinct + column.profile.missing == self.rows
    }
}

/// Whether every column name looks like one of its cells: numeric names for numbers, except running numbers, and levels
/// for text.
fn header_is_row(columns: &[ReadColumn]) -> bool {
    let is_cell = |(name, read): &ReadColumn| match read {
        Ok((Cells::Numbers(_), _)) => name.parse::<f64>().is_ok(),
        Ok((Cells::Text(text), _)) => text.contains(name),
        _ => false,
    };
    let numbers: Vec<f64> = columns.iter().filter_map(|(name, _)| name.parse().ok()).collect();
    let is_count = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0) && numbers.iter().all(|x| x.fract() == 0.0);
    columns.iter().all(is_cell) && !is_count
}

impl ColumnFacts {
    fn new(column: &CodedColumn<'_>, profile: &ColumnProfile) -> Self {
        let counts = column.counts();
        ColumnFacts {
            profile: profile.clone(),
            fault: None,
            distinct: counts.len(),
            rarest: counts.into_iter().min().unwrap_or(0),
        }
    }

    fn faulty(profile: ColumnProfile, why: String) -> Self {
        ColumnFacts { profile, fault: Some(why), distinct: 0, rarest: 0 }
    }
}

const TRAIN: &str = "train training tr calibration learn learning";
const TEST: &str = "test testing te holdout validation valid val ts";
// No 0 and 1: they may mean who was trained, or the result of a test.
const NO: &str = "f false";
const YES: &str = "t true";

/// Detects the test value from the cells, or from the name and the cells. `is_truth`: 0 and 1 were words for truth.
fn marked_test_rows(column: &CodedColumn<'_>, is_truth: bool) -> Option<TestOption> {
    let levels = column.levels(3).filter(|_| column.cells.missing().is_none())?;
    let levels = levels.into_iter().map(|(label, rows)| match (is_truth, label.as_str()) {
        (true, label) => (if label == "1" { "true" } else { "false" }.to_owned(), rows),
        (false, _) => (label, rows),
    });
    let levels: Vec<(String, usize)> = levels.collect();
    let level = |among: &str| {
        let rank = |label: &str| among.split(' ').position(|word| label.eq_ignore_ascii_case(word));
        levels.iter().filter_map(|level| Some((rank(&level.0)?, level))).min().map(|(_, level)| level.clone())
    };
    let words = words(column.name);
    let named = |list: &str| levels.len() == 2 && words.len() == 1 && is_among(&words[0], list);
    let (is, rows) = match (level(TRAIN), level(TEST)) {
        (Some(_), Some(test)) => test,
        _ if named("train training") && level(YES).is_some() => level(NO)?,
        _ if named("test testing holdout") && level(NO).is_some() => level(YES)?,
        _ => return None,
    };
    let is_part = rows > 1 && 3 * rows <= 2 * column.cells.len();
    is_part.then(|| TestOption::Column { column: column.name.to_owned(), is, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::Cells;

    #[test]
    fn columns_that_say_train_and_test_are_found() {
        let text = |levels: &[&str]| Cells::Text((0..40).map(|row| levels[row % levels.len()].to_owned()).collect());
        let value = |name: &str, cells: Cells, is_truth: bool| match marked_test_rows(
            &CodedColumn::new(name, &cells),
            is_truth,
        ) {
            Some(TestOption::Column { is, .. }) => Some(is),
            _ => None,
        };
        let is = |name: &str, cells: Cells| value(name, cells, false);
        for (name, levels, expected) in [
            ("x", &["train", "test"][..], Some("test")),
            ("case", &["Test", "Train", "Train"], Some("Test")),
            ("cells", &["Tr", "Te"], Some("Te")),
            ("split", &["train", "validation", "test"], Some("test")),
            ("split", &["train", "validation"], Some("validation")),
            ("train", &["T", "F"], Some("F")),
            ("Train", &["TRUE", "TRUE", "FALSE"], Some("FALSE")),
            ("test", &["F", "F", "T"], Some("T")),
            ("test", &["yes", "no"], None),
            ("train", &["T"], None),
            ("pretest", &["T", "F"], None),
            ("smoker", &["T", "F"], None),
            ("x", &["train", "bus"], None),
            ("x", &["train", "test", "test", "test"], None),
        ] {
            assert_eq!(is(name, text(levels)).as_deref(), expected, "{name} {levels:?}");
        }
        let numbers =
            |values: [f64; 3]| Cells::Numbers((0..30).map(|row| values[row % 3]).collect::<Vec<f64>>().into());
        assert_eq!(is("train", numbers([1.0, 1.0, 0.0])), None);
        assert_eq!(is("test", numbers([1.0, 0.0, 0.0])), None);
        assert_eq!(value("test", numbers([1.0, 0.0, 0.0]), true).as_deref(), Some("true"));
    }
}
