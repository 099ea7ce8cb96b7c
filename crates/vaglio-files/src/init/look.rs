//! Profiles an undescribed table.

use super::InitOptions;
use super::order::{self, Nesting, OrderCandidate, RowOrder};
use super::test_rows::{self, TestColumn};
use super::words::{ColumnWords, Words};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use vaglio_core::{Cells, Result};
use vaglio_tables::read::{ColumnSurvey, FaultKind, InferredType, InvalidCell, ReadColumn, TableSource};

/// Profile of a column.
pub struct ColumnProfile {
    pub survey: ColumnSurvey,
    /// An unreadable cell, and the number of such cells.
    pub fault: Option<InvalidCell>,
    /// Whether all values are distinct.
    pub differs: bool,
    /// Number of distinct values, at most the number of rows.
    pub distinct: usize,
    /// Number of rows with the rarest value.
    pub rarest: usize,
    /// Whether the values are whole numbers.
    pub whole: bool,
}

/// Profile of a table.
pub struct TableProfile {
    pub rows: usize,
    pub columns: Vec<ColumnProfile>,
    pub aside: Vec<(String, &'static str)>,
    /// Detected order of the rows.
    pub order: Option<RowOrder>,
    /// Column that seems to group the rows.
    pub nesting: Option<Nesting>,
    /// Column that marks test rows.
    pub test_rows: Option<TestColumn>,
    /// Words for missing cells, of columns that have some.
    pub words: Vec<ColumnWords>,
    /// Columns to be read as classes, with their levels in order if ordered.
    pub classes: BTreeMap<String, Option<Vec<String>>>,
    /// Whether column names look like cells, so that the file seems to have no header.
    pub header_is_row: bool,
}

impl TableProfile {
    /// Profiles the table of a source that was opened at `path`.
    pub fn at(source: TableSource, path: &Path, options: &InitOptions) -> Result<Self> {
        let Words { columns, rows, aside, words, classes } = Words::read(source, path)?;
        let ((order, nesting), test_rows) = (order(&columns, options), test_rows(&columns, options));
        let header_is_row = header_is_row(&columns);
        let columns: Vec<ColumnProfile> = columns.into_iter().map(|(name, read)| seen(name, read)).collect();
        Ok(TableProfile { rows, columns, aside, order, nesting, test_rows, words, classes, header_is_row })
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&ColumnProfile> {
        self.columns.iter().find(|seen| seen.survey.name == name)
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

fn seen(name: String, read: Result<(Cells, ColumnSurvey), InvalidCell>) -> ColumnProfile {
    match read {
        Ok((cells, survey)) => {
            let present = cells.len() - survey.missing;
            let (distinct, rarest) = counts(&cells);
            let whole = cells
                .numbers()
                .is_some_and(|all| (0..all.len()).map(|row| all.get(row)).all(|x| x.is_nan() || x.fract() == 0.0));
            ColumnProfile { survey, fault: None, differs: distinct == present, distinct, rarest, whole }
        }
        Err(fault) => {
            let is_number = matches!(fault.what, FaultKind::Text { among_numbers: true, .. });
            let (taken, missing) = (if is_number { InferredType::Number } else { InferredType::Text }, fault.count);
            let survey = ColumnSurvey { missing, ..ColumnSurvey::new(name, taken) };
            ColumnProfile { survey, fault: Some(fault), differs: false, distinct: 0, rarest: 0, whole: false }
        }
    }
}

/// Number of distinct values, and of rows with the rarest.
fn counts(cells: &Cells) -> (usize, usize) {
    let mut text: HashMap<&str, usize> = HashMap::new();
    let mut bits: HashMap<u64, usize> = HashMap::new();
    let mut add = |value: f64| {
        if !value.is_nan() {
            *bits.entry(value.to_bits()).or_default() += 1;
        }
    };
    match cells {
        Cells::Text(all) => {
            all.iter().filter(|level| !level.is_empty()).for_each(|level| *text.entry(level).or_default() += 1);
        }
        Cells::Dates(dates) => dates.iter().for_each(|date| add(*date)),
        Cells::Numbers(numbers) => numbers.view().values().iter().for_each(|value| add(*value)),
    }
    let rarest = text.values().chain(bits.values()).min().copied().unwrap_or(0);
    (text.len() + bits.len(), rarest)
}

/// Detects the order and grouping of the rows; columns that the user named are trusted.
fn order(columns: &[ReadColumn], options: &InitOptions) -> (Option<RowOrder>, Option<Nesting>) {
    let asked = |name: &String| Some(name) == options.time.as_ref() || Some(name) == options.groups.as_ref();
    let left_out = |name: &String| options.exclude.as_ref().is_some_and(|exclude| exclude.contains(name));
    let read = columns.iter().filter_map(|(name, read)| Some((name, read.as_ref().ok()?)));
    let fits = |(name, (_, survey)): &(&String, &(Cells, ColumnSurvey))| {
        survey.missing == 0
            && !options.targets.contains(name)
            && !matches!(survey.taken, InferredType::Constant | InferredType::Empty)
            && (asked(name) || !left_out(name))
    };
    let candidates: Vec<OrderCandidate<'_>> =
        read.filter(fits).map(|(name, (cells, _))| OrderCandidate::new(name, cells)).collect();
    (order::find(&candidates, options.time.as_deref(), options.groups.as_deref()), order::nesting(&candidates))
}

fn test_rows(columns: &[ReadColumn], options: &InitOptions) -> Option<TestColumn> {
    let read = columns.iter().filter(|(name, _)| options.test.is_none() && !options.targets.contains(name));
    let mut read = read.filter_map(|(name, read)| Some((name, read.as_ref().ok()?)));
    read.find_map(|(name, (cells, survey))| test_rows::find(name, cells, survey.note.as_deref() == Some("truth")))
}
