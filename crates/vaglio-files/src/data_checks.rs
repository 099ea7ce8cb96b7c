//! Data checks: warnings of target leaks, duplicated rows, codes for missing values.
//!
//! Columns are screened on a sample of the rows and judged on all of them; the cost is that of a few passes over the
//! table. No check fails the run.

mod cell_checks;
mod copies;
mod leaks;
mod order;
pub(super) mod profile;
mod steps;

use profile::Profile;
use vaglio_report::record::Warning;

/// Minimum number of rows for checks, except for leaks, which have a significance level.
const FEWEST: usize = 10;

/// All warnings, in a fixed order. Cost O(rows · columns).
pub(super) fn findings(profile: &Profile<'_>) -> Vec<Warning> {
    let (mut found, given) = leaks::find_leaks(profile);
    found.extend(cell_checks::left_out(profile));
    if profile.raw.table.rows() >= FEWEST {
        found.extend(order::ordering(profile, &given));
        found.extend(copies::copies(profile));
        found.extend(copies::groups_on_both_sides(profile));
        found.extend(cell_checks::codes(profile));
        found.extend(cell_checks::levels(profile));
        found.extend(cell_checks::leading_zeros(profile));
    }
    found.extend(steps::steps(profile));
    found
}

#[cfg(test)]
mod tests;
