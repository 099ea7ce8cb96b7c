//! The law of designs with very few rows.

use crate::law_violation::Law;
use crate::trial::whole;
use crate::{LawResult, design_copies};
use vaglio_core::{Action, Criterion, Design, Feature};
use vaglio_search::SubsetScorer;

/// On the first and last one to four rows of a design, a criterion scores or fails, but never panics. The design needs
/// a ridge readout.
pub fn few_rows(criterion: &dyn Criterion, design: &Design) -> LawResult {
    let law = Law("few_rows");
    let all: Vec<Feature> = (0..design.features()).collect();
    let last = design.rows();
    for count in 1..=last.min(4) {
        for rows in [0..count, last - count..last] {
            let on = format_args!("rows {} to {}", rows.start + 1, rows.end);
            let few = law.ran(on, || design_copies::with_rows(design, &rows.clone().collect::<Vec<_>>()))?;
            let checked = format_args!("{on}, `check`");
            if law.calm(checked, || criterion.check(&few))?.is_err() {
                continue;
            }
            for subset in [&[][..], &all[..all.len().min(1)], &all[..all.len().min(3)], &all] {
                let what = format_args!("{on}, subset {subset:?}");
                law.calm(what, || criterion.evaluate(&few, subset).map(drop))?.ok();
                law.calm(what, || walked(criterion, &few, subset))?.ok();
            }
            law.calm(on, || criterion.folds(&few).map(drop))?.ok();
            law.calm(on, || Ok(criterion.plan(&few, &whole(&few)).estimate))?.ok();
        }
    }
    Ok(())
}

/// Walks to a subset and calls score, standard error, best addition and best removal.
fn walked(criterion: &dyn Criterion, design: &Design, subset: &[Feature]) -> vaglio_core::Result<()> {
    let mut walked = SubsetScorer::open(criterion, design, &whole(design))?;
    let candidates = design.candidates();
    let inside: Vec<Feature> = subset.iter().copied().filter(|f| candidates.contains(f)).collect();
    walked.reset(&inside)?;
    walked.score()?;
    walked.standard_error()?;
    let outside: Vec<Feature> = candidates.into_iter().filter(|f| !inside.contains(f)).collect();
    walked.best(Action::Add, &outside)?;
    walked.best(Action::Remove, &inside).map(drop)
}
