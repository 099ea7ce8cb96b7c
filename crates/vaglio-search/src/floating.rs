//! Floating selection: additions, with removals between them.

use crate::{Flow, Patience, Space, Walk, if_any, run};
use std::collections::BTreeSet;
use vaglio_core::{Design, Feature, Outline, Path, Result, SearchContext, SearchStrategy, StopReason, part};

crate::settings! {
    /// Adds the best feature, and takes back what has become superfluous before it adds the next.
    ///
    /// An addition must lower the score by ε, the `tolerance`, by default 1e-6. After it the feature that is missed least
    /// is removed as long as that raises the score by at most half of the gain that last brought the present size by an
    /// addition, and leads to a subset that the walk has not seen; at least one feature stays, so the first addition is
    /// made whatever it gains. Where nothing on the path is ε below the empty subset, nothing is selected. The search ends when no addition gains ε, or at `max_features` when nothing is to be
    /// removed there. After ten times as many removals as the largest subset has features it only adds.
    ///
    /// # Reference
    /// T. Zhang, *Adaptive forward-backward greedy algorithm for learning sparse representations*, IEEE Transactions on
    /// Information Theory 57 (2011); for regularized least squares T. Pahikkala, A. Airola, T. Salakoski, *Feature
    /// selection for regularized least-squares: new computational short-cuts and fast algorithmic implementations*, MLSP
    /// 2010.
    #[part(
        SearchStrategy,
        "floating",
        summary = "forward selection that removes what has become superfluous after every addition",
        example = "search: {kind: floating, max_features: 10, tolerance: 0.000001}"
    )]
    pub struct Floating {}
    default { tolerance: Some(1e-6) }
}

impl Floating {
    /// Up to `max_features` features, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Floating { max_features: Some(max_features), ..Floating::default() }
    }
}

impl SearchStrategy for Floating {
    crate::by_settings!();

    /// The steps are what the number of removals allows; the trials are an estimate, three times those of additions
    /// alone.
    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = Space::new(self.settings(), design)?;
        let forward = Outline::forward(space.features(), space.most);
        let steps = forward.largest + 2 * most_removals(&space);
        Ok(space.outline(Outline { steps, trials: 3.0 * forward.trials, ..forward }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = Space::new(self.settings(), context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            walk.enter_forced()?;
            Float::new(walk).run(walk)
        })
    }
}

fn most_removals(space: &Space<'_>) -> usize {
    10 * space.largest()
}

/// What decides the next step.
struct Float {
    /// By size, what the addition that last reached it gained.
    gains: Vec<f64>,
    /// Every subset of the walk, sorted.
    seen: BTreeSet<Vec<Feature>>,
    removals: usize,
}

impl Float {
    fn new(walk: &Walk<'_, '_>) -> Self {
        let gains = vec![f64::NEG_INFINITY; walk.space.features() + 1];
        Float { gains, seen: BTreeSet::from([sorted(walk.context.subset.selected())]), removals: 0 }
    }

    fn run(&mut self, walk: &mut Walk<'_, '_>) -> Flow<StopReason> {
        let mut patience = Patience::new(&walk.space.settings);
        loop {
            let best = walk.best_addition()?;
            let gain = walk.score.loss - best.score.loss;
            patience.allow(gain, walk.has_least() && walk.size() > 0)?;
            walk.add(best)?;
            self.gains[walk.size()] = gain;
            self.seen.insert(sorted(walk.context.subset.selected()));
            self.take_back(walk)?;
        }
    }

    /// Removals while they are cheap.
    fn take_back(&mut self, walk: &mut Walk<'_, '_>) -> Flow {
        while self.removals < most_removals(walk.space) {
            let Some(best) = if_any(walk.best_removal(1))? else { return Ok(()) };
            let leaving = &walk.space.groups[best.group];
            let selected = walk.context.subset.selected().iter();
            let rest: Vec<Feature> = selected.copied().filter(|f| !leaving.contains(f)).collect();
            let is_cheap = best.score.loss - walk.score.loss <= 0.5 * self.gains[walk.size()];
            if !is_cheap || !self.seen.insert(sorted(&rest)) {
                return Ok(());
            }
            self.removals += 1;
            walk.remove(best)?;
        }
        Ok(())
    }
}

fn sorted(subset: &[Feature]) -> Vec<Feature> {
    let mut sorted = subset.to_vec();
    sorted.sort_unstable();
    sorted
}
