//! Outcome of inferring a column's type.

use super::super::cell::ColumnRules;
use super::super::column_builder::CountedCells;
use super::super::fault::InvalidCell;
use crate::{ColumnProfile, InferredType, Notation, TableProfile};
use std::collections::{HashMap, HashSet};
use vaglio_core::{Cells, Column, Numbers, Table};

/// Prior knowledge of a column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hint {
    /// Nothing known.
    #[default]
    Auto,
    /// A target: words for booleans stay words.
    Target,
    /// A label of rows: numbers if all cells are, else text.
    Label,
    /// Numbers, by the settings.
    Number,
    /// Classes, by the settings.
    Class,
    /// Text, by the settings.
    Text,
    /// Dates, by the settings.
    Date,
    /// Exactly as written, including blanks and words for missing cells.
    Written,
    /// Text, by the format of the file.
    Stored,
}

impl Hint {
    /// Whether every cell is read as text.
    pub fn wants_text(self) -> bool {
        !matches!(self, Hint::Auto | Hint::Target | Hint::Number | Hint::Label)
    }
}

/// Cells of a column with its profile, or the fault of one of them.
pub(in crate::read) type Outcome = Result<(Cells, ColumnProfile), InvalidCell>;

/// Cells as text.
pub(super) fn as_text(cells: &Cells) -> Cells {
    Cells::Text((0..cells.len()).map(|row| cells.label(row)).collect())
}

/// Fault of a column whose file type contradicts the settings.
pub(super) fn kind_fault(cells: &Cells, is: &str) -> InvalidCell {
    let row = (0..cells.len()).find(|&row| !cells.is_missing(row)).unwrap_or(0);
    let wrong = format!("{is} by the format of the file, and data.types says otherwise");
    let remedy = "take the column out of data.types, or write the file with another type";
    InvalidCell::new(row, &cells.label(row), cells.len(), wrong, remedy)
}

/// Maximum levels of a class column; text with more levels, or with more than [`FEW`] and a quarter of the rows, is not
/// a class.
const MOST_LEVELS: usize = 50;
const FEW: usize = 10;

/// Outcome of a column with these cells.
pub(super) fn done(cells: Cells, missing: CountedCells, note: Option<String>, rules: &ColumnRules<'_>) -> Outcome {
    let CountedCells { count: missing, first: first_missing } = missing;
    let (taken, levels) = infer_type(&cells, rules.hint, cells.len() - missing);
    let profile = ColumnProfile::new(rules.name.to_owned(), taken);
    Ok((cells, ColumnProfile { missing, first_missing, levels, note, ..profile }))
}

/// Outcome of a column whose cells have a notation.
pub(super) fn with_notation(outcome: Outcome, notation: Notation) -> Outcome {
    outcome.map(|(cells, profile)| (cells, ColumnProfile { notation, ..profile }))
}

impl TableProfile {
    /// Updates types, missing cells and levels for the rows that remain in the table.
    pub fn update_from(&mut self, table: &Table, hints: &HashMap<String, Hint>) {
        for column in &mut self.columns {
            let Some(cells) = table.get(&column.name) else { continue };
            column.missing = cells.missing().map_or(0, |(_, count)| count);
            let hint = hints.get(&column.name).copied().unwrap_or_default();
            (column.taken, column.levels) = infer_type(cells, hint, cells.len() - column.missing);
        }
    }
}

/// Inferred type of a column with `present` non-missing cells, and its number of distinct texts.
fn infer_type(cells: &Cells, hint: Hint, present: usize) -> (InferredType, usize) {
    if present == 0 {
        return (InferredType::Empty, 0);
    }
    let taken = match cells {
        Cells::Text(text) => {
            let levels = text.iter().filter(|level| !level.is_empty()).collect::<HashSet<_>>().len();
            let taken = match hint {
                Hint::Text => InferredType::Text,
                _ if levels == 1 => InferredType::Constant,
                Hint::Class => InferredType::Class,
                _ if levels == present && present > FEW => InferredType::Identifier,
                _ if levels > MOST_LEVELS || (levels > FEW && 4 * levels > text.len()) => InferredType::Text,
                _ => InferredType::Class,
            };
            return (taken, levels);
        }
        Cells::Dates(_) => InferredType::Date,
        Cells::Numbers(Numbers::Sparse(column)) => match Column::Sparse(column.view()).is_constant() {
            true => InferredType::Constant,
            false => InferredType::Number,
        },
        Cells::Numbers(numbers) => {
            let column = numbers.view();
            let mut present = (0..column.len()).map(|row| column.get(row)).filter(|v| !v.is_nan());
            let first = present.next().unwrap_or(f64::NAN);
            let runs = |(k, v): (usize, f64)| v == first + (k + 1) as f64;
            match () {
                () if present.clone().all(|v| v == first) => InferredType::Constant,
                () if column.len() > FEW && first.fract() == 0.0 && present.enumerate().all(runs) => {
                    InferredType::Identifier
                }
                () => InferredType::Number,
            }
        }
    };
    (taken, 0)
}
