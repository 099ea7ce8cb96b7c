//! Prediction intervals from outer folds.

use super::Evaluation;
use vaglio_pipeline::pipeline::SavedIntervals;
use vaglio_report::record::Intervals;

/// Prediction intervals from the outer folds.
pub const EVALUATION: Evaluation = Evaluation::new("intervals", |run, found, _| {
    let (Some(level), Some(nested)) = (run.input.evaluate.intervals, &mut found.record.nested) else { return Ok(()) };
    found.intervals = Some(SavedIntervals::new(level, std::mem::take(&mut found.outer))?);
    nested.intervals = Some(Intervals { level });
    Ok(())
});
