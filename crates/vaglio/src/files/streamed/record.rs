//! What a record says of a table that was read in batches.

use super::Streamed;
use vaglio_report::record::{Figures, Record};

/// The record of a selection on rows that stand for others, as one of these: numbers of rows are theirs, and what single rows
/// alone tell is absent.
pub(in crate::files) fn of_moments(record: &mut Record, streamed: &Streamed, is_regression: bool) {
    let rows = streamed.train_rows as f64;
    for entry in &mut record.path {
        let free = rows - entry.size as f64 - 1.0;
        let adjusted = entry.r2.map(|r2| 1.0 - (1.0 - r2) * (rows - 1.0) / free);
        entry.adjusted_r2 = adjusted.filter(|value| value.is_finite() && free > 0.0);
    }
    if record.test.is_none() {
        record.report.predictions = None;
    }
    record.report.figures = record.report.figures.take().filter(|_| is_regression);
    record.report.curve.retain(|_| record.test.is_some());
    record.report.curve.iter_mut().for_each(|point| point.train_error = None);
    let Some(nested) = &mut record.nested else { return };
    let repeats = nested.repeats.max(1);
    nested.figures = Figures { rows: streamed.train_rows * repeats, ..nested.figures.clone() };
    if !is_regression {
        let figures = nested.figures.clone();
        let (error_rate, balanced_error_rate, auc, error_rate_error) = (None, None, None, None);
        nested.figures = Figures {
            error_rate,
            balanced_error_rate,
            auc,
            error_rate_error,
            brier: None,
            confusion: None,
            always: None,
            ..figures
        };
    }
    for (fold, held) in nested.per_fold.iter_mut().zip(&streamed.outer_rows) {
        fold.rows = *held;
    }
    nested.splits.clone_from(&streamed.nested);
    (nested.paired, nested.interval, nested.level, nested.difference) = (None, None, None, None);
}
