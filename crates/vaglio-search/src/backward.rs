//! Backward elimination.

use crate::{Patience, Space, run};
use vaglio_core::{Choose, Design, Outline, Path, Result, SearchContext, SearchStrategy, StopReason, part};

crate::settings! {
    /// Starts from all features and removes the one that the score misses least, again and again.
    ///
    /// It stops at `min_features`, by default 1. Removals go on until `max_features` is reached, and `tolerance` and
    /// `patience` count from there; below 0, the tolerance is a rise of the score that a removal may bring.
    ///
    /// The path opens with the full set, to which no step leads. With `min_features` the number of features nothing is
    /// removed: the full set is scored alone, which chooses λ without a selection.
    ///
    /// # Reference
    /// T. Marill, D. Green, *On the effectiveness of receptors in recognition systems*, IEEE Transactions on Information
    /// Theory 9 (1963).
    #[part(
        SearchStrategy,
        "backward",
        summary = "backward elimination: from all columns, remove the one that is missed least, again and again",
        example = "search: {kind: backward, min_features: 5}",
        title = "backward elimination"
    )]
    pub struct Backward {}
}

impl Backward {
    /// Down to `min_features` features, otherwise as by default.
    pub fn new(min_features: usize) -> Self {
        Backward { min_features: Some(min_features), ..Backward::default() }
    }
}

impl SearchStrategy for Backward {
    fn choose(&self) -> Choose {
        self.choose.clone()
    }

    fn check_settings(&self) -> Result<()> {
        self.settings().check()
    }

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = Space::new(self.settings(), design)?;
        let least = space.least.unwrap_or(1).max(space.forced_features().len()).min(space.features());
        Ok(space.outline(Outline::backward(space.features(), least)))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = Space::new(self.settings(), context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            if space.groups.is_empty() {
                return Ok(StopReason::NoCandidates);
            }
            walk.fill()?;
            let mut patience = Patience::new(&space.settings);
            loop {
                let best = walk.best_removal(space.least.unwrap_or(1).max(1))?;
                patience.allow(walk.score.loss - best.score.loss, walk.size() <= space.most)?;
                walk.remove(best)?;
            }
        })
    }
}
