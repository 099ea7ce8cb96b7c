//! False-discovery control of columns, for `evaluate` and for sizes that it chose.

use super::evaluation::Evaluation;
use super::run_context::RunPlan;
use std::collections::HashMap;
use vaglio_core::{Feature, Result};
use vaglio_pipeline::resampling::fdr::{DUMMIES, Discoveries, EXPERIMENTS, among, check_design, discoveries};
use vaglio_report::record::{ColumnVerdict, FalseDiscoveries, Verdict};
use vaglio_search::Choose;

/// Verdicts on the columns of a selection, at the rate that `evaluate` asks for, else at the rate that chose.
pub(super) const EVALUATION: Evaluation = Evaluation {
    plan: planned,
    ..Evaluation::new("fdr", |run, found, watcher| {
        let (selector, design, selection) = (run.selector, run.design, run.selection);
        let chosen = selection.chosen.confirmed.as_ref();
        let discoveries = match (run.evaluate().fdr, chosen) {
            (Some(rate), chosen) if chosen.is_none_or(|chosen| chosen.rate != rate) => {
                let _entered = tracing::debug_span!("fdr").entered();
                let found = watcher.journal.once("evaluate/fdr", || discoveries(selector, design, rate, watcher));
                found.map_err(|error| error.under("evaluate"))?
            }
            _ => chosen.cloned(),
        };
        found.record.fdr = discoveries.map(|found| written(&found, &selection.names));
        Ok(())
    })
};

/// Describes the planned experiments for people; `None` if nothing asks for them.
///
/// # Errors
/// Returns the errors of [`check_design`], with the field that asks.
pub(super) fn planned(plan: &RunPlan<'_>) -> Result<Option<String>> {
    let RunPlan { selector, prepared, design, .. } = *plan;
    let chooses = matches!(selector.search.size_choice(), Choose::FalseDiscoveries(_));
    if !chooses && plan.evaluate().fdr.is_none() {
        return Ok(None);
    }
    check_design(design, prepared.sample.ordered)
        .map_err(|error| error.under(if chooses { "search.choose" } else { "evaluate" }))?;
    let columns = among(selector, design).len();
    Ok(Some(format!("{EXPERIMENTS} experiments of {columns} columns beside at most {} dummies", DUMMIES * columns)))
}

fn written(found: &Discoveries, names: &[String]) -> FalseDiscoveries {
    let known: HashMap<Feature, _> = found.columns.iter().map(|of| (of.feature, of)).collect();
    let same: HashMap<Feature, Feature> = found.equal.iter().copied().collect();
    let name = |feature: Feature| names.get(feature).cloned().unwrap_or_default();
    let verdict = |feature: Feature| match known.get(&feature) {
        Some(of) if of.q.is_some_and(|q| q <= found.rate) => Verdict::Confirmed,
        Some(of) if of.q.is_some() || of.rival.is_some() => Verdict::Tentative,
        _ => Verdict::Rejected,
    };
    let column = |index: Feature| {
        let (of, first) = (known.get(&index), same.get(&index).copied());
        // The verdict on the first of equal columns limits that on the others.
        let verdict = match first.map(verdict) {
            None => verdict(index),
            Some(Verdict::Rejected) => Verdict::Rejected,
            Some(_) => Verdict::Tentative,
        };
        ColumnVerdict {
            index,
            name: name(index),
            verdict,
            q: of.and_then(|of| of.q),
            votes: of.map_or(0.0, |of| of.votes),
            rival: of.and_then(|of| of.rival).map(name),
            same_as: first.map(name),
        }
    };
    let columns: Vec<ColumnVerdict> = (0..names.len()).map(column).collect();
    let count = |verdict: Verdict| columns.iter().filter(|column| column.verdict == verdict).count();
    FalseDiscoveries {
        rate: found.rate,
        experiments: EXPERIMENTS,
        dummies: found.dummies,
        are_virtual: !found.stored,
        confirmed: count(Verdict::Confirmed),
        tentative: count(Verdict::Tentative),
        columns,
    }
}
