//! A run before its search, and after it.

use super::repetitions::{RepetitionInput, SearchCounts, SearchedRows};
use super::train_test::TrainTest;
use vaglio_core::{AnyLoss, Design, Estimate, Result, SearchExtent};
use vaglio_pipeline::pipeline::{Evaluate, ValidPipeline};
use vaglio_pipeline::resampling::{OuterFolds, Procedure, Selection};
use vaglio_pipeline::selector::ValidSelector;

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
