//! An evaluation, and the results of all.

use super::repetitions::Repetitions;
use super::run_context::{Run, RunPlan};
use vaglio_core::{Result, StopReason};
use vaglio_pipeline::pipeline::{Calibration, SavedIntervals};
use vaglio_pipeline::resampling::{OuterFoldFit, Pooled, StageMonitor};
use vaglio_report::record::{PredictionRows, Record, Status, Warning, WarningKind};

/// A result that a run computes besides its selection.
pub(super) struct Evaluation {
    pub name: &'static str,
    /// Computes what the settings ask for, and writes it to the record. A stop leaves it out.
    pub run: fn(Run<'_>, &mut Evaluations, &StageMonitor<'_>) -> Result<()>,
    /// Describes it for a plan, if the settings ask for it.
    pub plan: fn(&RunPlan<'_>) -> Result<Option<String>>,
    /// Repetitions of the search, if it has any.
    pub repetitions: Option<Repetitions>,
}

impl Evaluation {
    /// An evaluation without a line in plans and without repetitions.
    pub const fn new(name: &'static str, run: fn(Run<'_>, &mut Evaluations, &StageMonitor<'_>) -> Result<()>) -> Self {
        Evaluation { name, run, plan: |_| Ok(None), repetitions: None }
    }
}

/// Results of evaluations: the record, and what later ones or the model file need.
pub(super) struct Evaluations {
    pub record: Record,
    /// Outer folds, until prediction intervals take them.
    pub outer: Vec<OuterFoldFit>,
    /// Held-out predictions that the page shows: of the outer folds, else of test rows, else of the folds of the
    /// cross-validated search.
    pub held_out: Option<(PredictionRows, Pooled)>,
    pub calibration: Option<Calibration>,
    pub intervals: Option<SavedIntervals>,
}

impl Evaluations {
    /// Starts with the record of a selection.
    pub fn new(record: Record) -> Self {
        Evaluations { record, outer: Vec::new(), held_out: None, calibration: None, intervals: None }
    }

    /// Records that the run was stopped, unless that is known.
    pub fn stop(&mut self, reason: Option<StopReason>) {
        let record = &mut self.record;
        let Some(reason) = reason.filter(|_| !record.stop_reason.is_partial()) else { return };
        (record.stop_reason, record.status) = (reason, Status::Partial);
        let message = "the run was stopped before all figures were computed; those that are null are missing";
        record.warnings.push(Warning::new(WarningKind::Interrupted, message));
    }
}
