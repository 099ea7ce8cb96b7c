//! The engine that decomposes each subset by itself.
//!
//! It serves whatever no state serves: a λ that is searched for every subset, columns that are standardized in each fold,
//! readouts whose weights differ from fold to fold. The book, *Cross-validation without refitting*.

use super::rounds::Rounds;
use super::settle::Scored;
use rayon::prelude::*;
use vaglio_core::{Evaluator, Feature, Result, Score, Trials, larger, smaller};

/// Scores by fits: no state is shared between the subsets.
pub(super) struct Decomposed<'d> {
    rounds: Rounds<'d>,
    /// The current subset, once it is scored.
    current: Option<Scored>,
}

impl<'d> Decomposed<'d> {
    pub fn new(rounds: Rounds<'d>) -> Self {
        Decomposed { rounds, current: None }
    }

    fn current(&mut self, subset: &[Feature]) -> Result<&Scored> {
        let current = match self.current.take() {
            Some(current) => current,
            None => self.rounds.scored(subset)?,
        };
        Ok(self.current.insert(current))
    }

    fn all(&self, subsets: Vec<Vec<Feature>>, scores: &mut [Score]) -> Result<()> {
        let score = |subset: &Vec<Feature>| {
            self.rounds.sign().check()?;
            Ok(self.rounds.scored(subset)?.score)
        };
        let found: Vec<Score> = subsets.par_iter().map(score).collect::<Result<_>>()?;
        scores.copy_from_slice(&found);
        Ok(())
    }
}

impl Evaluator for Decomposed<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.current(subset).map(|current| current.score)
    }

    fn score_additions(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.all(candidates.iter().map(|&candidate| larger(subset, candidate)).collect(), scores)
    }

    fn score_removals(&mut self, subset: &[Feature], candidates: &[Feature], scores: &mut [Score]) -> Result<()> {
        self.all(candidates.iter().map(|&candidate| smaller(subset, candidate)).collect(), scores)
    }

    fn score_with(&mut self, subset: &[Feature], more: &[Feature]) -> Result<Option<Score>> {
        let all: Vec<Feature> = subset.iter().chain(more).copied().collect();
        Ok(Some(self.rounds.scored(&all)?.score))
    }

    fn can_skip(&self, _: Trials<'_>) -> bool {
        true
    }

    fn add(&mut self, _: &[Feature], _: Feature) -> Result<()> {
        self.current = None;
        Ok(())
    }

    fn remove(&mut self, _: &[Feature], _: Feature) -> Result<()> {
        self.current = None;
        Ok(())
    }

    fn reset(&mut self, _: &[Feature]) -> Result<()> {
        self.current = None;
        Ok(())
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        self.current(subset)?;
        Ok(self.current.as_ref().and_then(|current| self.rounds.standard_error(&current.residuals)))
    }
}
