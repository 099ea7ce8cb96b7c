//! Scores of +∞, which reject a subset.

use crate::common::{TOLERANCE, broken_law, design, holds};
use vaglio_core::{
    Criterion, Design, EngineEvaluator, Estimate, Evaluator, Feature, Plan, Result, Score, SearchExtent, Squared,
    SubsetChange, Winner, saved,
};
use vaglio_search::SubsetScorer;
use vaglio_testkit::{check_criterion, criterion};

/// Squared error on the training rows.
fn right_on_all_rows(design: &Design, subset: &[Feature]) -> Result<Score> {
    let rows: Vec<usize> = (0..design.rows()).collect();
    design.best_lambda(|l| Ok(design.loss(&Squared, design.retrain(&rows, &rows, subset, l)?.view())))
}

/// All subsets of two or more columns tie at +∞: no winner, neither forward nor backward.
#[test]
fn nobody_wins_among_infinite_scores() {
    #[saved(Criterion, "one_at_most")]
    struct OneAtMost {
        /// Whether the shortcut reports a winner regardless.
        insists: bool,
    }

    impl Criterion for OneAtMost {
        fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
            let score = right_on_all_rows(design, subset)?;
            Ok(if subset.len() > 1 { Score::WORST } else { score })
        }

        fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
            let start = move || Ok(EngineEvaluator::new("refit", Insisting(SubsetScorer::by_definition(self, design))));
            match self.insists {
                true => Plan::by_engine(Estimate::unknown("refit", "a test"), start),
                false => Plan::by_definition(Estimate::unknown("definition", "a test")),
            }
        }
    }

    struct Insisting<'d>(SubsetScorer<'d>);

    impl Evaluator for Insisting<'_> {
        fn score(&mut self, subset: &[Feature]) -> Result<Score> {
            self.0.reset(subset)?;
            self.0.score()
        }

        fn best(&mut self, change: SubsetChange, subset: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
            if change == SubsetChange::Addition {
                self.0.reset(subset)?;
                return self.0.best_addition(candidates);
            }
            Ok(Some(Winner { feature: candidates[0], score: Score::WORST, tied: candidates[1..].to_vec() }))
        }
    }
    holds(check_criterion(&OneAtMost { insists: false }, &design(), TOLERANCE));
    let insists = criterion::best_removal(&OneAtMost { insists: true }, &design(), TOLERANCE);
    assert_eq!(broken_law(insists), "best_removal");
}
