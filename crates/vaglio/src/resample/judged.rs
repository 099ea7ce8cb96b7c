//! What a chosen subset is worth beside none, beside its neighbors in size and beside all columns.

use super::chosen::Chosen;
use super::extend::keeps_all;
use super::interval::{Bounded, Judged, LEVEL};
use super::pairs;
use super::pool::Watcher;
use super::sample::Sample;
use super::table::Matched;
use super::tally::Tally;
use super::walks::Trail;
use crate::selector::ValidSelector;
use vaglio_core::{CrossValidation, Design, Loss, Result, Unless};
use vaglio_report::record::{Against, Cell, Declined, LossDifference};

/// What the folds lost at the λ that was chosen, repeat by repeat.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoldLosses {
    sizes: Vec<OfSize>,
    /// Of each fold at the size and λ that the others of its repeat choose; none where the lowest loss was not taken.
    by_others: Vec<Tally>,
    repeats: usize,
}

/// What the folds lost at a size of the walk on all rows.
#[derive(Debug, Clone, PartialEq)]
struct OfSize {
    size: usize,
    /// What stands for it in a fold.
    of_fold: usize,
    losses: Vec<Tally>,
}

impl OfSize {
    /// With what walks without pairs of folds lost, where there were any.
    fn judged<'t>(&'t self, pairs: Option<&'t [Vec<Trail>]>, repeats: usize) -> Judged<'t> {
        // No subset is smaller than one feature, so that at 0 stands the empty one.
        let of_fold = |others: &'t Vec<Trail>| others.iter().map(|trail| trail.at(self.of_fold)).collect();
        let inner = pairs.unwrap_or_default().iter().map(of_fold).collect();
        Judged { outer: self.losses.iter().collect(), inner, repeats }
    }
}

impl FoldLosses {
    /// At no columns, at a size and those beside it, and at all columns, as far as every fold reached them.
    pub(super) fn new(matched: &Matched<'_>, size: usize, by_others: Vec<Tally>) -> Self {
        let near = [Some(0), size.checked_sub(1), Some(size), Some(size + 1), matched.everything];
        let mut sizes: Vec<usize> = near.into_iter().flatten().collect();
        sizes.sort_unstable();
        sizes.dedup();
        // No columns are in every walk, also where they may not be the result.
        sizes.retain(|&near| near == 0 || matched.has(near));
        let of_size = |size: usize| OfSize {
            size,
            of_fold: matched.of_fold(size),
            losses: match size {
                0 => matched.empties().into_iter().cloned().collect(),
                _ => matched.parts(size).into_iter().cloned().collect(),
            },
        };
        FoldLosses { sizes: sizes.into_iter().map(of_size).collect(), by_others, repeats: matched.repeats }
    }
}

/// Whether the empty subset may be taken in place of the lowest loss.
///
/// # Errors
/// Those of the search's outline.
pub(super) fn may_decline(selector: &ValidSelector, design: &Design, how: &CrossValidation) -> Result<bool> {
    Ok(match how.unless {
        Unless::Never => false,
        Unless::Empty => true,
        Unless::Auto => how.wanted().is_lowest() && !keeps_all(selector, design)?,
    })
}

/// What is declined of the cell that a rule takes: its columns, where what they gain over none may be nothing.
///
/// What was chosen for its loss would gain a little on noise as well, so every fold is judged at the size and λ that the others
/// choose.
pub(super) fn declined(
    loss: &dyn Loss,
    matched: &Matched<'_>,
    (cell, by_others): (Cell, &[Tally]),
    how: &CrossValidation,
) -> Option<Declined> {
    if cell.size == 0 || !matched.has(0) {
        return None;
    }
    let parts = matched.parts(cell.size);
    let outer = if by_others.is_empty() { parts } else { by_others.iter().collect() };
    let own = Judged { outer, inner: Vec::new(), repeats: matched.repeats };
    let none = Judged { outer: matched.empties(), ..own.clone() };
    let level = how.interval.unwrap_or(LEVEL);
    let found = own.bounded(loss, Some(&none), (0.0, level));
    // Of what nothing is known nothing is declined.
    let found = found.filter(|found| found.interval[1] >= 0.0)?;
    let difference = difference(Against::Empty, 0, found);
    Some(Declined { size: cell.size, cross_validated: cell.loss, difference })
}

fn difference(against: Against, size: usize, Bounded { mean, interval }: Bounded) -> LossDifference {
    LossDifference { against, size, mean, interval }
}

/// What is known of a chosen loss.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Certainty {
    pub interval: Option<[f64; 2]>,
    pub level: f64,
    pub differences: Vec<LossDifference>,
}

/// Pairs of folds for each walk of the choice that are trained where the user did not ask for intervals, at most.
const MOST_PAIRS: usize = 2;

/// How many pairs of folds are trained for the intervals of a choice in so many `folds` at so many λ.
pub(crate) fn pairs_of(selector: &ValidSelector, how: &CrossValidation, lambdas: usize) -> usize {
    let pairs = how.folds * how.folds.saturating_sub(1) / 2;
    let is_one = selector.search().contestants().is_empty() && how.splits.is_none();
    let is_cheap = pairs <= MOST_PAIRS * how.folds * how.repeats * lambdas;
    if is_one && (how.interval.is_some() || is_cheap) { pairs } else { 0 }
}

/// The intervals of the chosen loss and of what it is above others; `None` where the search was not cross-validated. Cost: a
/// walk at the chosen λ for each pair of folds, where that is [asked for or cheap](pairs_of).
///
/// # Errors
/// Those of the walks.
pub(crate) fn certainty(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    chosen: &Chosen,
    watcher: &Watcher<'_>,
) -> Result<Option<Certainty>> {
    let (Some(how), Some(losses), Some(table)) = (&chosen.folds, &chosen.losses, &chosen.table) else {
        return Ok(None);
    };
    let near = losses.sizes.iter().filter(|of| of.size <= chosen.size + 1);
    let wanted: Vec<usize> = near.map(|of| of.size).filter(|size| *size > 0).collect();
    let trails = match pairs_of(selector, how, table.lambdas.len()) {
        0 => None,
        // A path judged at penalties has its models there alone.
        _ if chosen.penalty.is_some() => None,
        _ => pairs::of_walks(selector, sample, design, (chosen, &wanted), watcher)?,
    };
    let trails = trails.as_deref();
    let of_pairs = |size: usize| trails.filter(|_| size == 0 || wanted.contains(&size));
    let loss = &*selector.loss(sample.task());
    let level = how.interval.unwrap_or(LEVEL);
    let Some(taken) = losses.sizes.iter().find(|of| of.size == chosen.size) else { return Ok(None) };
    let own = taken.judged(of_pairs(taken.size), losses.repeats);
    let others: Vec<&Tally> = losses.by_others.iter().collect();
    let chosen_by_others = if others.is_empty() || chosen.size == 0 { None } else { Some(Tally::mean(loss, &others)?) };
    let gained =
        chosen_by_others.map_or(0.0, |by_others| by_others - Tally::mean(loss, &own.outer).unwrap_or(by_others));
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
        Some(difference(
            against,
            of.size,
            own.bounded(loss, Some(&of.judged(of_pairs(of.size), losses.repeats)), (gained, level))?,
        ))
    });
    Ok(Some(Certainty { interval, level, differences: differences.collect() }))
}
