//! Identifiers that number the rows in the order of the target.

use super::cell_checks::range;
use super::leaks::standardize;
use super::profile::{Profile, in_backticks, join_with_and, numbers_at};
use crate::series::numbers;
use vaglio_core::{Cells, argsort_by};
use vaglio_kernels::sums::dot;
use vaglio_report::record::{Warning, WarningKind};

/// Rank correlation above which two orders count as one.
const ONE_ORDER: f64 = 0.95;
/// Minimum number of rows; fewer agree by chance.
const FEWEST: usize = 20;

/// Warns of features that number the rows in the target's order, except `given` leaks.
pub(super) fn ordering(profile: &Profile<'_>, given: &[&str]) -> Option<Warning> {
    let (spec, sample) = (&profile.settings.spec, &profile.sample);
    // Rows in time order may well be numbered by it.
    if profile.raw.table.rows() < FEWEST || spec.time.is_some() || spec.series.is_some() || profile.classes.is_some() {
        return None;
    }
    let targets = profile.targets.iter().filter_map(|(_, cells)| ranks(&numbers(cells)?));
    let targets: Vec<Vec<f64>> = targets.collect();
    let mut found = Vec::new();
    for (name, cells) in profile.features.iter().filter(|(name, _)| !given.contains(name)) {
        let is_number = matches!(cells, Cells::Numbers(_));
        if !is_number || !numbers_at(cells, sample).is_some_and(|few| few.into_iter().all(is_whole)) {
            continue;
        }
        let Some(values) = numbers(cells).filter(|values| counts_rows(values)) else { continue };
        let Some(order) = ranks(&values) else { continue };
        let most = targets.iter().map(|target| dot(&order, target).abs()).fold(0.0, f64::max);
        if most > ONE_ORDER {
            found.push(format!("{} (rank correlation {most:.2})", in_backticks(name)));
        }
    }
    let message = match found.len() {
        0 => return None,
        1 => format!(
            "{} numbers the rows in the order of the target; leave it out by `data.exclude`, or name it `data.time` if it is one",
            found[0]
        ),
        _ => format!(
            "{} each number the rows in the order of the target; leave them out by `data.exclude`, or name one `data.time` if \
             it is one",
            join_with_and(&found, " columns")
        ),
    };
    Some(Warning::new(WarningKind::IdentifierInOrder, message))
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}

/// Whether whole numbers are distinct and cover more than half of their range.
fn counts_rows(values: &[f64]) -> bool {
    let (low, high) = range(values);
    if high - low >= 2.0 * values.len() as f64 {
        return false;
    }
    let mut seen = vec![false; 2 * values.len()];
    values.iter().all(|value| {
        is_whole(*value) && seen.get_mut((value - low) as usize).is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

/// Standardized ranks of values, averaged over ties; `None` for a constant. Cost O(rows · log rows).
fn ranks(values: &[f64]) -> Option<Vec<f64>> {
    let order = argsort_by(values.len(), |a, b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = start as f64 + (run.len() - 1) as f64 / 2.0;
        run.iter().for_each(|&row| ranks[row] = mean);
        start += run.len();
    }
    standardize(ranks.into_iter())
}
