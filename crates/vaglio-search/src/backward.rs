//! Backward elimination.

use crate::rounds::{RemovalStep, sizes};
use crate::{Patience, Space, run};
use vaglio_core::{Design, Outline, Path, Result, SearchContext, SearchStrategy, StopReason, part};

crate::settings! {
    /// Starts from all features and removes the one that the score misses least, again and again.
    ///
    /// It stops at `min_features`, or at one feature where none are asked for; the cross-validated choice judges the empty
    /// subset then as well. Removals go on until `max_features` is reached, and `tolerance` and
    /// `patience` count from there; below 0, the tolerance is a rise of the score that a removal may bring.
    ///
    /// With `step` several leave at a time, by one round of trials: those whose removal alone costs least, of equal columns all but
    /// one. The path holds the sizes that are visited, `max_features` and `min_features` among them, and the step of a
    /// round names all that left. A tenth at a time takes n/0.1 trials where one at a time takes n²/2. Under constraints those
    /// stay in a round without which what is left would break one, and a round that would turn a sign removes one column.
    ///
    /// The path opens with the full set, to which no step leads. With `min_features` the number of features nothing is
    /// removed: the full set is scored alone, which chooses λ without a selection.
    ///
    /// # Reference
    /// T. Marill, D. Green, *On the effectiveness of receptors in recognition systems*, IEEE Transactions on Information
    /// Theory 9 (1963). Several at a time: L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt, *Feature selection via
    /// dependence maximization*, Journal of Machine Learning Research 13 (2012).
    #[part(
        SearchStrategy,
        "backward",
        summary = "backward elimination: from all columns, remove the one that is missed least, again and again",
        example = "search: {kind: backward, min_features: 5}",
        title = "backward elimination"
    )]
    pub struct Backward {
        /// How many leave at a time: a number of columns, or a share of those that are left.
        step: RemovalStep = RemovalStep::ONE,
    }
}

impl Backward {
    /// Down to `min_features` features, otherwise as by default.
    pub fn new(min_features: usize) -> Self {
        Backward { min_features: Some(min_features), ..Backward::default() }
    }
}

/// The size at which a walk ends.
fn least(space: &Space<'_>) -> usize {
    space.least.unwrap_or(1).max(1)
}

impl SearchStrategy for Backward {
    crate::by_settings!(choose rules);

    fn check_settings(&self) -> Result<()> {
        self.step.check()?;
        self.settings().check()
    }

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = Space::new(self.settings(), design)?;
        let least = least(&space).max(space.forced_features().len()).min(space.features());
        let one_by_one = Outline::backward(space.features(), least);
        // Blocks may leave one at a time, where they are larger than a step.
        if self.step == RemovalStep::ONE || space.groups.iter().any(|group| group.len() > 1) {
            return Ok(space.outline(one_by_one));
        }
        let sizes = sizes(self.step, &space, least);
        let tried = |sizes: &[usize]| sizes.iter().map(|&size| size as f64).sum::<f64>();
        let trials = space.features() as f64 + tried(&sizes[..sizes.len().saturating_sub(1)]);
        Ok(space.outline(Outline { trials: trials.max(1.0), steps: sizes.len(), ..one_by_one }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = Space::new(self.settings(), context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            if space.groups.is_empty() {
                return Ok(StopReason::NoCandidates);
            }
            walk.fill()?;
            let mut patience = Patience::new(&space.settings);
            let least = least(&space);
            let sizes = match self.step {
                RemovalStep::ONE => Vec::new(),
                step => sizes(step, &space, least),
            };
            loop {
                let counts = walk.size() <= space.most;
                let next = sizes.iter().copied().find(|&size| size < walk.size());
                let leaving = match next.filter(|next| next + 1 < walk.size()) {
                    Some(next) => walk.cheapest_removals(next)?,
                    None => Vec::new(),
                };
                // What breaks signs together leaves one by one.
                if !leaving.is_empty() && walk.remove_together(&leaving, |drop| patience.allow(drop, counts))? {
                    continue;
                }
                let best = walk.best_removal(least)?;
                patience.allow(walk.score.loss - best.score.loss, counts)?;
                walk.remove(best)?;
            }
        })
    }
}
