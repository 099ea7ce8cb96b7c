//! Every feature, without a selection.

use crate::{Space, run};
use vaglio_core::{Choose, Design, Outline, Path, Result, SearchContext, SearchStrategy, StopReason};

crate::settings! {
    /// Keeps every feature, so that λ alone is chosen: by cross-validation, or by the criterion with `choose: best`.
    ///
    /// The path has one entry and no step. `excluded` features stay out; the settings of a selection are refused.
    pub struct All {}
}

vaglio_core::describe!(
    Search,
    All,
    "all",
    "every column, without a selection; lambda alone is chosen",
    "search: all",
    "all columns"
);

/// Why settings are refused that other searches have.
const NO_SELECTION: &str = "every column is kept; leave it out, or take another search";

impl All {
    fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        let settings = self.settings();
        let selecting = ["max_features", "min_features", "tolerance", "patience", "forced", "blocks", "polish"];
        settings.refuse(&selecting, NO_SELECTION)?;
        let mut space = Space::new(settings, design)?;
        space.least = Some(space.features());
        Ok(space)
    }
}

#[typetag::serde(name = "all")]
impl SearchStrategy for All {
    fn choose(&self) -> Choose {
        self.choose
    }

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = self.space(design)?;
        let all = space.features();
        Ok(space.outline(Outline { start: all, largest: all, trials: 1.0, steps: 0 }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            if !space.groups.is_empty() {
                walk.fill()?;
            }
            Ok(StopReason::NoCandidates)
        })
    }
}
