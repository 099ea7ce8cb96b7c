//! Inference of a column's type from all its cells.

mod dates;
mod numbers;
mod ordered_levels;
mod outcome;

pub(super) use dates::read_dates;
pub use dates::{DAY_FIRST, MONTH_FIRST};
pub use ordered_levels::sort_levels;
pub use outcome::Hint;
pub(super) use outcome::Outcome;
use outcome::{as_text, done, kind_fault, with_notation};

use super::cell::{ColumnRules, date_forms, plain};
use super::column_builder::{ColumnBuilder, CountedCells, NumberColumn, RawColumn};
use super::fault::InvalidCell;
use crate::Notation;
use dates::{SAMPLE, dates, zone_notation};
pub(super) use numbers::{NumberNotation, read_numbers};
use numbers::{decimal_fault, is_infinite, is_of_other_decimals};
use vaglio_core::numerals::{holds, normalize_number};
use vaglio_core::{Cells, Numbers};

/// Note for a column of codes such as `07030`.
pub const LEADING_ZEROS: &str = "leading zeros";

/// Note for a column with whole numbers beyond double precision; it becomes text of their digits.
pub const BEYOND_DOUBLES: &str = "whole numbers beyond 2^53";

/// Whether at least three quarters of the cells fit a type.
pub(super) fn nearly_all(part: usize, all: usize) -> bool {
    part > 0 && 4 * part >= 3 * all
}

/// Whether a column was read as numbers and must be read again as text: some cell is no plain number, or the digits of
/// some matter.
pub(super) fn needs_text(column: &ColumnBuilder, rules: &ColumnRules<'_>) -> bool {
    let ColumnBuilder::Numbers(column) = column else { return false };
    column.is_text || rules.hint == Hint::Auto && column.zeros || column.beyond && !rules.rounds()
}

/// Cells of a column with their inferred type.
pub(super) fn infer(column: ColumnBuilder, rules: &ColumnRules<'_>) -> Outcome {
    let hint = rules.hint;
    match column {
        ColumnBuilder::Numbers(column) => infer_numbers(column, rules),
        ColumnBuilder::Raw(column) => infer_text(&column, rules),
        // No cell is missing.
        ColumnBuilder::Sparse(column) if hint.wants_text() => {
            numbers_as_text(Cells::Numbers(column.into()), CountedCells::default(), false, rules)
        }
        ColumnBuilder::Sparse(column) => done(Cells::Numbers(column.into()), CountedCells::default(), None, rules),
        ColumnBuilder::Dates(column, zoned) => {
            let missing = column.missing.clone();
            let dates = Cells::Dates(column.finish().view().values().into_owned());
            match hint {
                Hint::Number => Err(kind_fault(&dates, "is a date")),
                Hint::Class | Hint::Text => done(as_text(&dates), missing, None, rules),
                _ => {
                    let row = (0..dates.len()).find(|&row| !dates.is_missing(row));
                    let clocks = row.and_then(|row| Some((row, dates.label(row), zoned?)));
                    let notation = zone_notation(&mut None, clocks.into_iter(), rules)?;
                    with_notation(done(dates, missing, None, rules), notation)
                }
            }
        }
    }
}

/// Booleans as `true` and `false`.
fn as_words(numbers: &Cells) -> Cells {
    let word = |row: usize| match numbers.label(row).as_str() {
        "" => "",
        "0" => "false",
        _ => "true",
    };
    Cells::Text((0..numbers.len()).map(|row| word(row).to_owned()).collect())
}

/// Numbers or booleans of a file with column types, as text.
fn numbers_as_text(numbers: Cells, missing: CountedCells, is_truth: bool, rules: &ColumnRules<'_>) -> Outcome {
    if rules.hint == Hint::Date {
        return Err(kind_fault(&numbers, "is a number"));
    }
    done(if is_truth { as_words(&numbers) } else { as_text(&numbers) }, missing, None, rules)
}

fn infer_numbers(column: NumberColumn, rules: &ColumnRules<'_>) -> Outcome {
    let hint = rules.hint;
    let is_label = column.is_truth && matches!(hint, Hint::Target | Hint::Label);
    if hint.wants_text() || is_label {
        let (missing, is_truth) = (column.missing.clone(), column.is_truth);
        return numbers_as_text(Cells::Numbers(column.finish()), missing, is_truth, rules);
    }
    if let Some((row, value)) = &column.infinite.first {
        return Err(InvalidCell::infinite(*row, value, column.infinite.count));
    }
    let notation = Notation { rounded: column.beyond, ..Notation::default() };
    numbers_outcome(column, notation, rules)
}

/// Outcome of a column of numbers or booleans with their notation.
fn numbers_outcome(column: NumberColumn, notation: Notation, rules: &ColumnRules<'_>) -> Outcome {
    let note = if column.is_truth { Some(TRUTH.to_owned()) } else { notation.words() };
    let missing = column.missing.clone();
    with_notation(done(Cells::Numbers(column.finish()), missing, note, rules), notation)
}

/// Note for a column of booleans.
pub const TRUTH: &str = "truth";

/// 1 or 0 for a cell that is a boolean.
fn truth(cell: &str) -> Option<f64> {
    if cell.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if cell.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}

/// Counts of the kinds of cells in a text column.
#[derive(Default)]
struct Counts {
    missing: CountedCells,
    plain: usize,
    notated: usize,
    percent: usize,
    truth: usize,
    infinite: usize,
    /// Whole numbers beyond double precision.
    beyond: usize,
    /// Numbers in another notation than in the training rows.
    other: usize,
}

fn infer_text(column: &RawColumn, rules: &ColumnRules<'_>) -> Outcome {
    let hint = rules.hint;
    let is_written = hint == Hint::Written;
    let cells = column.cells().map(|cell| if is_written { cell } else { cell.trim() });
    let is_missing = |cell: &str| if is_written { cell.is_empty() } else { rules.is_missing(cell) };
    let mut counts = Counts::default();
    let is_typed = matches!(hint, Hint::Class | Hint::Text | Hint::Written | Hint::Date | Hint::Stored);
    for (row, cell) in cells.clone().enumerate() {
        if is_missing(cell) {
            counts.missing.push(row, cell);
        } else if is_typed {
        } else if let Some(value) = rules.number(cell) {
            counts.plain += 1;
            counts.beyond += usize::from(!holds(cell, value));
        } else if let Some((_, notation)) = rules.number_in_known_notation(cell) {
            counts.notated += 1;
            counts.percent += usize::from(notation.percent);
        } else if truth(cell).is_some() {
            counts.truth += 1;
        } else {
            counts.infinite += usize::from(is_infinite(cell, rules));
            counts.other += usize::from(
                plain(cell, rules.comma).is_some_and(f64::is_finite) || rules.number_in_notation(cell).is_some(),
            );
        }
    }
    let present = column.rows() - counts.missing.count;
    let numbers = counts.plain + counts.notated;
    let finish = |cells: Cells, note: Option<String>| done(cells, counts.missing.clone(), note, rules);
    let text = |cell: &str| if is_missing(cell) { String::new() } else { cell.to_owned() };
    let texts = |note: Option<String>| finish(Cells::Text(cells.clone().map(text).collect()), note);
    if present == 0 && !is_typed {
        return finish(Cells::Numbers(Numbers::from(vec![f64::NAN; column.rows()])), None);
    }
    match hint {
        Hint::Class | Hint::Text | Hint::Written | Hint::Stored => return texts(None),
        Hint::Label if counts.plain < present && counts.truth < present => return texts(None),
        Hint::Date => return dates(column, &counts.missing, rules),
        Hint::Auto | Hint::Target | Hint::Number | Hint::Label => {}
    }
    if counts.truth == present {
        let value = |cell: &str| truth(cell).unwrap_or(f64::NAN);
        let values = Cells::Numbers(Numbers::from(cells.map(value).collect::<Vec<f64>>()));
        return match hint {
            Hint::Auto | Hint::Number => finish(values, Some(TRUTH.to_owned())),
            _ => finish(as_words(&values), None),
        };
    }
    if hint == Hint::Auto && counts.plain == present && are_codes(cells.clone().filter(|cell| !rules.is_missing(cell)))
    {
        return texts(Some(LEADING_ZEROS.to_owned()));
    }
    if counts.beyond > 0 && counts.plain == present && hint != Hint::Number {
        let digits = |cell: &str| {
            if rules.is_missing(cell) { None } else { normalize_number(cell) }.unwrap_or_default().into_owned()
        };
        return finish(Cells::Text(cells.map(digits).collect()), Some(BEYOND_DOUBLES.to_owned()));
    }
    if hint == Hint::Number || nearly_all(numbers + counts.infinite, present) || nearly_all(counts.other, present) {
        let is_percent = counts.percent == present || rules.known.is_some_and(|known| known.percent);
        let written = if is_percent { NumberNotation::AsPercent } else { NumberNotation::Plainly };
        return read_numbers(column, written, rules);
    }
    if hint == Hint::Auto || hint == Hint::Target {
        let as_other = cells.clone().filter(|cell| is_of_other_decimals(cell, rules)).count();
        if as_other > 0 && nearly_all(as_other + numbers, present) {
            return Err(decimal_fault(column, rules));
        }
        let sample: Vec<&str> = cells.clone().filter(|cell| !rules.is_missing(cell)).take(SAMPLE).collect();
        let like_dates = sample.iter().filter(|cell| !date_forms(cell, rules.dates).is_empty()).count();
        if nearly_all(like_dates, sample.len()) {
            return dates(column, &counts.missing, rules);
        }
    }
    texts(None)
}

/// Whether cells are codes: at least two digits, of equal number, some beginning with 0.
fn are_codes<'c>(cells: impl Iterator<Item = &'c str>) -> bool {
    let (mut length, mut has_zero) = (None, false);
    for cell in cells {
        let is_alike = *length.get_or_insert(cell.len()) == cell.len();
        if !is_alike || cell.len() < 2 || !cell.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        has_zero |= cell.starts_with('0');
    }
    has_zero
}
