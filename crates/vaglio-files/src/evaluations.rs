//! Evaluations: what a run computes after its selection, one after the other, for `evaluate` and for its model file.
//!
//! Each is a value in a file of its own. It does nothing unless the settings ask for it, and writes its part of the
//! record.

use super::column_diagnostics::fold_weights::OuterWeights;
use super::plan::RunPlan;
use super::run::Run;
use super::{
    discoveries, drop_column, held_out_rows, intervals, learning_curve, near_best_subsets, nested_validation,
    permutations, shapley,
};
use super::{stability, verification};
use vaglio_core::{Result, StopReason};
use vaglio_pipeline::pipeline::{Calibration, Evaluate, SavedIntervals};
use vaglio_pipeline::resampling::{Choice, Jobs, OuterFoldFit, Pooled, Procedure, Sample, StageMonitor};
use vaglio_pipeline::selector::ValidSelector;
use vaglio_report::record::{PredictionRows, Record, Status, Warning, WarningKind};

/// All evaluations, in the order in which they are computed.
pub(super) const EVALUATIONS: [Evaluation; 11] = [
    nested_validation::EVALUATION,
    permutations::EVALUATION,
    learning_curve::EVALUATION,
    stability::EVALUATION,
    shapley::EVALUATION,
    discoveries::EVALUATION,
    held_out_rows::EVALUATION,
    intervals::EVALUATION,
    verification::EVALUATION,
    drop_column::EVALUATION,
    near_best_subsets::EVALUATION,
];

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

/// Repetitions of the search for an evaluation, which threads or processes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repetitions {
    /// Prefix of the journal keys.
    pub prefix: &'static str,
    /// Name in lists of units.
    pub units: &'static str,
    /// Words before and after the number of repetitions in a plan.
    pub planned: [&'static str; 2],
    /// Whether each is one search with the settings chosen on all rows, rather than the whole procedure.
    pub is_one_search: bool,
    /// Jobs of the repetitions; none unless the settings ask for them.
    pub jobs: fn(&RepetitionInput<'_>) -> Result<Jobs>,
    /// Performs the jobs of this process, which the journal keeps.
    pub repeat: fn(&RepetitionInput<'_>, &StageMonitor<'_>) -> Result<()>,
}

impl Evaluation {
    /// An evaluation without a line in plans and without repetitions.
    pub const fn new(name: &'static str, run: fn(Run<'_>, &mut Evaluations, &StageMonitor<'_>) -> Result<()>) -> Self {
        Evaluation { name, run, plan: |_| Ok(None), repetitions: None }
    }
}

/// Repetitions of all evaluations.
pub(super) fn repetitions() -> impl Iterator<Item = Repetitions> {
    EVALUATIONS.into_iter().filter_map(|evaluation| evaluation.repetitions)
}

/// Input of repetitions.
#[derive(Clone, Copy)]
pub(super) struct RepetitionInput<'r> {
    pub evaluate: &'r Evaluate,
    /// The procedure before tuning.
    pub procedure: Procedure<'r>,
    pub sample: &'r Sample,
    /// Result of the search on all rows, if known.
    pub searched: Option<SearchedRows<'r>>,
}

/// Result of the search on all rows, as repetitions of one search need it.
#[derive(Clone, Copy)]
pub(super) struct SearchedRows<'r> {
    /// The selector after tuning.
    pub selector: &'r ValidSelector,
    pub chosen: &'r Choice,
    /// Number of candidates.
    pub columns: usize,
}

/// Results of evaluations: the record, and what later ones or the model file need.
pub(super) struct Evaluations {
    pub record: Record,
    /// Outer folds, until prediction intervals take them.
    pub outer: Vec<OuterFoldFit>,
    /// Weights of the models of outer folds.
    pub outer_weights: OuterWeights,
    /// Held-out predictions of all training rows.
    pub held_out: Option<(PredictionRows, Pooled)>,
    pub calibration: Option<Calibration>,
    pub intervals: Option<SavedIntervals>,
}

impl Evaluations {
    /// Starts with the record of a selection.
    pub fn new(record: Record) -> Self {
        Evaluations {
            record,
            outer: Vec::new(),
            outer_weights: OuterWeights::default(),
            held_out: None,
            calibration: None,
            intervals: None,
        }
    }

    /// Computes all evaluations, unless the search was stopped; a stop leaves out those to come.
    ///
    /// # Errors
    /// Returns the errors of the evaluations.
    pub fn compute(&mut self, run: Run<'_>, watcher: &StageMonitor<'_>) -> Result<()> {
        if self.record.stop_reason.is_partial() {
            return Ok(());
        }
        for evaluation in EVALUATIONS {
            if watcher.stopped().is_none() {
                let _entered = tracing::debug_span!("evaluation", name = evaluation.name).entered();
                watcher.ends(|| (evaluation.run)(run, self, watcher))?;
            }
        }
        self.stop(watcher.was_stopped());
        Ok(())
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
