//! A search for vaglio.

use vaglio_core::{Error, Result, prelude::*};
use vaglio_search::{SearchSettings, SearchStrategy, Space, Walk};

/// Repeatedly adds the best column, and removes the worst after every few additions.
#[part(SearchStrategy, "template")]
pub struct Template {
    /// Number of additions before each removal, from 2 to 1000000.
    #[default(3)]
    pub after: usize,
}

impl SearchStrategy for Template {
    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        walk.enter_forced()?;
        loop {
            for _ in 0..self.after {
                let best = walk.best_addition()?;
                walk.allow(best.score)?;
                walk.add(best)?;
            }
            let worst = walk.best_removal(1)?;
            walk.remove(worst)?;
        }
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let forward = space.forward();
        Ok(SearchExtent { steps: 4 * forward.steps, trials: 4.0 * forward.trials, ..forward })
    }

    fn check_settings(&self, _: &SearchSettings) -> Result<()> {
        Error::unless_between("after", self.after, 2..=1_000_000)
    }
}
