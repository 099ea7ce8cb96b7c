//! A column of known type, read in batches.

use super::cell::{ColumnRules, DateForm, date_forms};
use super::column_builder::ColumnBuilder;
use super::inference::{Hint, NumberNotation, Outcome, infer, read_dates, read_numbers};

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
        let rules = &self.rules;
        match (column, rules.hint, self.dates) {
            (ColumnBuilder::Raw(column), ..) if self.is_numbers => {
                // The first cell that is not missing decides for all.
                if self.numbers.is_none() {
                    let first = column.trimmed_cells().find(|cell| !rules.is_missing(cell));
                    self.numbers = first.map(|cell| NumberNotation::from_first(cell, rules));
                }
                read_numbers(&column, self.numbers.unwrap_or(NumberNotation::Plainly), rules)
            }
            (ColumnBuilder::Raw(column), _, Some(form)) => read_dates(&column, form, &mut self.zones, rules),
            (column @ ColumnBuilder::Raw(_), Hint::Auto, _) => {
                infer(column, &ColumnRules { hint: Hint::Stored, ..rules.clone() })
            }
            (column, ..) => infer(column, rules),
        }
    }
}
