//! All subsets.
//!
//! Read `order`, then `progress`, which both trees share: `tree` for any criterion, `bounded_tree` where least squares fits
//! bound the scores. Its bounds are in `best_subsets`. `alternatives` lists near-best subsets afterwards.

mod alternatives;
mod best_subsets;
mod bounded_tree;
mod order;
mod progress;
mod tree;

pub use alternatives::Alternatives;

use crate::{Certificate, Path, Search, SearchContext, SearchSettings, SearchStrategy, Space, SubsetScorer};
use best_subsets::SubsetSquares;
use bounded_tree::{BoundedTree, subset_squares};
use order::TreeOrder;
use tree::SubsetTree;
use vaglio_core::{Criterion, Error, Result, SearchExtent, part};

/// The best of all subsets, of every size up to `max_features`.
///
/// Subsets form a tree. Where least squares fits bound their scores, a node includes or excludes the feature that counts
/// most. Otherwise each node adds one feature that is later than its last. A subtree is left out once it is proven to hold
/// nothing better than the best subsets found so far, by exchanges or in the tree.
///
/// The path holds the best subset of every size, with its features in increasing order. Among equal scores the first
/// subset in lexicographic order is taken. If no subset beats the empty one, nothing is selected. There are no steps. A
/// search that is stopped returns the best subsets so far, with a certificate of how much they can be off, if known.
///
/// With `min_features` only sizes from there on are recorded. More than 2³⁰ subsets are refused if the criterion has no
/// bounds. `tolerance` and `patience` have no meaning here and are refused. No exchange improves the best subset, so
/// `polish` changes nothing.
///
/// # Reference
/// G. Furnival, R. Wilson, *Regressions by leaps and bounds*, Technometrics 16 (1974).
#[part(
    SearchStrategy,
    "exhaustive",
    summary = "the best subset of every size, proven by visiting or excluding all of them",
    example = "search: {kind: exhaustive, max_features: 5}"
)]
pub struct Exhaustive {
    /// Lists and counts the subsets that are nearly as good as the best.
    #[optional]
    pub alternatives: Option<Alternatives>,
}

/// Largest number of subsets that are searched without bounds.
const MOST_UNPROVEN: f64 = (1u64 << 30) as f64;
/// Largest number of columns for which bounds are tested before more subsets are refused.
const MOST_TESTED_COLUMNS: usize = 256;

/// Smallest memory of a tree, in bytes, for which the check asks whether the criterion has bounds.
const WORTH_ASKING: f64 = (1u64 << 24) as f64;

impl Exhaustive {
    /// Creates the search of up to `max_features` features.
    pub fn new(max_features: usize) -> Search {
        Search::new(Exhaustive::default()).max_features(max_features)
    }
}

/// Number of nonempty subsets of up to `max_features` features that contain the forced ones.
fn subsets(space: &Space<'_>) -> f64 {
    let base = space.forced_features().len();
    let mut ways = vec![0.0_f64; space.largest().saturating_sub(base) + 1];
    ways[0] = if base == 0 { 0.0 } else { 1.0 };
    for group in space.free() {
        let size = space.group(group).len();
        for total in (size..ways.len()).rev() {
            // The empty set counts if something is added to it, though it is no result.
            ways[total] += if total == size { 1.0 } else { ways[total - size] };
        }
        if ways.iter().any(|count| count.is_infinite()) {
            return f64::MAX;
        }
    }
    ways.iter().sum::<f64>().min(f64::MAX)
}

/// Error for a list of alternatives that would need a score of every subset.
fn no_alternatives() -> Error {
    let message = "they are found by bounds from least squares fits, which this criterion has not on these columns: it wants \
                   a squared loss or `information`, and columns that do not depend on each other; leave it out";
    Error::setting("alternatives", message)
}

/// Error for too many subsets without bounds.
fn too_many(count: f64, largest: usize) -> Error {
    let count = if count < 1e15 { format!("{count}") } else { format!("{count:.1e}") };
    let message = format!(
        "there are {count} subsets of up to {largest} columns, and of more than 2^30 a criterion must rule out most \
         without scoring them, which is not possible here; take a smaller max_features, or the search `floating` with \
         `polish: swaps`"
    );
    Error::setting("max_features", message)
}

/// Whether least squares fits bound the scores.
fn has_bounds(space: &Space<'_>, subset: &mut SubsetScorer<'_>) -> Result<bool> {
    let order = TreeOrder::new(space, subset)?;
    Ok(subset_squares(&order, subset).is_some())
}

/// Refuses a search of too many subsets if the criterion has no bounds that could rule most of them out.
pub(crate) fn check(space: &Space<'_>, lists: bool, criterion: &dyn Criterion, extent: &SearchExtent) -> Result<()> {
    let (design, count) = (space.design, subsets(space));
    if !lists && count <= MOST_UNPROVEN {
        return Ok(());
    }
    let mut subset = SubsetScorer::open(criterion, design, extent)?;
    if lists {
        return if has_bounds(space, &mut subset)? { Ok(()) } else { Err(no_alternatives()) };
    }
    let features = space.free_features();
    if features.len() <= MOST_TESTED_COLUMNS
        && (subset.lend()?.bound(&[], &features, space.largest())? > f64::NEG_INFINITY
            || has_bounds(space, &mut subset)?)
    {
        return Ok(());
    }
    // The search itself finds out whether columns are dependent.
    let is_within = (MOST_TESTED_COLUMNS + 1..=bounded_tree::MOST_COLUMNS).contains(&features.len());
    let has_rows = design.planned_rows() > space.features() + 1;
    if is_within && has_rows && subset.squares(&features[..1]).is_some() {
        return Ok(());
    }
    Err(too_many(count, space.largest()))
}

/// Operations and bytes of the tree with bounds from least squares fits, if it is large and the criterion has them.
pub(crate) fn effort(space: &Space<'_>, criterion: &dyn Criterion, extent: &SearchExtent) -> Result<(f64, f64)> {
    let design = space.design;
    let features = space.free_features();
    let (flops, bytes) = SubsetSquares::effort(design.planned_rows(), features.len(), space.largest());
    if bytes < WORTH_ASKING || features.len() > bounded_tree::MOST_COLUMNS {
        return Ok((0.0, 0.0));
    }
    let is_bounded = design.problem().sign().ends(|| {
        let subset = SubsetScorer::open(criterion, design, extent)?;
        Ok(subset.squares(&features[..1]).is_some())
    });
    match is_bounded {
        Ok(false) => Ok((0.0, 0.0)),
        Ok(true) | Err(Error::Stopped(_)) => Ok((flops, bytes)),
        Err(error) => Err(error),
    }
}

impl SearchStrategy for Exhaustive {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        Ok(SearchExtent { trials: (subsets(space) + forward.trials).min(f64::MAX), steps: 0, ..forward })
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        let why = "a search of all subsets has no steps to stop after; leave it out";
        shared.refuse(&["tolerance", "patience"], why)?;
        self.alternatives.iter().try_for_each(Alternatives::check)
    }

    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let compares = context.subset.criterion.traits().compares_with_empty;
        let (subset, monitor) = (&mut context.subset, &mut context.monitor);
        space.check_choice(subset)?;
        let empty = subset.score()?;
        let allowed = space.allowed_sizes();
        let mut alternatives = None;
        let (entries, certificate, stop_reason) = match TreeOrder::new(space, subset) {
            Ok(order) => match subset_squares(&order, subset) {
                Some(squares) => {
                    let mut tree = BoundedTree::new(&order, space, squares, monitor);
                    let (best, certificate, stop_reason) = tree.search(subset)?;
                    let entries = best.entries(subset)?;
                    if let Some(asked) = self.alternatives.filter(|_| certificate.optimal) {
                        alternatives = asked.find(&entries, &mut tree, subset)?;
                    }
                    (entries, certificate, stop_reason)
                }
                None if self.alternatives.is_some() => return Err(no_alternatives()),
                None if subsets(space) > MOST_UNPROVEN && space.features() > MOST_TESTED_COLUMNS => {
                    return Err(too_many(subsets(space), space.largest()));
                }
                None => {
                    let (best, certificate, stop_reason) = SubsetTree::new(&order, space, monitor).search(subset)?;
                    (best.entries(subset)?, certificate, stop_reason)
                }
            },
            Err(Error::Stopped(reason)) => (Vec::new(), Certificate::default(), reason),
            Err(error) => return Err(error),
        };
        let last = entries.len().saturating_sub(1);
        let chosen = space.result(compares.then_some(empty), &entries, last);
        let certificate = Some(certificate);
        Ok(Path { entries, chosen, allowed, certificate, alternatives, ..Path::stopped(empty, stop_reason) })
    }
}
