//! A column of known type, read in batches.

use super::cell::{ColumnRules, DateForm, date_forms, date_seconds, has_zone};
use super::column_builder::{ColumnBuilder, CountedCells, RawColumn};
use super::fault::{CORRECT, InvalidCell};
use super::inference::{
    Hint, NumberNotation, Outcome, infer, is_infinite, other_notation, parse_numbers, zone_notation,
};
use crate::{ColumnProfile, InferredType, Notation};
use vaglio_core::Cells;

/// A column of known type; the notation of its first cells applies to all.
pub(super) struct TypedColumn<'s> {
    pub rules: ColumnRules<'s>,
    is_numbers: bool,
    numbers: Option<NumberNotation>,
    dates: Option<DateForm>,
    /// Whether the times of day so far have a time zone.
    zones: Option<bool>,
}

impl<'s> TypedColumn<'s> {
    /// Creates a column from first cells of text, or from types in a file; `None` if its type depends on all cells.
    pub fn new(sample: Option<&[&str]>, rules: ColumnRules<'s>) -> Option<Self> {
        let hint = rules.hint;
        // Columns of text files with nothing known are assumed to be numbers.
        let is_numbers = hint == Hint::Number || hint == Hint::Auto && sample.is_some();
        let mut known = TypedColumn { rules, is_numbers, numbers: None, dates: None, zones: None };
        match (hint, sample) {
            (Hint::Written | Hint::Class | Hint::Text | Hint::Number | Hint::Auto, _) | (Hint::Date, None) => {}
            (Hint::Date, Some(sample)) => {
                for cell in sample.iter().filter(|cell| !known.rules.is_missing(cell)) {
                    let [form] = date_forms(cell, known.rules.dates)[..] else { return None };
                    if *known.dates.get_or_insert(form) != form {
                        return None;
                    }
                }
                known.dates?;
            }
            _ => return None,
        }
        Some(known)
    }

    /// Converts the cells of some rows; rows count from the first of these.
    pub fn convert(&mut self, column: ColumnBuilder) -> Outcome {
        match (column, self.rules.hint) {
            (ColumnBuilder::Raw(column), _) if self.is_numbers => self.convert_numbers(&column),
            (ColumnBuilder::Raw(column), Hint::Date) => self.convert_dates(&column),
            (column @ ColumnBuilder::Raw(_), Hint::Auto) => {
                infer(column, &ColumnRules { hint: Hint::Stored, ..self.rules.clone() })
            }
            (column, _) => infer(column, &self.rules),
        }
    }

    fn convert_numbers(&mut self, column: &RawColumn) -> Outcome {
        let (mut numbers, notation, bad) = parse_numbers(column, |cell| self.number(cell));
        let Some(&(row, cell)) = bad.first() else {
            let profile = self.profile(InferredType::Number, std::mem::take(&mut numbers.missing), notation);
            return Ok((Cells::Numbers(numbers.finish()), profile));
        };
        if is_infinite(cell, &self.rules) {
            return Err(InvalidCell::infinite(row, cell, bad.len()));
        }
        let (wrong, remedy) = other_notation(cell, &self.rules).unwrap_or_else(|| {
            let wrong = match self.numbers {
                Some(NumberNotation::AsTruth) => "is neither true nor false, and the cells before it are",
                _ => "is not a number, and in the rows that the model was trained on it was one",
            };
            (wrong.to_owned(), CORRECT.to_owned())
        });
        Err(InvalidCell::new(row, cell, bad.len(), wrong, remedy))
    }

    /// Number of a cell in the notation of the first one that is not missing, and its own notation; NaN if missing.
    #[inline]
    fn number(&mut self, cell: &str) -> Option<(f64, Notation)> {
        let TypedColumn { rules, numbers, .. } = self;
        let written = match numbers {
            Some(written) => *written,
            None if rules.is_missing(cell) => NumberNotation::Plainly,
            None => *numbers.insert(NumberNotation::from_first(cell, rules)),
        };
        written.number(cell, rules)
    }

    fn convert_dates(&mut self, column: &RawColumn) -> Outcome {
        let mut seconds = Vec::with_capacity(column.rows());
        let mut missing = CountedCells::default();
        for (row, cell) in column.trimmed_cells().enumerate() {
            if self.rules.is_missing(cell) {
                missing.push(row, cell);
                seconds.push(f64::NAN);
                continue;
            }
            let Some(date) = self.dates.and_then(|form| date_seconds(cell, form)) else {
                return Err(InvalidCell::new(row, cell, 1, "is not a date as the cells before it are", CORRECT));
            };
            seconds.push(date);
        }
        let clocks = column.trimmed_cells().enumerate();
        let clocks = clocks.filter_map(|(row, cell)| Some((row, cell, has_zone(cell)?)));
        let notation = zone_notation(&mut self.zones, clocks, &self.rules)?;
        Ok((Cells::Dates(seconds), self.profile(InferredType::Date, missing, notation)))
    }

    fn profile(&self, taken: InferredType, missing: CountedCells, notation: Notation) -> ColumnProfile {
        let profile = ColumnProfile::new(self.rules.name.to_owned(), taken);
        ColumnProfile { missing: missing.count, first_missing: missing.first, notation, ..profile }
    }
}
