//! The figures that a pipeline's `evaluate` asks for.

use super::Prepared;
use super::repetition::{nested, permutations, stability};
use crate::pipeline::ValidPipeline;
use crate::record::{Nested, Permutations, PredictedOn, ShownPredictions, Stability, class_of};
use crate::resample::{self, Held, Outer, Warning, WarningKind, Watcher, Whole};
use crate::selector::{Selection, ValidSelector};
use ndarray::ArrayView2;
use std::time::Instant;
use vaglio_core::{Model, Observer, Result};

/// What was computed beside the selection.
#[derive(Default)]
pub(super) struct Evaluated {
    pub nested: Option<Nested>,
    pub permutations: Option<Permutations>,
    pub stability: Option<Stability>,
    /// The outer folds, where they were computed.
    pub outer: Vec<Outer>,
    pub seconds: f64,
}

/// Rows whose predictions a record holds, at most.
const SHOWN: usize = 2000;

impl Evaluated {
    /// Repeats the selection as often as the settings ask; what a stop leaves undone is absent, with a warning.
    ///
    /// # Errors
    /// Those of the selection on parts of the rows.
    pub fn new(
        pipeline: &ValidPipeline,
        selector: &ValidSelector,
        prepared: &Prepared,
        selection: &mut Selection,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let Some(settings) = &pipeline.0.evaluate else { return Ok(Evaluated::default()) };
        let start = Instant::now();
        let sample = &prepared.sample;
        let untuned = pipeline.selector();
        let whole = Whole { selector: &untuned, tune: pipeline.0.tune.as_ref() };
        let watcher = Watcher::new(observer);
        let mut evaluated = Evaluated::default();
        if selection.path.stop_reason.is_partial() {
            return Ok(evaluated);
        }
        if let Some(how) = settings.outer_folds() {
            let outer = resample::outer(whole, sample, how.folds, how.repeats, &watcher)?;
            evaluated.outer = outer.unwrap_or_default();
        }
        if !evaluated.outer.is_empty() {
            evaluated.nested = Some(nested(whole, sample, &evaluated.outer, &selection.names)?);
        }
        if let Some(count) = settings.permutations.filter(|_| watcher.stopped().is_none()) {
            evaluated.permutations = permutations(whole, sample, selection, count, &watcher)?;
        }
        if let Some(how) = settings.stability.filter(|_| watcher.stopped().is_none()) {
            evaluated.stability = stability(selector, sample, selection, how.pairs, &watcher)?;
        }
        if let Some(reason) = watcher.stopped() {
            selection.path.stop_reason = reason;
            let message =
                "the run was stopped before all figures of `evaluate` were computed; those that are null are missing";
            selection.warnings.push(Warning::new(WarningKind::Interrupted, message));
        }
        evaluated.seconds = start.elapsed().as_secs_f64();
        Ok(evaluated)
    }

    /// Observed and predicted targets of rows that the models had not seen: of outer folds, else of test rows.
    ///
    /// # Errors
    /// Those of [`Model::predict`].
    pub fn shown(&self, prepared: &Prepared, model: &Model) -> Result<Option<ShownPredictions>> {
        let first: Vec<&Outer> = self.outer.iter().filter(|outer| outer.repeat == 0).collect();
        if !first.is_empty() {
            let pooled = resample::Pooled::new(
                first.iter().map(|fold| (&fold.targets, &fold.predictions, fold.weights.as_deref())),
            )?;
            return Ok(Some(shown(PredictedOn::Nested, prepared, pooled.targets.view(), pooled.predictions.view())));
        }
        let Some(test) = &prepared.test else { return Ok(None) };
        let held = Held { problem: test, scales: prepared.target_scales.as_deref() };
        let predictions = held.predicted(model)?;
        Ok(Some(shown(PredictedOn::Test, prepared, test.targets().view(), predictions.view())))
    }
}

/// Every row, or as many as are shown at even distances.
fn shown(
    from: PredictedOn,
    prepared: &Prepared,
    targets: ArrayView2<'_, f64>,
    predictions: ArrayView2<'_, f64>,
) -> ShownPredictions {
    let rows = targets.ncols();
    let every = rows.div_ceil(SHOWN).max(1);
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
