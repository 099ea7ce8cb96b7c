//! Every feature, without a selection.

use crate::{Answer, Event, Moves, Path, SearchContext, SearchStrategy, Space, StrategyTraits, UnusedSettings};
use vaglio_core::{Feature, Result, SearchExtent, StopReason, part};

/// Keeps every feature, so that λ alone is chosen: by cross-validation, or by the criterion with `choose: best`.
///
/// The path has one entry and no step. `excluded` features stay out; the settings of a selection are refused.
#[part(
    SearchStrategy,
    "all",
    summary = "every column, without a selection; lambda alone is chosen",
    title = "all columns"
)]
pub struct All {}

/// The settings of a selection.
const OF_SELECTION: UnusedSettings = UnusedSettings {
    names: &["max_features", "min_features", "tolerance", "patience", "forced", "blocks", "polish", "constraints"],
    why: "every column is kept; leave it out, or take another search",
};

impl SearchStrategy for All {
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Ok(SearchExtent::fixed(space.features()))
    }

    fn traits(&self) -> StrategyTraits<'_> {
        StrategyTraits { moves: Moves::All, unused: &[OF_SELECTION], ..StrategyTraits::default() }
    }

    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let (subset, monitor) = (&mut context.subset, &mut context.monitor);
        space.has_what_it_chooses_by(subset)?;
        let mut path = Path::stopped(subset.score()?, StopReason::NoCandidates);
        path.allowed = space.allowed();
        if let Answer::Stop(reason) = monitor.show(&Event::Visited { done: 0.0, of: 1.0 }) {
            path.stop_reason = reason;
            return Ok(path);
        }
        if space.groups.is_empty() {
            return Ok(path);
        }
        let mut all: Vec<Feature> = space.groups.concat();
        all.sort_unstable();
        subset.reset(&all)?;
        let score = subset.score()?;
        path.entries.push(subset.entry(score)?);
        path.chosen = (score.loss < f64::INFINITY).then_some(0);
        if let Answer::Stop(reason) = monitor.show(&Event::Visited { done: 1.0, of: 1.0 }) {
            path.stop_reason = reason;
        }
        Ok(path)
    }
}
