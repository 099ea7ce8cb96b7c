//! The law of designs with very few rows.

use super::CriterionLaws;
use crate::law_violation::{attempt, law, no_panic};
use crate::trial::whole;
use crate::{LawResult, design_copies};
use vaglio_core::{Result as Made, prelude::*};
use vaglio_search::SubsetScorer;

impl CriterionLaws<'_> {
    /// On the first and last one to four rows of a design, a criterion scores or fails, but never panics. The design
    /// needs a ridge readout.
    pub fn few_rows(self) -> LawResult {
        law("few_rows", || {
            let CriterionLaws { criterion, design, .. } = self;
            let last = design.rows();
            for rows in (1..=last.min(4)).flat_map(|count| [0..count, last - count..last]) {
                let on = format_args!("rows {} to {}", rows.start + 1, rows.end);
                let few = attempt(on, || design_copies::with_rows(design, &rows.clone().collect::<Vec<_>>()))?;
                let all: Vec<Feature> = (0..few.features()).collect();
                if no_panic(format_args!("{on}, `check`"), || criterion.check(&few))?.is_err() {
                    continue;
                }
                for count in [0, 1, 3, all.len()] {
                    let subset = &all[..all.len().min(count)];
                    let what = format_args!("{on}, subset {subset:?}");
                    no_panic(what, || criterion.evaluate(&few, subset).map(drop))?.ok();
                    no_panic(what, || walk(criterion, &few, subset))?.ok();
                }
                no_panic(on, || criterion.folds(&few).map(drop))?.ok();
                no_panic(on, || Ok(criterion.plan(&few, &whole(&few)).estimate))?.ok();
            }
            Ok(())
        })
    }
}

/// Walks to a subset and calls score, standard error, best addition and best removal.
fn walk(criterion: &dyn Criterion, design: &Design, subset: &[Feature]) -> Made<()> {
    let mut walked = SubsetScorer::open(criterion, design, &whole(design))?;
    let (inside, outside): (Vec<Feature>, Vec<Feature>) =
        design.candidates().into_iter().partition(|candidate| subset.contains(candidate));
    walked.reset(&inside)?;
    walked.score()?;
    walked.standard_error()?;
    walked.best(Action::Add, &outside)?;
    walked.best(Action::Remove, &inside).map(drop)
}
