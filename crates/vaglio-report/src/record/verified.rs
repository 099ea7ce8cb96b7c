//! Scores recomputed by plain retraining, and trials that were refitted.

use super::Record;
use vaglio_core::{Diagnostics, join, pluralize, record, significant};

/// Scores recomputed by plain retraining, the criterion's definition.
#[record]
#[derive(Copy)]
pub struct Verified {
    /// Number of random steps that were recomputed; entries of the path for a search without steps.
    pub steps: usize,
    /// Largest difference, relative to the score or to 1e-10 of the empty subset's score, whichever is larger.
    pub max_relative_error: f64,
}

/// Lines on refitted trials and recomputed scores.
pub(super) fn line(record: &Record) -> Option<String> {
    let numerics = record.numerics.filter(|diagnostics| diagnostics.remade > 0).map(|diagnostics| {
        let Diagnostics { conditioning, remade, rows_kept_out, .. } = diagnostics;
        format!(
            "trials refitted from the rows: {remade} (conditioning {conditioning:.1e} at worst; rows of leverage near 1 left out: \
             {rows_kept_out})"
        )
    });
    let verified = record.verify.as_ref().map(|Verified { steps, max_relative_error }| {
        let (scores, most) = (pluralize(*steps, "score"), significant(*max_relative_error, 2));
        format!("{scores} recomputed by plain retraining: relative differences of at most {most}")
    });
    Some(join(numerics.into_iter().chain(verified), "\n")).filter(|lines| !lines.is_empty())
}
