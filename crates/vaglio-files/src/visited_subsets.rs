//! Column names of the subsets that the searches in folds reached.

use vaglio_core::{PathEntry, Result};
use vaglio_pipeline::resampling::held_out_predictions::chosen_parts;
use vaglio_pipeline::resampling::split_rule::TrainTestSplit;
use vaglio_pipeline::resampling::{Choice, Sample};
use vaglio_pipeline::selector::ValidSelector;

/// Columns chosen in each fold of the first repeat at the selected size; empty if the search was not cross-validated.
/// Cost: the maps of each fold.
///
/// # Errors
/// Returns the errors of the maps and of the designs.
pub(super) fn visited_in_folds(selector: &ValidSelector, sample: &Sample, chosen: &Choice) -> Result<Vec<Vec<String>>> {
    let Some(how) = chosen.folds.as_ref().filter(|_| !chosen.fold_entries.is_empty()) else { return Ok(Vec::new()) };
    let parts = chosen_parts(selector, sample, how)?;
    let of_fold = |(part, entry): (&TrainTestSplit, &PathEntry)| {
        // Warnings of maps were already given on all rows.
        tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || {
            let fitted = sample.select(&part.training)?.fitted()?;
            let design = selector.design(&fitted.problem)?;
            Ok(entry.subset.iter().filter_map(|&feature| design.names().get(feature).cloned()).collect())
        })
    };
    parts.iter().zip(&chosen.fold_entries).map(of_fold).collect()
}
