//! A run before its search and after it, an evaluation, and the results of all.

use super::repetitions::{RepetitionInput, Repetitions, SearchCounts, SearchedRows};
use super::train_test::TrainTest;
use vaglio_core::{AnyLoss, Design, Estimate, Result, SearchExtent, StopReason};
use vaglio_pipeline::pipeline::{Calibration, Evaluate, SavedIntervals, ValidPipeline};
use vaglio_pipeline::resampling::{OuterFoldFit, OuterFolds, Pooled, Procedure, Selection, StageMonitor};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{PredictionRows, Record, Status, Warning, WarningKind};

/// Assumed size of a result.
const RESULT: usize = 10;

/// A run before its search: design, extent and estimated work.
pub(super) struct RunPlan<'p> {
    pub pipeline: &'p ValidPipeline,
    pub selector: &'p ValidSelector,
    pub prepared: &'p TrainTest,
    pub design: &'p Design,
    pub walks: SearchCounts,
    pub extent: SearchExtent,
    pub estimate: Estimate,
}

impl RunPlan<'_> {
    pub fn evaluate(&self) -> &Evaluate {
        self.pipeline.evaluation()
    }

    /// Describes the splits of outer folds.
    ///
    /// # Errors
    /// Returns the errors of the splits.
    pub fn split_sentence(&self, how: Option<OuterFolds>) -> Result<Option<String>> {
        how.map(|how| Ok(how.split_rule(self.selector, &self.prepared.sample)?.sentence())).transpose()
    }

    /// Assumed size of the result.
    pub fn result(&self) -> usize {
        self.extent.largest.min(RESULT)
    }
}

/// A run after its selection, which evaluations, record and model are made from.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub pipeline: &'r ValidPipeline,
    /// The settings with all defaults.
    pub resolved: &'r ValidPipeline,
    pub prepared: &'r TrainTest,
    /// The procedure before tuning.
    pub procedure: Procedure<'r>,
    /// The selector after tuning.
    pub selector: &'r ValidSelector,
    /// The design at the λ of the result's path.
    pub design: &'r Design,
    pub selection: &'r Selection,
    /// Number of random steps to verify.
    pub verify: Option<usize>,
    /// Budget of figures per column and size, in flops.
    pub budget: f64,
}

impl<'r> Run<'r> {
    /// Evaluation settings of the pipeline.
    pub fn evaluate(&self) -> &'r Evaluate {
        self.pipeline.evaluation()
    }

    /// Loss that compares selections.
    pub fn loss(&self) -> AnyLoss {
        self.selector.loss(self.prepared.train.task())
    }

    /// Input of repetitions of the search.
    pub fn repetition_input(&self) -> RepetitionInput<'r> {
        let Run { prepared, procedure, selector, selection, .. } = *self;
        let searched = SearchedRows { selector, chosen: &selection.chosen, columns: selection.names.len() };
        RepetitionInput { evaluate: self.evaluate(), procedure, sample: &prepared.sample, searched: Some(searched) }
    }
}

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
