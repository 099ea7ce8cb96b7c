//! Computes the figures that a pipeline's `evaluate` asks for, and those of held-out predictions.

use super::TrainTest;
use super::column_diagnostics::over_folds::OuterWeights;
use super::discoveries::false_discoveries;
use super::drop_column::Importance;
use super::learning::learning_curve;
use super::loss_intervals::{LossIntervals, certainty};
use super::near_best::SubsetSources;
use super::origins::Origins;
use super::reliability::reliability;
use super::repetition::{nested, permutations};
use super::rows::stride;
use super::run::Run;
use super::shapley::shares;
use super::stability::stability;
use super::verify::verified;
use ndarray::ArrayView2;
use std::time::Instant;
use vaglio_core::{Loss, Model, Monitor, Result};
use vaglio_pipeline::pipeline::{Calibration, CalibrationSource, SavedIntervals};
use vaglio_pipeline::resample::held_out::chosen_parts;
use vaglio_pipeline::resample::path_predictions::FoldTestRows;
use vaglio_pipeline::resample::{self, OuterFoldFit, Pooled, Procedure, StageMonitor};
use vaglio_pipeline::selector::Selection;
use vaglio_report::record::{
    AlternativesRecord, FalseDiscoveries, Figures, LearningCurve, NestedEvaluation, Permutations, PredictionRows,
    ReliabilityRecord, SharesRecord, ShownPredictions, Stability, Verified, Warning, WarningKind, class_of,
};

/// Results computed in addition to the selection.
#[derive(Default)]
pub(super) struct Evaluations {
    pub nested: Option<NestedEvaluation>,
    pub permutations: Option<Permutations>,
    pub stability: Option<Stability>,
    pub fdr: Option<FalseDiscoveries>,
    pub alternatives: Option<AlternativesRecord>,
    pub shares: Option<SharesRecord>,
    pub learning_curve: Option<LearningCurve>,
    /// Held-out predictions of all training rows.
    held_out: Option<(PredictionRows, Pooled)>,
    pub calibration: Option<Calibration>,
    /// Intervals of the chosen loss.
    pub certainty: Option<LossIntervals>,
    pub reliability: Option<ReliabilityRecord>,
    pub intervals: Option<SavedIntervals>,
    pub verified: Option<Verified>,
    /// Weights of the models of outer folds.
    pub outer_weights: OuterWeights,
    pub seconds: f64,
}

/// Limit on the rows whose predictions a record holds.
const SHOWN: usize = 2000;

impl Evaluations {
    /// Repeats the selection as the settings ask; figures that a stop leaves undone are absent, with a warning.
    ///
    /// # Errors
    /// Returns the errors of the selection on subsets of the rows.
    pub fn new(
        run: Run<'_>,
        selection: &mut Selection,
        origins: &Origins<'_>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        let Run { selector, prepared, design, .. } = run;
        let mut evaluated = Evaluations::default();
        if selection.path.stop_reason.is_partial() {
            return Ok(evaluated);
        }
        let watcher = StageMonitor::new(monitor);
        evaluated.certainty = certainty(selector, prepared.sample.task(), &selection.chosen);
        let start = Instant::now();
        let mut outer = Vec::new();
        if let Some(settings) = run.evaluate() {
            outer = evaluated.repeat(run, selection, origins, &watcher)?;
            if settings.shares && watcher.stopped().is_none() {
                evaluated.shares = watcher.ends(|| shares(selector, &prepared.sample, design, selection, &watcher))?;
            }
        }
        evaluated.fdr = watcher.ends(|| false_discoveries(run, selection, &watcher))?;
        watcher.ends(|| evaluated.hold_out(run, selection, &outer, &watcher).map(Some))?;
        let level = run.evaluate().and_then(|settings| settings.intervals);
        if let (Some(level), Some(nested), false) = (level, &mut evaluated.nested, outer.is_empty()) {
            let found = watcher.ends(|| super::intervals::intervals(level, outer, prepared).map(Some))?;
            (evaluated.intervals, nested.intervals) = found.unzip();
        }
        if let Some(reason) = watcher.was_stopped() {
            selection.path.stop_reason = reason;
            let message =
                "the run was stopped before all figures of `evaluate` were computed; those that are null are missing";
            selection.warnings.push(Warning::new(WarningKind::Interrupted, message));
        }
        evaluated.seconds = start.elapsed().as_secs_f64();
        Ok(evaluated)
    }

    /// Finds subsets as good as the chosen one, if asked for.
    ///
    /// # Errors
    /// Returns the errors of [`SubsetSources::near_best`].
    pub fn near_best(
        &mut self,
        run: Run<'_>,
        selection: &mut Selection,
        importance: &Importance,
        monitor: &mut Monitor<'_>,
    ) -> Result<()> {
        let Run { selector, prepared, design, .. } = run;
        let Some(asked) = run.evaluate().and_then(|settings| settings.alternatives) else { return Ok(()) };
        if selection.path.stop_reason.is_partial() {
            return Ok(());
        }
        let start = Instant::now();
        let watcher = StageMonitor::new(monitor);
        let (sample, nested) = (&prepared.sample, self.nested.as_ref());
        let sources = SubsetSources { selector, sample, design, selection, importance, nested };
        self.alternatives = watcher.ends(|| sources.near_best(&asked, &watcher))?;
        if let Some(reason) = watcher.stopped() {
            selection.path.stop_reason = reason;
            let message =
                "the run was stopped before it was known which subsets are as good; `alternatives` is missing";
            selection.warnings.push(Warning::new(WarningKind::Interrupted, message));
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Recomputes the scores of `count` steps by plain retraining.
    ///
    /// # Errors
    /// Returns the errors of [`verified`].
    pub fn verify(
        &mut self,
        run: Run<'_>,
        count: Option<usize>,
        selection: &mut Selection,
        monitor: &mut Monitor<'_>,
    ) -> Result<()> {
        let Some(count) = count else { return Ok(()) };
        let start = Instant::now();
        let watcher = StageMonitor::new(monitor);
        self.verified = watcher.ends(|| verified(run, count, selection, &watcher))?;
        if let Some(reason) = watcher.stopped() {
            selection.path.stop_reason = reason;
            let message = "the run was stopped before its steps were recomputed; `verify` is null";
            selection.warnings.push(Warning::new(WarningKind::Interrupted, message));
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Repeats the whole selection for the figures asked for; returns the outer folds.
    fn repeat(
        &mut self,
        run: Run<'_>,
        selection: &Selection,
        origins: &Origins<'_>,
        watcher: &StageMonitor<'_>,
    ) -> Result<Vec<OuterFoldFit>> {
        let Run { pipeline, prepared, .. } = run;
        let Some(settings) = run.evaluate() else { return Ok(Vec::new()) };
        let (untuned, sample) = (pipeline.selector(), &prepared.sample);
        let whole = Procedure { selector: &untuned, tune: pipeline.settings().tune.as_ref() };
        let mut outer = Vec::new();
        if let Some(how) = settings.outer_folds() {
            outer = watcher.ends(|| resample::outer(whole, sample, &how, watcher))?.unwrap_or_default();
            if !outer.is_empty() {
                self.outer_weights = OuterWeights::new(&outer);
                self.nested = Some(nested(whole, sample, &how, &outer, origins)?);
            }
        }
        if let Some(count) = settings.permutations.filter(|_| watcher.stopped().is_none()) {
            self.permutations = watcher.ends(|| permutations(whole, sample, selection, count, watcher))?;
        }
        if let Some(how) = settings.stability.as_ref().filter(|_| watcher.stopped().is_none()) {
            self.stability = watcher.ends(|| stability(run, selection, origins, how, watcher))?;
        }
        if let Some(how) = settings.learning_folds().filter(|_| watcher.stopped().is_none()) {
            self.learning_curve = watcher.ends(|| learning_curve(whole, sample, &how, &outer, watcher))?;
        }
        Ok(outer)
    }

    /// Pools held-out predictions: of the outer folds, else of the folds of the cross-validated search. Calibrates
    /// class probabilities with them, or with the criterion's own held-out predictions of the final subset.
    fn hold_out(
        &mut self,
        run: Run<'_>,
        selection: &Selection,
        outer: &[OuterFoldFit],
        watcher: &StageMonitor<'_>,
    ) -> Result<()> {
        let Run { selector, prepared, design, .. } = run;
        if watcher.stopped().is_some() {
            return Ok(());
        }
        let classes = !prepared.is_regression();
        let first: Vec<&OuterFoldFit> = outer.iter().filter(|outer| outer.repeat == 0).collect();
        self.held_out = if !first.is_empty() {
            let parts = first.iter().map(|fold| fold.held.compared());
            let mut pooled = Pooled::new(parts)?;
            pooled.placed(first.iter().map(|fold| &fold.rows));
            Some((PredictionRows::Nested, pooled))
        } else if classes || prepared.test.is_none() {
            let mut pooled = resample::held_out(selector, &prepared.sample, &selection.chosen, watcher)?;
            if let (Some(pooled), Some(how)) = (&mut pooled, &selection.chosen.folds) {
                let parts = chosen_parts(selector, &prepared.sample, how)?;
                pooled.placed(parts.iter().map(|part| &part.held));
            }
            pooled.map(|pooled| (PredictionRows::CrossValidation, pooled))
        } else {
            None
        };
        if !classes || watcher.stopped().is_some() {
            return Ok(());
        }
        self.reliability = self.held_out.as_ref().and_then(|(from, pooled)| reliability(*from, pooled));
        if let (Some(nested), Some(found)) = (&mut self.nested, &self.reliability) {
            nested.figures.brier = (found.from == PredictionRows::Nested).then_some(found.brier);
        }
        self.calibration = match &self.held_out {
            Some((from, pooled)) => {
                let nested = *from == PredictionRows::Nested;
                let from = if nested { CalibrationSource::Nested } else { CalibrationSource::CrossValidation };
                Calibration::from_held_out(from, pooled)
            }
            None => selector.subset_calibration(&prepared.sample, &prepared.train, design, selection, watcher),
        };
        Ok(())
    }

    /// Observed and predicted targets of held-out rows: of outer folds, else of test rows, else of the folds of the
    /// cross-validated search.
    ///
    /// # Errors
    /// Returns the errors of [`Model::predict`].
    pub fn shown(&self, prepared: &TrainTest, model: &Model) -> Result<Option<ShownPredictions>> {
        let held_out = self.held_out.as_ref();
        if let (Some(test), true) = (&prepared.test, held_out.is_none_or(|(from, _)| *from != PredictionRows::Nested)) {
            let held = FoldTestRows::new(test, prepared.target_units.as_deref(), &prepared.train);
            let predictions = held.predicted(model)?;
            return Ok(Some(shown(PredictionRows::Test, prepared, test.targets().view(), predictions.view())));
        }
        let of = |(from, pooled): &(PredictionRows, Pooled)| {
            shown(*from, prepared, pooled.targets.view(), pooled.predictions.view())
        };
        Ok(held_out.map(of))
    }

    /// Held-out predictions whose positions in the sample are known; `None` if maps left rows out.
    pub fn held_out_rows(&self) -> Option<(PredictionRows, &Pooled)> {
        let known = self.held_out.as_ref().filter(|(_, pooled)| !pooled.places.is_empty());
        known.map(|(from, pooled)| (*from, pooled))
    }

    /// Figures of the predictions held out in the folds of the cross-validated search, if any.
    pub fn figures(&self, prepared: &TrainTest, loss: &dyn Loss) -> Option<Figures> {
        let (_, pooled) = self.held_out.as_ref().filter(|(from, _)| *from == PredictionRows::CrossValidation)?;
        let figures = pooled
            .figures(prepared.train.class_order().as_ref(), loss, 1)
            .with_output_names(prepared.train.target_names());
        Some(Figures { brier: self.reliability.as_ref().map(|found| found.brier), ..figures })
    }
}

/// Predictions of all rows, or of a limited number of evenly spaced ones.
fn shown(
    from: PredictionRows,
    prepared: &TrainTest,
    targets: ArrayView2<'_, f64>,
    predictions: ArrayView2<'_, f64>,
) -> ShownPredictions {
    let rows = targets.ncols();
    let every = stride(rows, SHOWN);
    let kept: Vec<usize> = (0..rows).step_by(every).collect();
    let lists = |of: ArrayView2<'_, f64>| -> Vec<Vec<f64>> {
        of.rows().into_iter().map(|row| kept.iter().map(|&j| row[j]).collect()).collect()
    };
    let observed = match prepared.is_regression() {
        true => lists(targets),
        false => vec![kept.iter().map(|&j| class_of(targets.column(j)) as f64).collect()],
    };
    ShownPredictions { from, rows, observed, predicted: lists(predictions) }
}
