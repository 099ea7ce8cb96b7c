//! All subsets.

use super::frame::Frame;
use super::settings::{Blocks, Polish, settings};
use super::tree::{Order, Tree};
use serde::{Deserialize, Serialize};
use vaglio_core::{Choose, Design, Error, FeatureRef, Outline, Path, Result, SearchContext, SearchStrategy};

/// The best of all subsets, of every size up to `max_features`.
///
/// Subsets are visited depth first, each node adding one column that stands later than its last, the most useful columns
/// first. A subtree is left out when the criterion proves that it holds nothing better than what a greedy search and the
/// subsets so far have found. The path holds the best subset of every size with its columns in increasing order; of
/// subsets with equal scores the first in lexicographic order. There are no steps; a search that is stopped gives the
/// best found so far, with a certificate that says by how much it can be off, where that is known.
///
/// With `min_features` only sizes from there on are recorded. More than 2³⁰ subsets are refused. `tolerance` and
/// `patience` have no meaning here and are refused; no exchange improves the best subset, so `polish` changes nothing.
///
/// # Reference
/// G. Furnival, R. Wilson, *Regressions by leaps and bounds*, Technometrics 16 (1974).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Exhaustive {
    /// The largest subset; all candidates by default.
    pub max_features: Option<usize>,
    /// The smallest subset that is recorded; 1 by default.
    pub min_features: Option<usize>,
    /// Not for this search.
    pub tolerance: Option<f64>,
    /// Not for this search.
    pub patience: Option<usize>,
    /// Columns that are in every subset, by name or index; the others of their blocks are too.
    pub forced: Vec<FeatureRef>,
    /// Columns that never enter, by name or index; the others of their blocks do not either.
    pub excluded: Vec<FeatureRef>,
    /// Which size is the result.
    pub choose: Choose,
    /// Columns that enter and leave together: `one_hot`, or a map from names to lists of columns.
    pub blocks: Option<Blocks>,
    /// Changes nothing: no exchange improves the best subset.
    pub polish: Polish,
}

vaglio_core::describe!(
    Search,
    Exhaustive,
    "exhaustive",
    "the best subset of every size, proven by visiting or excluding all of them",
    "search: {kind: exhaustive, max_features: 5}"
);

/// The most subsets that are searched.
const MOST_SUBSETS: f64 = (1u64 << 30) as f64;

impl Exhaustive {
    /// Up to `max_features` columns, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Exhaustive { max_features: Some(max_features), ..Exhaustive::default() }
    }

    fn frame(&self, design: &Design) -> Result<Frame> {
        let frame = settings!(self).frame(design)?;
        for (field, is_set) in [("tolerance", self.tolerance.is_some()), ("patience", self.patience.is_some())] {
            if is_set {
                return Err(Error::setting(field, "a search of all subsets has no steps to stop after; leave it out"));
            }
        }
        let count = subsets(&frame);
        if count > MOST_SUBSETS {
            let (count, largest) = (in_words(count), frame.largest());
            let message = format!(
                "there are {count} subsets of up to {largest} columns and at most 2^30 are searched; take a smaller \
                 max_features, or the search `floating` with `polish: swaps`"
            );
            return Err(Error::setting("max_features", message));
        }
        Ok(frame)
    }
}

/// How many subsets there are of up to `max_features` columns with the forced ones among them, the empty set left out.
fn subsets(frame: &Frame) -> f64 {
    let base = frame.forced_columns();
    let mut ways = vec![0.0_f64; frame.largest().saturating_sub(base) + 1];
    ways[0] = if base == 0 { 0.0 } else { 1.0 };
    for unit in frame.free() {
        let size = frame.units[unit].len();
        for total in (size..ways.len()).rev() {
            // The empty set is counted where something is added to it, though it is no result.
            ways[total] += if total == size { 1.0 } else { ways[total - size] };
        }
        if ways.iter().any(|count| count.is_infinite()) {
            return f64::MAX;
        }
    }
    ways.iter().sum::<f64>().min(f64::MAX)
}

fn in_words(count: f64) -> String {
    if count < 1e15 { format!("{count}") } else { format!("{count:.1e}") }
}

#[typetag::serde(name = "exhaustive")]
impl SearchStrategy for Exhaustive {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let frame = self.frame(context.design())?;
        context.begin(0);
        let (evaluator, observer) = context.parts();
        let empty = evaluator.score()?;
        let order = Order::new(&frame, evaluator)?;
        let mut tree = Tree::new(&frame, &order, observer);
        tree.search(&frame, evaluator)?;
        let (best, certificate, stop_reason) = tree.finish();
        let entries = best.entries(evaluator)?;
        let chosen = self.choose.pick(&entries, entries.len().saturating_sub(1), 0);
        Ok(Path { empty, steps: Vec::new(), entries, chosen, stop_reason, certificate: Some(certificate) })
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.frame(design).map(drop)
    }

    fn outline(&self, design: &Design) -> Outline {
        let Ok(frame) = settings!(self).frame(design) else { return Outline::forward(0, 0) };
        let forward = Outline::forward(frame.columns, frame.most);
        Outline { trials: (subsets(&frame) + forward.trials).min(f64::MAX), steps: 0, ..forward }
    }
}
