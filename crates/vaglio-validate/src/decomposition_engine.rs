//! The decomposition engine, which decomposes each subset by itself.
//!
//! It serves all cases without a state: λ searched for every subset, columns standardized in each fold, weights that
//! differ between folds. See *Cross-validation without refitting* in the book.

use super::refits::SubsetScore;
use super::rounds::Rounds;
use vaglio_core::{Action, CacheEffect, Evaluator, Feature, Result, Score, Trials};
use vaglio_kernels::parallel;

/// Evaluator by fits; subsets share no state.
pub(super) struct DecompositionEvaluator<'d> {
    rounds: Rounds<'d>,
    /// The score of the current subset, once computed.
    current: Option<SubsetScore>,
}

impl<'d> DecompositionEvaluator<'d> {
    pub fn new(rounds: Rounds<'d>) -> Self {
        DecompositionEvaluator { rounds, current: None }
    }

    fn current(&mut self, subset: &[Feature]) -> Result<&SubsetScore> {
        let current = match self.current.take() {
            Some(current) => current,
            None => self.rounds.scored_together(subset)?,
        };
        Ok(self.current.insert(current))
    }
}

impl Evaluator for DecompositionEvaluator<'_> {
    fn score(&mut self, subset: &[Feature]) -> Result<Score> {
        self.current(subset).map(|current| current.score)
    }

    fn scores(&mut self, change: Action, subset: &[Feature], candidates: &[Feature]) -> Result<Vec<Score>> {
        let score = |&candidate: &Feature| {
            self.rounds.sign().check()?;
            Ok(self.rounds.scored(&change.apply_to(subset, candidate))?.score)
        };
        parallel::map_slice(candidates, score).into_iter().collect()
    }

    fn trace(&self, _: Trials<'_>) -> CacheEffect {
        CacheEffect::Nothing
    }

    fn apply(&mut self, _: Action, _: &[Feature], _: Feature) -> Result<()> {
        self.current = None;
        Ok(())
    }

    fn reset(&mut self, _: &[Feature]) -> Result<()> {
        self.current = None;
        Ok(())
    }

    fn standard_error(&mut self, subset: &[Feature]) -> Result<Option<f64>> {
        self.current(subset)?;
        Ok(self.current.as_ref().and_then(|current| self.rounds.error_of(current)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Engine, KFold, Loo};
    use vaglio_core::{AnyLoss, Criterion, PerFoldPreprocessing, SearchExtent, Squared, ZeroOne};
    use vaglio_search::SubsetScorer;
    use vaglio_testkit::data::{binary, multiclass};

    #[test]
    fn several_columns_added_together_score_as_the_definition_says_and_leave_the_subset() {
        let plain = binary(40, 9, 3).weighted().design(&[1e-2, 1.0], true);
        let balanced = multiclass(40, 9, 3, 4).skewed().balanced().design(&[0.1], true);
        let in_folds = plain.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()));
        let folds = |engine: Engine, loss: AnyLoss| KFold::new(4).engine(engine).loss(loss);
        let loo = |loss: AnyLoss| Loo { loss, ..Loo::default() };
        let cases: [(&str, Box<dyn Criterion>); 5] = [
            ("states", Box::new(loo(Squared.into()))),
            ("states", Box::new(loo(ZeroOne.into()))),
            ("moments", Box::new(folds(Engine::Moments, Squared.into()))),
            ("rows_held_out", Box::new(folds(Engine::RowsHeldOut, ZeroOne.into()))),
            ("rows_held_out", Box::new(folds(Engine::RowsHeldOut, Squared.into()))),
        ];
        for (engine, criterion) in &cases {
            for design in [&plain, &balanced, &in_folds] {
                if criterion.check(design).is_err() || (engine == &"states" && std::ptr::eq(design, &in_folds)) {
                    continue;
                }
                let mut subset = SubsetScorer::open(&**criterion, design, &SearchExtent::forward(9, 9)).unwrap();
                for (before, more) in [(None, &[7, 3, 1][..]), (Some(4), &[0, 8]), (Some(5), &[2])] {
                    before.into_iter().for_each(|feature| subset.add(feature).unwrap());
                    let (own, score) = (subset.score().unwrap(), subset.score_with(more).unwrap());
                    let all: Vec<usize> = subset.selected().iter().chain(more).copied().collect();
                    let expected = criterion.evaluate(design, &all).unwrap();
                    assert!((score.loss - expected.loss).abs() < 1e-9, "{engine}: {score:?}, not {expected:?}");
                    assert_eq!((score.lambda, subset.score().unwrap()), (expected.lambda, own));
                }
            }
        }
    }
}
