//! Evaluations: what a run computes after its selection, one after the other, for `evaluate` and for its model file.
//!
//! Each is a value in a file of its own. It does nothing unless the settings ask for it, and writes its part of the
//! record. Some repeat the search, which threads or processes share.

mod condensed;
mod discoveries;
pub mod drop_column;
mod held_out_rows;
mod intervals;
mod learning_curve;
mod near_best_subsets;
pub mod nested_validation;
mod permutations;
pub mod shapley;
mod stability;
pub mod verification;

use super::train_test::TrainTest;
use super::trials::TrialDesign;
use std::fmt;
use vaglio_core::{Design, Estimate, Loss, Part, Result, SearchExtent, StopReason};
use vaglio_pipeline::pipeline::{Calibration, SavedIntervals, ValidPipeline};
use vaglio_pipeline::resampling::{
    OuterFoldFit, PooledPredictions, Sample, Selection, Splitter, StageMonitor, TunedSearch, choice_splitter,
};
use vaglio_pipeline::selector::{ValidSelector, path_lambdas};
use vaglio_report::record::{Evaluate, OuterFolds, PredictionRows, Record, Status, Warning, WarningKind};

/// All evaluations, in the order in which they are computed.
pub static EVALUATIONS: [Evaluation; 11] = [
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

/// Repetitions of the search that evaluations need.
pub fn repetitions() -> impl Iterator<Item = &'static Repetitions> {
    EVALUATIONS.iter().filter_map(|evaluation| evaluation.repetitions.as_ref())
}

/// A result that a run computes besides its selection.
pub struct Evaluation {
    pub name: &'static str,
    /// Computes what the settings ask for, and writes it to the record. A stop leaves it out.
    pub run: fn(Run<'_>, &mut EvaluationResults, &StageMonitor<'_>) -> Result<()>,
    /// Describes it for a plan, if the settings ask for it.
    pub plan: fn(&RunPlan<'_>) -> Result<Option<String>>,
    /// Repetitions of the search that it needs, if any.
    pub repetitions: Option<Repetitions>,
}

/// Repetitions of the search, which threads or processes share.
pub struct Repetitions {
    /// Prefix of their keys in the journal.
    pub prefix: &'static str,
    /// Name in lists of units.
    pub units: &'static str,
    /// Words of a plan, with `N` for their number.
    pub planned: &'static str,
    /// Whether each is one search with the settings chosen on all rows, rather than the whole procedure.
    pub is_one_search: bool,
    /// Number of the repetitions; 0 unless the settings ask for them.
    pub count: fn(&RepetitionInput<'_>) -> Result<usize>,
    /// Performs the repetitions of this process, which the journal keeps; given the search on all rows if each is one
    /// search.
    pub repeat: fn(&RepetitionInput<'_>, Option<&TunedSearch>, &StageMonitor<'_>) -> Result<()>,
}

impl Evaluation {
    /// An evaluation without a line in plans and without repetitions.
    pub const fn new(
        name: &'static str,
        run: fn(Run<'_>, &mut EvaluationResults, &StageMonitor<'_>) -> Result<()>,
    ) -> Self {
        Evaluation { name, run, plan: |_| Ok(None), repetitions: None }
    }
}

/// Input of repetitions.
#[derive(Clone, Copy)]
pub struct RepetitionInput<'r> {
    pub evaluate: &'r Evaluate,
    /// The selector before tuning.
    pub selector: &'r ValidSelector,
    pub sample: &'r Sample,
}

impl<'r> RepetitionInput<'r> {
    /// Takes the selector of the pipeline, before tuning.
    pub fn new(pipeline: &'r ValidPipeline, selector: &'r ValidSelector, sample: &'r Sample) -> Self {
        RepetitionInput { evaluate: pipeline.evaluation(), selector, sample }
    }
}

/// Assumed size of a result.
const RESULT: usize = 10;

/// A run before its search: design, extent and estimated work.
pub struct RunPlan<'p> {
    pub pipeline: &'p ValidPipeline,
    pub evaluate: &'p Evaluate,
    pub selector: &'p ValidSelector,
    pub prepared: &'p TrainTest,
    pub design: &'p Design,
    pub searches: SearchCounts,
    pub extent: SearchExtent,
    pub estimate: Estimate,
}

impl<'p> RunPlan<'p> {
    /// Plans the searches of a run with its evaluations, except impossible repetitions.
    pub fn new(
        pipeline: &'p ValidPipeline,
        selector: &'p ValidSelector,
        prepared: &'p TrainTest,
        design: &'p Design,
    ) -> Result<Self> {
        let sample = &prepared.sample;
        let evaluate = pipeline.evaluation();
        let input = RepetitionInput::new(pipeline, selector, sample);
        let counted = |kind: &'static Repetitions| (kind, (kind.count)(&input).unwrap_or(0));
        let repetitions = repetitions().map(counted).filter(|(_, count)| *count > 0).collect();
        let searches = SearchCounts { repetitions, ..SearchCounts::new(selector, design, sample) };
        let (extent, estimate) = selector.extent_and_estimate(design)?;
        let plan = RunPlan { pipeline, evaluate, selector, prepared, design, searches, extent, estimate };
        plan.check_condensed()?;
        Ok(plan)
    }

    /// Describes the splits of outer folds.
    pub fn split_sentence(&self, how: Option<OuterFolds>) -> Option<String> {
        how.map(|how| self.prepared.sample.outer_splitter(self.selector, &how).sentence())
    }

    /// Assumed size of the result.
    pub fn result(&self) -> usize {
        self.extent.largest.min(RESULT)
    }
}

/// A run after its selection, which evaluations, record and model are made from.
#[derive(Clone, Copy)]
pub struct Run<'r> {
    /// The settings with all defaults.
    pub pipeline: &'r ValidPipeline,
    pub prepared: &'r TrainTest,
    /// Input of repetitions of the search.
    pub input: RepetitionInput<'r>,
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
    /// The criterion on the design, for trials of subsets.
    pub fn trials(self) -> TrialDesign<'r> {
        TrialDesign::new(self.selector, self.design)
    }

    /// Loss that compares selections.
    pub fn loss(&self) -> Part<dyn Loss> {
        self.selector.loss(self.prepared.train.task())
    }
}

/// Numbers of searches in a run.
#[derive(Clone)]
pub struct SearchCounts {
    /// Values of λ with separate searches.
    pub lambdas: usize,
    /// Folds times repeats; 0 without cross-validation.
    pub folds: usize,
    /// Number of repeated fold assignments.
    pub repeats: usize,
    /// Repetitions for evaluations, with their numbers.
    pub repetitions: Vec<(&'static Repetitions, usize)>,
}

impl SearchCounts {
    /// Counts the searches that choose size and λ.
    pub fn new(selector: &ValidSelector, design: &Design, sample: &Sample) -> Self {
        let cross_validation = selector.cross_validation();
        let lambdas = path_lambdas(design, cross_validation.is_some()).len();
        let plain = SearchCounts { lambdas, folds: 0, repeats: 1, repetitions: Vec::new() };
        let Some(how) = cross_validation else { return plain };
        let folds = match choice_splitter(selector, sample, &how) {
            Splitter::Folds(_, folds) => folds,
            splitter => splitter.repeats(sample, [0]).map_or(0, |splits| splits.count()),
        };
        SearchCounts { folds: folds * how.repeats, repeats: how.repeats, ..plain }
    }

    /// Searches on all rows.
    fn on_all_rows(&self) -> usize {
        if self.folds == 0 { self.lambdas } else { 1 }
    }

    pub fn count(&self) -> usize {
        let selection = self.folds * self.lambdas + self.on_all_rows();
        let searches = |(kind, count): &(&Repetitions, usize)| count * if kind.is_one_search { 1 } else { selection };
        selection + self.repetitions.iter().map(searches).sum::<usize>()
    }

    /// Cost of one selection, in searches on all rows.
    pub fn cost(&self) -> f64 {
        let trained = 1.0 - 1.0 / (self.folds as f64 / self.repeats.max(1) as f64).max(2.0);
        (self.folds * self.lambdas) as f64 * trained + self.on_all_rows() as f64
    }
}

impl fmt::Display for SearchCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lambdas = if self.lambdas == 1 { String::new() } else { format!(" × {} values of lambda", self.lambdas) };
        write!(f, "{}: ", self.count())?;
        match (self.folds, self.lambdas) {
            (0, 1) => write!(f, "one of all rows")?,
            (0, all) => write!(f, "{all} of all rows, one for each value of lambda")?,
            (folds, _) => write!(f, "{folds} folds of the rows{lambdas}, and one of all rows")?,
        }
        for (kind, count) in &self.repetitions {
            write!(f, "; {}", kind.planned.replace('N', &count.to_string()))?;
        }
        Ok(())
    }
}

/// Results of evaluations: the record, and what later ones or the model file need.
#[derive(Default)]
pub struct EvaluationResults {
    pub record: Record,
    /// Outer folds, until prediction intervals take them.
    pub outer: Vec<OuterFoldFit>,
    /// Held-out predictions that the page shows: of the outer folds, else of test rows, else of the folds of the
    /// cross-validated search.
    pub held_out: Option<(PredictionRows, PooledPredictions)>,
    pub calibration: Option<Calibration>,
    pub intervals: Option<SavedIntervals>,
}

impl EvaluationResults {
    /// Records that the run was stopped, unless that is known.
    pub fn stop(&mut self, reason: Option<StopReason>) {
        let record = &mut self.record;
        let Some(reason) = reason.filter(|_| !record.stop_reason.is_partial()) else { return };
        (record.stop_reason, record.status) = (reason, Status::Partial);
        let message = "the run was stopped before all figures were computed; missing ones are null";
        record.warnings.push(Warning::new(WarningKind::Interrupted, message));
    }

    /// Computes all evaluations, unless the search was stopped; a stop leaves out those to come.
    pub fn compute(&mut self, run: Run<'_>, watcher: &StageMonitor<'_>) -> Result<()> {
        if self.record.stop_reason.is_partial() {
            return Ok(());
        }
        for evaluation in &EVALUATIONS {
            if watcher.check_stop().is_none() {
                let _entered = tracing::debug_span!("evaluation", name = evaluation.name).entered();
                watcher.ends(|| (evaluation.run)(run, self, watcher))?;
            }
        }
        self.stop(watcher.was_stopped());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts with repetitions of these keys.
    fn with(counts: &SearchCounts, numbers: &[(&str, usize)]) -> SearchCounts {
        let number = |kind: &Repetitions| numbers.iter().find(|(prefix, _)| *prefix == kind.prefix);
        let known = repetitions().filter_map(|kind| Some((kind, number(kind)?.1)));
        SearchCounts { repetitions: known.collect(), ..counts.clone() }
    }

    #[test]
    fn walks_are_counted() {
        let one = SearchCounts { lambdas: 1, folds: 5, repeats: 1, repetitions: Vec::new() };
        assert_eq!(one.to_string(), "6: 5 folds of the rows, and one of all rows");
        let grid = SearchCounts { lambdas: 13, ..one.clone() };
        assert_eq!(grid.to_string(), "66: 5 folds of the rows × 13 values of lambda, and one of all rows");
        let plain = SearchCounts { lambdas: 3, folds: 0, ..one.clone() };
        assert_eq!(plain.to_string(), "3: 3 of all rows, one for each value of lambda");
        let all = with(&one, &[("nested/", 5), ("permutations/", 20), ("stability/", 100)]);
        assert_eq!(
            all.to_string(),
            "256: 5 folds of the rows, and one of all rows; the same in 5 outer folds; the same on 20 shuffled targets; 100 on halves of the rows"
        );
        let learning = with(&one, &[("learning/", 15), ("nested/", 5)]);
        assert!(learning.to_string().ends_with("in 5 outer folds; the same on 15 parts of their training rows"));
        assert_eq!((learning.count(), one.cost()), (6 * 21, 5.0));
    }
}
