//! The law of designs with very few rows.

use super::recorded_run::{FullRun, SEED};
use crate::law_violation::Law;
use crate::{LawResult, design_copies};
use vaglio_search::{SearchContext, Silent, SubsetScorer};

/// On the first one to four rows of a design, a search returns a path or an error, but never panics.
pub fn few_rows(full: &FullRun<'_>) -> LawResult {
    let law = Law("few_rows");
    let &FullRun { search, criterion, design, .. } = full;
    for count in 1..=design.rows().min(4) {
        let on = format_args!("the first {count} rows");
        let few = law.ran(on, || design_copies::with_rows(design, &(0..count).collect::<Vec<_>>()))?;
        let searched = || {
            criterion.check(&few)?;
            search.check(criterion, &few)?;
            let subset = SubsetScorer::open(criterion, &few, &search.extent(&few)?)?;
            search.run(&mut SearchContext::new(subset, &mut Silent, SEED)).map(drop)
        };
        law.calm(on, searched)?.ok();
    }
    Ok(())
}
