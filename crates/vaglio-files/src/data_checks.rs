//! Data checks: warnings of target leaks, duplicated rows, codes for missing values.
//!
//! Columns are screened on a sample of the rows and judged on all of them; the cost is that of a few passes over the
//! table. No check fails the run.

mod cell_checks;
mod copies;
mod leaks;
mod order;
pub(super) mod steps;
pub(super) mod table_with_roles;

use table_with_roles::TableWithRoles;
use vaglio_report::record::Warning;
use vaglio_tables::budget::Budget;

/// Minimum number of rows for checks, except for leaks, which have a significance level.
const FEWEST: usize = 10;

/// All warnings, in a fixed order. Cost O(rows · columns).
pub(super) fn findings(read: TableWithRoles<'_>, budget: Budget) -> Vec<Warning> {
    let (mut found, given) = leaks::given_away(read);
    found.extend(cell_checks::left_out(read));
    if read.train.rows() < FEWEST {
        return found;
    }
    found.extend(order::ordering(read, &given));
    found.extend(copies::copies(read, budget));
    found.extend(copies::groups_on_both_sides(read));
    found.extend(cell_checks::codes(read));
    found.extend(cell_checks::levels(read));
    found.extend(cell_checks::leading_zeros(read));
    found
}

#[cfg(test)]
mod tests;
