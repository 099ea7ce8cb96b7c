//! Codes written in digits.

use vaglio_core::numerals::holds;

/// Note for a column of codes such as `07030`.
pub const LEADING_ZEROS: &str = "leading zeros";

/// Note for a column with whole numbers beyond double precision; it becomes text of their digits.
pub const BEYOND_DOUBLES: &str = "whole numbers beyond 2^53";

/// Whether a cell is a whole number that differs from `value`, the nearest double.
#[inline]
pub(in crate::read) fn is_beyond(cell: &str, value: f64) -> bool {
    !holds(cell, value)
}

/// Whether cells are codes: at least two digits, of equal number, some beginning with 0.
pub(super) fn are_codes<'c>(cells: impl Iterator<Item = &'c str>) -> bool {
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
