//! Scores of +∞, which reject a subset.

use crate::common::{TOLERANCE, broken_law, design, holds};
use vaglio_core::{
    Criterion, Design, Evaluator, Feature, Outline, Result, Score, Shortcut, Squared, SubsetScorer, Winner, saved,
};
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

        fn accelerate<'d>(&'d self, design: &'d Design, _: &Outline) -> Result<Option<Shortcut<'d>>> {
            let evaluator = Insisting(SubsetScorer::by_definition(self, design));
            Ok(self.insists.then(|| Shortcut::new("refit", evaluator)))
        }
    }

    struct Insisting<'d>(SubsetScorer<'d>);

    impl Evaluator for Insisting<'_> {
        fn score(&mut self, subset: &[Feature]) -> Result<Score> {
            self.0.reset(subset)?;
            self.0.score()
        }

        fn best_removal(&mut self, _: &[Feature], candidates: &[Feature]) -> Result<Option<Winner>> {
            Ok(Some(Winner { feature: candidates[0], score: Score::WORST, tied: candidates[1..].to_vec() }))
        }
    }
    holds(check_criterion(&OneAtMost { insists: false }, &design(), TOLERANCE));
    let insists = criterion::best_removal(&OneAtMost { insists: true }, &design(), TOLERANCE);
    assert_eq!(broken_law(insists), "best_removal");
}
