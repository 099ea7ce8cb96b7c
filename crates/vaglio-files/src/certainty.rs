//! How certain the loss of a chosen subset is: beside none, beside its neighbors in size and beside all columns.

use super::pairs::{count, of_walks};
use vaglio_core::{CrossValidation, Design, Result};
use vaglio_pipeline::resample::judged::{OfSize, difference};
use vaglio_pipeline::resample::{Chosen, LEVEL, Sample, Watcher};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{Against, LossDifference};

/// What is known of a chosen loss.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Certainty {
    pub interval: Option<[f64; 2]>,
    pub level: f64,
    pub differences: Vec<LossDifference>,
}

/// Pairs of folds for each walk of the choice that are trained where the user did not ask for intervals, at most.
const MOST_PAIRS: usize = 2;

/// How many pairs of folds are trained for the intervals of a choice in so many `folds` at so many λ.
pub(super) fn pairs_of(selector: &ValidSelector, how: &CrossValidation, lambdas: usize) -> usize {
    let pairs = count(how.folds);
    let is_one = selector.search().contestants().is_empty() && how.splits.is_none() && how.folds > 2;
    let is_cheap = pairs <= MOST_PAIRS * how.folds * how.repeats * lambdas;
    if is_one && (how.interval.is_some() || is_cheap) { pairs } else { 0 }
}

/// The intervals of the chosen loss and of what it is above others; `None` where the search was not cross-validated. Cost: a
/// walk at the chosen λ for each pair of folds, where that is [asked for or cheap](pairs_of).
///
/// # Errors
/// Those of the walks.
pub(super) fn certainty(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    chosen: &Chosen,
    watcher: &Watcher<'_>,
) -> Result<Option<Certainty>> {
    let (Some(how), Some(losses), Some(table)) = (&chosen.folds, chosen.losses(), &chosen.table) else {
        return Ok(None);
    };
    let near = losses.sizes.iter().filter(|of| of.size <= chosen.size + 1);
    let wanted: Vec<usize> = near.map(|of| of.size).filter(|size| *size > 0).collect();
    let trails = match pairs_of(selector, how, table.lambdas.len()) {
        0 => None,
        // A path judged at penalties has its models there alone.
        _ if chosen.penalty.is_some() => None,
        _ => match of_walks(selector, sample, design, (chosen, &wanted), watcher) {
            // So few rows cannot be searched without two folds, and nobody asked for it.
            Err(error) if how.interval.is_none() => {
                tracing::debug!(%error, "no walks without pairs of folds");
                None
            }
            found => found?,
        },
    };
    let trails = trails.as_deref();
    let of_pairs = |size: usize| trails.filter(|_| size == 0 || wanted.contains(&size));
    let loss = &*selector.loss(sample.task());
    let level = how.interval.unwrap_or(LEVEL);
    let Some(taken) = losses.at(chosen.size) else { return Ok(None) };
    let own = taken.judged(of_pairs(taken.size), losses.repeats);
    let gained = losses.gained(loss, taken);
    let interval = own.bounded(loss, None, (gained, level)).map(|bounded| bounded.interval);
    let largest = losses.sizes.last().map_or(0, |of| of.size);
    let against = |of: &&OfSize| match of.size {
        size if size == chosen.size => None,
        0 => Some(Against::Empty),
        size if size + 1 == chosen.size => Some(Against::Fewer),
        size if size == largest && size > chosen.size + 1 => Some(Against::All),
        _ => Some(Against::More),
    };
    let differences = losses.sizes.iter().filter_map(|of| {
        let against = against(&of)?;
        // Neighbors were chosen among as well.
        let gained = if against == Against::Empty { gained } else { 0.0 };
        let other = of.judged(of_pairs(of.size), losses.repeats);
        Some(difference(against, of.size, own.bounded(loss, Some(&other), (gained, level))?))
    });
    Ok(Some(Certainty { interval, level, differences: differences.collect() }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
