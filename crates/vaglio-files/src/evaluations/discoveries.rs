//! False-discovery control of columns, for `evaluate` and for sizes that it chose.

use super::{Evaluation, RunPlan};
use vaglio_core::Result;
use vaglio_pipeline::resampling::fdr::{DUMMIES, EXPERIMENTS, check_design, discoveries};
use vaglio_search::Choose;

/// Verdicts on the columns of a selection, at the rate that `evaluate` asks for, else at the rate that chose.
pub const EVALUATION: Evaluation = Evaluation {
    plan: describe_experiments,
    ..Evaluation::new("fdr", |run, found, watcher| {
        let selector = run.selector;
        let design = run.design;
        let selection = run.selection;
        let chosen = selection.chosen.confirmed.as_ref();
        let discoveries = match (run.input.evaluate.fdr, chosen) {
            (Some(rate), chosen) if chosen.is_none_or(|chosen| chosen.rate != rate) => {
                let _entered = tracing::debug_span!("fdr").entered();
                let found = watcher.journal.once("evaluate/fdr", || discoveries(selector, design, rate, watcher));
                found.map_err(|error| error.under("evaluate"))?
            }
            _ => chosen.cloned(),
        };
        found.record.fdr = discoveries;
        Ok(())
    })
};

/// Describes the planned experiments for people; `None` if nothing asks for them.
fn describe_experiments(plan: &RunPlan<'_>) -> Result<Option<String>> {
    let RunPlan { selector, prepared, design, .. } = *plan;
    let chooses = matches!(selector.search.size_choice(), Choose::FalseDiscoveries(_));
    if !chooses && plan.evaluate.fdr.is_none() {
        return Ok(None);
    }
    check_design(design, prepared.sample.ordered)
        .map_err(|error| error.under(if chooses { "search.choose" } else { "evaluate" }))?;
    let columns = design.candidates().len();
    Ok(Some(format!("{EXPERIMENTS} experiments of {columns} columns with at most {} dummies", DUMMIES * columns)))
}
