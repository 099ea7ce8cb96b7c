//! Every feature, without a selection.

use crate::Space;
use vaglio_core::{
    Answer, Choose, Design, Event, Feature, Outline, Path, Result, SearchContext, SearchStrategy, StopReason, part,
};

crate::settings! {
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
}

/// Why settings are refused that other searches have.
const NO_SELECTION: &str = "every column is kept; leave it out, or take another search";

impl All {
    fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        let settings = self.settings();
        let selecting =
            ["max_features", "min_features", "tolerance", "patience", "forced", "blocks", "polish", "constraints"];
        settings.refuse(&selecting, NO_SELECTION)?;
        let mut space = Space::new(settings, design)?;
        space.least = Some(space.features());
        Ok(space)
    }
}

impl SearchStrategy for All {
    fn choose(&self) -> Choose {
        self.choose.clone()
    }

    fn check_settings(&self) -> Result<()> {
        self.settings().check()
    }

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = self.space(design)?;
        let all = space.features();
        Ok(space.outline(Outline { start: all, largest: all, trials: 1.0, steps: 0 }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.design())?;
        context.begin(0);
        let (subset, monitor) = context.parts();
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
