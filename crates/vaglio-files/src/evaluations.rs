//! Evaluations: what a run computes after its selection, one after the other, for `evaluate` and for its model file.
//!
//! Each is a value in a file of its own. It does nothing unless the settings ask for it, and writes its part of the
//! record.

use super::evaluation::{Evaluation, Evaluations, Run, RunPlan};
use super::repetitions::{RepetitionInput, Repetitions, SearchCounts};
use super::train_test::TrainTest;
use super::{
    discoveries, drop_column, held_out_rows, intervals, learning_curve, near_best_subsets, nested_validation,
    permutations, shapley, stability, verification,
};
use vaglio_core::{Design, Result};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_pipeline::resampling::{Procedure, StageMonitor};
use vaglio_pipeline::selector::ValidSelector;

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

/// Repetitions of all evaluations.
pub(super) fn repetitions() -> impl Iterator<Item = Repetitions> {
    EVALUATIONS.into_iter().filter_map(|evaluation| evaluation.repetitions)
}

impl<'p> RunPlan<'p> {
    /// Plans the searches of a run with its evaluations, except impossible repetitions.
    ///
    /// # Errors
    /// Returns the errors of the search's extent.
    pub fn new(
        pipeline: &'p ValidPipeline,
        selector: &'p ValidSelector,
        prepared: &'p TrainTest,
        design: &'p Design,
    ) -> Result<Self> {
        let (procedure, sample) = (Procedure { selector, tune: None }, &prepared.sample);
        let input = RepetitionInput { evaluate: pipeline.evaluation(), procedure, sample, searched: None };
        let counted = |of: Repetitions| (of, (of.count)(&input).unwrap_or(0));
        let repetitions = repetitions().map(counted).filter(|(_, count)| *count > 0).collect();
        let walks = SearchCounts { repetitions, ..SearchCounts::new(selector, design, sample) };
        let (extent, estimate) = selector.extent_and_estimate(design, walks.lambdas)?;
        Ok(RunPlan { pipeline, selector, prepared, design, walks, extent, estimate })
    }
}

impl Evaluations {
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
}
