//! Searches that rightly stay at the empty subset.

use super::recorded_run::run;
use crate::LawResult;
use crate::law_violation::{attempt, law, no_panic};
use crate::trial::Subject;
use vaglio_core::{Criterion, CriterionTraits, Design, Feature, HeldOut, Result as Made, Score, Squared, saved};
use vaglio_search::{Search, Silent};

/// Tests whether [`RetrainedLeaveOneOut`] should replace the criterion: one that cannot compare the empty subset and
/// scores it below every single column, where the search ends.
pub(super) fn needs_leave_one_out(search: &Search, criterion: &dyn Criterion, design: &Design) -> LawResult<bool> {
    law("check", || {
        let subject = Subject::new(criterion, design);
        let columns = subject.design.candidates();
        if criterion.traits().compares_with_empty || columns.is_empty() {
            return Ok(false);
        }
        // A failure here recurs under the laws, which report it.
        let Ok(path) = run(search, criterion, design, &mut Silent) else { return Ok(false) };
        if !(path.steps.is_empty() && path.entries.is_empty()) {
            return Ok(false);
        }
        let mut evaluator = subject.open()?;
        let empty = attempt("the empty subset", || evaluator.score())?;
        let alone = subject.additions(&mut evaluator, &columns)?;
        let is_below = alone.iter().all(|score| score.loss >= empty.loss);
        Ok(is_below && no_panic("the columns", || search.check(&RetrainedLeaveOneOut {}, design))?.is_ok())
    })
}

/// Leave-one-out mean squared error by plain retraining.
#[saved(Criterion, "vaglio_testkit_left_out")]
pub(super) struct RetrainedLeaveOneOut {}

impl Criterion for RetrainedLeaveOneOut {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Made<Score> {
        design.best_lambda(|lambda| {
            let mut predictions = design.targets().to_owned();
            for row in 0..design.rows() {
                let others: Vec<usize> = (0..design.rows()).filter(|other| *other != row).collect();
                let one = design.retrain(&others, &[row], subset, lambda)?;
                predictions.column_mut(row).assign(&one.column(0));
            }
            Ok(design.loss(&Squared, predictions.view()))
        })
    }

    fn folds(&self, _: &Design) -> Made<HeldOut> {
        Ok(HeldOut::EachRow)
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits::from_loss(Squared.into())
    }
}
