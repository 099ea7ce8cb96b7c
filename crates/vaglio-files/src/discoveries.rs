//! False-discovery control of columns, for `evaluate` and for sizes that it chose.

use super::run::Run;
use std::collections::HashMap;
use vaglio_core::{Design, Feature, Result};
use vaglio_pipeline::fdr::{DUMMIES, Discoveries, EXPERIMENTS, among, check_design, discoveries};
use vaglio_pipeline::pipeline::Evaluate;
use vaglio_pipeline::resample::{Sample, StageMonitor};
use vaglio_pipeline::selector::{Selection, ValidSelector};
use vaglio_report::record::{ColumnVerdict, FalseDiscoveries, Verdict};
use vaglio_search::Choose;

/// Verdicts on the columns of a selection, at the rate that `evaluate` asks for, else at the rate that chose. `None` if
/// neither asks, or if the run was stopped.
///
/// # Errors
/// Returns the errors of [`discoveries`], under `evaluate`.
pub(super) fn false_discoveries(
    run: Run<'_>,
    selection: &Selection,
    watcher: &StageMonitor<'_>,
) -> Result<Option<FalseDiscoveries>> {
    let Run { selector, design, .. } = run;
    let chosen = selection.chosen.confirmed();
    let asked = run.evaluate().and_then(|evaluate| evaluate.fdr);
    let found = match (asked, chosen) {
        (None, None) => return Ok(None),
        (Some(rate), Some(found)) if found.rate == rate => Some(found.clone()),
        (None, Some(found)) => Some(found.clone()),
        (Some(_), _) if watcher.stopped().is_some() => None,
        (Some(rate), _) => {
            let _entered = tracing::debug_span!("fdr").entered();
            let among = among(selector, design);
            let found = watcher.journal().once("evaluate/fdr", || discoveries(selector, design, rate, &among, watcher));
            found.map_err(|error| error.under("evaluate"))?
        }
    };
    Ok(found.map(|found| written(&found, &selection.names)))
}

/// Describes the planned experiments for people; `None` if nothing asks for them.
///
/// # Errors
/// Returns the errors of [`check_design`], with the field that asks.
pub(super) fn planned(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    evaluate: Option<&Evaluate>,
) -> Result<Option<String>> {
    let chooses = matches!(selector.search().size_choice(), Choose::FalseDiscoveries(_));
    let asks = evaluate.is_some_and(|evaluate| evaluate.fdr.is_some());
    if !chooses && !asks {
        return Ok(None);
    }
    check_design(design, sample.is_ordered())
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
        let of = known.get(&index);
        let (q, rival) = (of.and_then(|of| of.q), of.and_then(|of| of.rival));
        let first = same.get(&index).copied();
        // The verdict on the first of equal columns limits that on the others.
        let verdict = match first.map(verdict) {
            None => verdict(index),
            Some(Verdict::Rejected) => Verdict::Rejected,
            Some(_) => Verdict::Tentative,
        };
        let same_as = first.map(name);
        ColumnVerdict {
            index,
            name: name(index),
            verdict,
            q,
            votes: of.map_or(0.0, |of| of.votes),
            rival: rival.map(name),
            same_as,
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
