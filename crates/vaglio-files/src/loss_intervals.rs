//! Intervals of the chosen subset's loss, and of its difference to the baseline, to neighboring sizes and to all
//! columns.

use vaglio_core::Task;
use vaglio_pipeline::resampling::{Choice, LEVEL};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{ComparisonColumns, LossDifference};

/// Interval of a chosen loss, level of the interval, and differences to other losses.
type LossIntervals = (Option<[f64; 2]>, Option<f64>, Vec<LossDifference>);

/// Computes [`LossIntervals`]; `None` if the search was not cross-validated.
pub(super) fn certainty(selector: &ValidSelector, task: &Task, chosen: &Choice) -> Option<LossIntervals> {
    let how = chosen.folds.as_ref()?;
    let loss = &*selector.loss(task);
    let level = how.interval.unwrap_or(LEVEL);
    let (own, gained) = (chosen.losses_at(chosen.size)?, chosen.gained(loss));
    let interval = own.bounded(loss, None, gained, level).map(|(_, interval)| interval);
    let largest = chosen.losses.keys().next_back().copied().unwrap_or(0);
    let against = |size: usize| match size {
        size if size == chosen.size => None,
        0 => Some(ComparisonColumns::Empty),
        size if size + 1 == chosen.size => Some(ComparisonColumns::Fewer),
        size if size == largest && size > chosen.size + 1 => Some(ComparisonColumns::All),
        _ => Some(ComparisonColumns::More),
    };
    let differences = chosen.losses.keys().filter_map(|&size| {
        let against = against(size)?;
        // The selection compared neighboring sizes too, so they get no correction.
        let gained = if against == ComparisonColumns::Empty { gained } else { 0.0 };
        let (mean, interval) = own.bounded(loss, Some(&chosen.losses_at(size)?), gained, level)?;
        Some(LossDifference { against, size, mean, interval })
    });
    Some((interval, interval.map(|_| level), differences.collect()))
}

#[cfg(test)]
mod tests;
