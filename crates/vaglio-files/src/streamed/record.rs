//! What a record says of a table that was read in batches.

use super::Streamed;
use crate::behind::RowFigures;
use crate::curve::adjusted_r2;
use vaglio_report::record::Record;

/// The record of a selection on rows that stand for others, as one of these: numbers of rows are theirs. What only
/// single rows show is absent where no later pass was made.
pub(crate) fn of_moments(record: &mut Record, streamed: &Streamed, found: Option<&RowFigures>, is_regression: bool) {
    let rows = streamed.train_rows as f64;
    for entry in &mut record.path {
        entry.adjusted_r2 = entry.r2.and_then(|r2| adjusted_r2(1.0 - r2, rows, entry.size));
    }
    if let Some(found) = found {
        for (point, rate) in record.report.curve.iter_mut().zip(&found.error_rates) {
            point.train_error = Some(*rate).filter(|rate| rate.is_finite());
        }
        if let Some(nested) = &mut record.nested {
            nested.splits.clone_from(&streamed.nested);
        }
        return;
    }
    if record.test.is_none() {
        record.report.predictions = None;
    }
    record.report.figures = record.report.figures.take().filter(|_| is_regression);
    record.report.curve.retain(|_| record.test.is_some());
    record.report.curve.iter_mut().for_each(|point| point.train_error = None);
    // Errors between rows that stand for others are none between rows.
    record.path.iter_mut().for_each(|entry| entry.standard_error = None);
    record.nested = None;
}
