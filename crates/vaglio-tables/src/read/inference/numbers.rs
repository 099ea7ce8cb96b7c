//! Columns of numbers with percent signs, currencies or thousands separators.

use super::super::cell::{ColumnRules, plain};
use super::super::column_builder::{NumberColumn, RawColumn};
use super::super::fault::{CORRECT, InvalidCell};
use super::outcome::Outcome;
use super::{numbers_outcome, ordered_levels, truth};
use crate::Notation;
use vaglio_core::numerals::holds;

/// Notation of all numbers of a column.
#[derive(Clone, Copy)]
pub(in crate::read) enum NumberNotation {
    /// Plain numbers, some possibly with thousands separators or a currency.
    Plainly,
    AsTruth,
    AsPercent,
}

impl NumberNotation {
    /// Notation of a column whose first cell that is not missing is this one.
    pub fn from_first(cell: &str, rules: &ColumnRules<'_>) -> Self {
        match () {
            () if rules.number(cell).is_some() => NumberNotation::Plainly,
            () if truth(cell).is_some() => NumberNotation::AsTruth,
            () if rules.number_in_known_notation(cell).is_some_and(|(_, notation)| notation.percent) => {
                NumberNotation::AsPercent
            }
            () => NumberNotation::Plainly,
        }
    }

    /// Number of a cell with its own notation, NaN if it is missing; `None` for a cell in another notation.
    #[inline]
    pub fn number(self, cell: &str, rules: &ColumnRules<'_>) -> Option<(f64, Notation)> {
        let notated =
            |percent: bool| rules.number_in_known_notation(cell).filter(|(_, notation)| notation.percent == percent);
        match (self, rules.number(cell)) {
            (_, Some(missing)) if missing.is_nan() => Some((missing, Notation::default())),
            (NumberNotation::Plainly, Some(value)) => {
                let rounded = !holds(cell, value);
                (!rounded || rules.rounds()).then(|| (value, Notation { rounded, ..Notation::default() }))
            }
            (NumberNotation::Plainly, None) => notated(false),
            (NumberNotation::AsTruth, _) => truth(cell).map(|value| (value, Notation::default())),
            (NumberNotation::AsPercent, _) => notated(true),
        }
    }
}

/// Reads a column of numbers in one notation.
///
/// # Errors
/// The first infinity, or else the first cell in another notation.
pub(in crate::read) fn read_numbers(column: &RawColumn, written: NumberNotation, rules: &ColumnRules<'_>) -> Outcome {
    let (mut numbers, mut notation, mut bad) = (NumberColumn::default(), Notation::default(), Vec::new());
    for (row, cell) in column.trimmed_cells().enumerate() {
        match written.number(cell, rules) {
            Some((value, _)) if value.is_nan() => numbers.push_missing(cell),
            Some((value, own)) => {
                notation = notation.with(own);
                numbers.push(value);
            }
            None => bad.push((row, cell)),
        }
    }
    let infinite: Vec<&(usize, &str)> = bad.iter().filter(|(_, cell)| is_infinite(cell, rules)).collect();
    if let Some((row, cell)) = infinite.first() {
        return Err(InvalidCell::infinite(*row, cell, infinite.len()));
    }
    let Some(&(row, cell)) = bad.first() else { return numbers_outcome(numbers, notation, rules) };
    let (wrong, remedy) = other_notation(cell, rules).unwrap_or_else(|| {
        let other = if rules.comma { "." } else { "," };
        let wrong = match written {
            NumberNotation::AsTruth => "is neither true nor false, and the cells before it are".to_owned(),
            _ if rules.known.is_some() => {
                "is not a number, and the training rows have numbers in this column".to_owned()
            }
            _ => {
                let present = column.rows() - numbers.missing.count;
                format!("is not a number, and {} of the column's {present} cells are", present - bad.len())
            }
        };
        let remedy = match plain(cell, !rules.comma) {
            _ if rules.known.is_some() => CORRECT.to_owned(),
            Some(_) => format!("correct it, or set data.read.decimal: \"{other}\""),
            None => rules.remedy(cell) + &ordered_levels::remedy(cell, rules.name),
        };
        (wrong, remedy)
    });
    Err(InvalidCell { among_numbers: true, ..InvalidCell::new(row, cell, bad.len(), wrong, remedy) })
}

/// Fault and remedy of a number in another notation than the training rows, or beyond double precision.
fn other_notation(value: &str, rules: &ColumnRules<'_>) -> Option<(String, String)> {
    let notation = rules.number_in_notation(value).map(|(_, notation)| notation);
    let is_beyond_doubles = plain(value, rules.comma).is_some_and(|number| !holds(value, number));
    if is_beyond_doubles || notation.is_some_and(|notation| notation.rounded) {
        let wrong = "is a whole number that no double holds".to_owned();
        return Some((wrong, "round it, or leave the column out".to_owned()));
    }
    let known = rules.known?;
    let is_plain = plain(value, rules.comma).is_some_and(f64::is_finite);
    let what = match notation {
        _ if known.percent && (is_plain || notation.is_some_and(|notation| !notation.percent)) => "a percent sign",
        Some(notation) if notation.percent => "no percent sign",
        Some(Notation { currency: Some(_), .. }) if known.currency.is_none() => "no currency",
        Some(notation) if notation.currency.is_some() && notation.currency != known.currency => "another currency",
        Some(notation) if notation.thousands && !known.thousands => "no thousands apart",
        None if is_of_other_decimals(value, rules) => "another decimal mark",
        _ => return None,
    };
    let mark = if rules.comma { ',' } else { '.' };
    let wrong = format!("is written otherwise than the training rows, which have {what} in this column");
    Some((wrong, format!("write its numbers as they are there; `{mark}` stands before decimals")))
}

/// Whether a cell is a number only with the other decimal mark.
pub(super) fn is_of_other_decimals(cell: &str, rules: &ColumnRules<'_>) -> bool {
    rules.number(cell).is_none() && plain(cell, !rules.comma).is_some_and(f64::is_finite)
}

/// Whether a cell is an infinity, or a number too large for a double.
pub(super) fn is_infinite(cell: &str, rules: &ColumnRules<'_>) -> bool {
    plain(cell, rules.comma).is_some_and(f64::is_infinite)
}

/// Fault of a column with the other decimal mark.
pub(super) fn decimal_fault(column: &RawColumn, rules: &ColumnRules<'_>) -> InvalidCell {
    let other = if rules.comma { "." } else { "," };
    let odd = || column.trimmed_cells().enumerate().filter(|(_, cell)| is_of_other_decimals(cell, rules));
    let (row, value) = odd().next().unwrap_or((0, ""));
    let wrong = format!("is a number only if `{other}` stands before decimals");
    let remedy = format!("set data.read.decimal: \"{other}\"");
    InvalidCell::new(row, value, odd().count(), wrong, remedy)
}
