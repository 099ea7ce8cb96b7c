//! A search for vaglio.

use vaglio_core::prelude::*;
use vaglio_search::{Patience, Space, run};

vaglio_search::settings! {
    /// Repeatedly adds the best column, and removes the worst after every few additions.
    #[part(SearchStrategy, "template")]
    pub struct Template {
        /// Number of additions before each removal, from 2 to 1000000.
        after: usize = 3,
    }
}

impl SearchStrategy for Template {
    fn choose(&self) -> Choose {
        self.choose.clone()
    }

    fn rules(&self, design: &Design) -> Result<Option<Rules>> {
        Ok(Space::new(self.settings(), design)?.into_rules())
    }

    fn outline(&self, design: &Design) -> Result<Outline> {
        Error::unless_between("after", self.after, 2..=1_000_000)?;
        let space = Space::new(self.settings(), design)?;
        let forward = Outline::forward(space.features(), space.most);
        Ok(space.outline(Outline { steps: 4 * forward.steps, trials: 4.0 * forward.trials, ..forward }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = Space::new(self.settings(), context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            walk.enter_forced()?;
            let mut patience = Patience::new(&space.settings);
            loop {
                for _ in 0..self.after {
                    let best = walk.best_addition()?;
                    patience.allow(walk.lowest() - best.score.loss, walk.has_least())?;
                    walk.add(best)?;
                }
                let worst = walk.best_removal(1)?;
                walk.remove(worst)?;
            }
        })
    }
}
