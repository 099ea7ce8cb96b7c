//! A search of your own, on the public pieces of `vaglio-search`, under leave-one-out.
//!
//! `cargo run -p vaglio-examples --example own_search`

use linfa::prelude::*;
use vaglio::{Selector, criteria::Loo, learners::Rls};

// ANCHOR: search
use vaglio_core::{Design, Error, Outline, Path, Result, SearchContext, SearchStrategy, part};
use vaglio_search::{Space, run};

vaglio_search::settings! {
    /// Adds `plus` features, takes `minus` away, and so on (S. D. Stearns, *On selecting features for pattern
    /// classifiers*, 1976).
    #[part(
        SearchStrategy,
        "plus_minus",
        summary = "add some, take fewer away",
        example = "search: {kind: plus_minus, plus: 2, minus: 1}"
    )]
    pub struct PlusMinus {
        /// Additions in a round.
        plus: usize = 2,
        /// Removals in a round, fewer than additions.
        minus: usize = 1,
    }
}

impl PlusMinus {
    fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        if self.minus >= self.plus {
            return Err(Error::setting("minus", "it must be less than `plus`, or the search never ends"));
        }
        let settings = self.settings();
        settings.refuse(&["blocks"], "a round could take away as much as it adds; leave it out")?;
        Space::new(settings, design)
    }
}

impl SearchStrategy for PlusMinus {
    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = self.space(design)?;
        let forward = Outline::forward(space.features(), space.most);
        let (round, trials) = (self.plus + self.minus, forward.trials);
        Ok(space.outline(Outline { steps: round * forward.steps, trials: round as f64 * trials, ..forward }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            walk.enter_forced()?;
            loop {
                for _ in 0..self.plus {
                    let best = walk.best_addition()?;
                    walk.add(best)?;
                }
                for _ in 0..self.minus {
                    let best = walk.best_removal(1)?;
                    walk.remove(best)?;
                }
            }
        })
    }
}
// ANCHOR_END: search

/// Selects three columns by the search above and trains ridge regression on them.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    // ANCHOR: use
    let search = PlusMinus::default().max_features(3).choose(vaglio_core::Choose::Last);
    let fitted = Selector::params(Loo::default(), search, Rls::default()).fit(&dataset)?;
    // ANCHOR_END: use
    let mut names = fitted.selected();
    names.sort_unstable();
    println!("{}", names.join(", "));
    assert_eq!(names.len(), 3);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::PlusMinus;

    // ANCHOR: laws
    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::Broken> {
        let criterion = vaglio::criteria::Loo::default();
        vaglio_testkit::check_search_on_standard_data(&PlusMinus::default(), &criterion, 1e-9)
    }
    // ANCHOR_END: laws
}
