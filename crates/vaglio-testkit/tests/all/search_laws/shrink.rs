//! A search that removes the least harmful column until one is left.

use vaglio_core::{Action, Result, SearchExtent, StopReason, Winner, saved};
use vaglio_search::{Choose, Path, PathEntry, SearchContext, SearchSettings, SearchStrategy, Space, Step};

#[saved(SearchStrategy, "shrink")]
#[derive(Default)]
pub struct Shrink {}

impl SearchStrategy for Shrink {
    fn run(&self, _: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        let mut path = Path::stopped(context.subset.score()?, StopReason::NoCandidates);
        path.allowed = 0..=usize::MAX;
        let all = context.subset.design.candidates();
        if all.is_empty() {
            return Ok(path);
        }
        context.subset.reset(&all)?;
        path.entries.push(PathEntry::new(all, context.subset.score()?));
        path.stop_reason = loop {
            let inside = context.subset.selected().to_vec();
            if inside.len() == 1 {
                break StopReason::MaxFeatures;
            }
            let scores = context.subset.scores(Action::Remove, &inside)?;
            let Some(winner) = Winner::among(&inside, &scores) else { break StopReason::NoCandidates };
            context.subset.remove(winner.feature)?;
            path.entries.insert(0, PathEntry::new(context.subset.selected().to_vec(), winner.score));
            let mut step = Step::new(Action::Remove, winner.feature, winner.score, inside.len() - 1);
            step.tied = winner.tied;
            let answer = context.observe(&step);
            path.steps.push(step);
            if let Some(reason) = answer {
                break reason;
            }
        };
        path.chosen = Choose::Best.pick(&path.entries, path.entries.len() - 1, &path.allowed);
        Ok(path)
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        Ok(SearchExtent::backward(space.features(), 1))
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        shared.refuse(&SearchSettings::NAMES, "it has none")
    }
}
