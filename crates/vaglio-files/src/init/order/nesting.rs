//! Detects grouping columns: others are constant within each of their values.

use super::CodedColumn;
use vaglio_core::Cells;

/// Minimum number of constant columns; fewer may follow from their meaning, such as an age and its square.
const FEWEST_CONSTANT: usize = 3;
/// Minimum number of groups.
const FEWEST_UNITS: usize = 5;
/// Limit on columns tried as groups.
const MOST: usize = 100;

/// A whole-number column within whose values other columns are constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nesting {
    pub column: String,
    /// Number of values.
    pub units: usize,
    /// Number of columns that are constant within them.
    pub constant: usize,
}

/// The column with the most constant columns within its values, of ties the one with the fewest values. Cost O(rows ·
/// log rows) per whole-number column, and a few rows per pair.
pub fn nesting(columns: &[CodedColumn<'_>]) -> Option<Nesting> {
    let rows = columns.first()?.rows();
    let is_unit = |c: &&CodedColumn<'_>| {
        matches!(c.cells, Cells::Numbers(_)) && c.is_whole() && (FEWEST_UNITS..=rows / 2).contains(&c.distinct())
    };
    let of = |unit: &CodedColumn<'_>| {
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|&row| unit.codes[row]);
        let is_constant = |other: &&CodedColumn<'_>| {
            let mut pairs = order.windows(2).filter(|pair| unit.codes[pair[0]] == unit.codes[pair[1]]);
            other.name != unit.name
                && other.distinct() > 1
                && pairs.all(|pair| other.codes[pair[0]] == other.codes[pair[1]])
        };
        let constant = columns.iter().filter(is_constant).count();
        Nesting { column: unit.name.to_owned(), units: unit.distinct(), constant }
    };
    let found = columns.iter().filter(is_unit).take(MOST).map(of).filter(|found| found.constant >= FEWEST_CONSTANT);
    found.max_by_key(|found| (found.constant, std::cmp::Reverse(found.units)))
}
