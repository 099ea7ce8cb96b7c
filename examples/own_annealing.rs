//! A search of your own with random moves, under leave-one-out.
//!
//! `cargo run -p vaglio-examples own_annealing`

use linfa::traits::Fit;
use vaglio::{Selector, criteria::Loo, learners::Rls};

// ANCHOR: search
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use vaglio_core::{Error, Result, prelude::*};
use vaglio_search::{Choose, PathEntry, Search, SearchSettings, SearchStrategy, Space, Walk, if_any};

/// Simulated annealing: adds or removes a random column, even if that raises the score while it is hot, and finally
/// adds columns that lower the score (S. Kirkpatrick et al., *Optimization by simulated annealing*, 1983).
#[part(SearchStrategy, "annealing")]
pub struct Annealing {
    /// Moves tried per column.
    #[default(20)]
    pub moves: usize,
    /// Initial temperature, relative to the score of the first column.
    #[default(0.1)]
    pub temperature: f64,
}

impl SearchStrategy for Annealing {
    fn walk(&self, walk: &mut Walk<'_, '_>) -> Result<StopReason> {
        let space = walk.space;
        let mut random = ChaCha8Rng::seed_from_u64(walk.context.seed);
        let mut uniform = move || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (free, least) = (space.free(), space.smallest());
        walk.enter_forced()?;
        // The empty subset may score below all others if scores do not compare with it, so it is no start.
        while walk.size() < least {
            let best = walk.best_addition()?;
            walk.add(best)?;
        }
        let (moves, hot) = (self.moves * free.len(), self.temperature * walk.score.loss.abs());
        for at in 0..moves {
            let temperature = hot * (1.0 - at as f64 / moves as f64);
            let drawn = free[(uniform() * free.len() as f64) as usize];
            let is_inside = walk.has(drawn);
            let tried = if is_inside {
                let leaves = walk.size() - space.group(drawn).len() >= least;
                if leaves { walk.best_change(Action::Remove, &[drawn])? } else { None }
            } else {
                let is_copy = |group: &Feature| space.originals()[*group] == space.originals()[drawn];
                let copies: Vec<Feature> = walk.outside().into_iter().filter(is_copy).collect();
                if walk.has_room(drawn) { walk.best_change(Action::Add, &copies)? } else { None }
            };
            // A rejected move needs no undo: trials change nothing.
            let rise = tried.as_ref().map_or(f64::INFINITY, |tried| tried.score.loss - walk.score.loss);
            match tried {
                Some(tried) if rise <= 0.0 || uniform() < (-rise / temperature).exp() => match is_inside {
                    true => walk.remove(tried)?,
                    false => walk.add(tried)?,
                },
                _ => {}
            }
        }
        while let Some(best) = if_any(walk.best_addition())?.filter(|best| best.score.loss < walk.score.loss) {
            walk.add(best)?;
        }
        Ok(StopReason::NoImprovement)
    }

    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        let (forward, drawn) = (space.forward(), self.moves * space.groups().len());
        let (steps, trials) = (forward.steps + drawn, forward.trials + drawn as f64);
        Ok(SearchExtent { steps, trials, ..forward })
    }

    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        shared.refuse(&["tolerance", "patience"], "how long it walks is said by `moves`; leave it out")?;
        Error::unless_between("moves", self.moves, 1..=1_000_000)?;
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            return Err(Error::setting(
                "temperature",
                format!("{} is no temperature; 0 is the least", self.temperature),
            ));
        }
        Ok(())
    }
}
// ANCHOR_END: search

/// Selects columns by the search above and trains ridge regression on them.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    let search = Search::new(Annealing::default()).choose(Choose::Best);
    let fitted = Selector::params(Loo::default(), search, Rls::default()).fit(&dataset)?;
    println!("{}", fitted.selected().join(", "));
    // As good as the best subset, which exhaustive search finds.
    let best = Selector::params(Loo::default(), vaglio::search::Exhaustive::new(10), Rls::default()).fit(&dataset)?;
    let lowest = |fitted: &[PathEntry]| fitted.iter().map(|entry| entry.score.loss).fold(f64::INFINITY, f64::min);
    assert!(lowest(fitted.entries()) <= 1.001 * lowest(best.entries()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Annealing;

    // ANCHOR: laws
    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
        for kind in ["loo", "mrmr"] {
            let criterion: Box<dyn vaglio_core::Criterion> =
                serde_json::from_value(serde_json::json!({ "kind": kind })).expect("a criterion");
            vaglio_testkit::check_search_on_standard_data(
                &Annealing { moves: 3, ..Annealing::default() }.into(),
                &*criterion,
                1e-9,
            )?;
        }
        Ok(())
    }
    // ANCHOR_END: laws
}
