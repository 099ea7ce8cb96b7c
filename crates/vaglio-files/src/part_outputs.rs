//! Outputs that parts of a run report besides scores and models.

use super::run_context::Run;
use vaglio_core::{Error, MapFit, Result, Role};
use vaglio_pipeline::resampling::Selection;
use vaglio_report::record::{FoundByMap, FoundRecord};
use vaglio_search::Journal;

/// Collects the outputs of every part.
///
/// # Errors
/// Returns the errors of the criterion; [`vaglio_core::Error::Setting`] for a value that cannot be written.
pub(super) fn found(run: Run<'_>, journal: &Journal) -> Result<FoundRecord> {
    let Run { prepared, selector, design, .. } = run;
    let Selection { path, final_model, .. } = run.selection;
    let criterion = journal.once("found", || match path.result() {
        Some(entry) => selector.criterion.found(design, &entry.subset)?.written().map(Some),
        None => Ok(None),
    });
    let of_criterion = |error: Error| error.from_part(Role::Criterion, selector.criterion.kind());
    let of_map = |(place, map): (usize, &MapFit)| -> Result<FoundByMap> {
        Ok(FoundByMap { place, kind: map.kind().into(), found: map.formulas().found.written()? })
    };
    let maps: Vec<FoundByMap> = prepared.maps.iter().enumerate().map(of_map).collect::<Result<_>>()?;
    Ok(FoundRecord {
        criterion: criterion.map_err(of_criterion)?.unwrap_or_default(),
        search: path.found.clone(),
        learner: design.map().map(|map| map.found().written()).transpose()?.unwrap_or_default(),
        model: final_model.as_ref().map(|fitted| fitted.found.clone()).unwrap_or_default(),
        preprocess: maps.into_iter().filter(|map| !map.found.is_empty()).collect(),
    })
}
