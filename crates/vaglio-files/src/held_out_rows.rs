//! Predictions of held-out rows: their errors, and the calibration of class probabilities.

use super::evaluation::{Evaluation, Evaluations};
use super::reliability::{reliability, test_brier_score};
use super::rows::stride;
use super::run_context::Run;
use super::train_test::TrainTest;
use ndarray::ArrayView2;
use vaglio_core::Result;
use vaglio_pipeline::final_fit::{FitFrom, train};
use vaglio_pipeline::pipeline::{Calibration, CalibrationSource};
use vaglio_pipeline::resampling::{self, OuterFoldFit, Pooled};
use vaglio_report::record::{Figures, PredictionRows, ShownPredictions, class_of};

/// Limit on the rows whose predictions a record holds.
const SHOWN: usize = 2000;

/// Pools held-out predictions: of the outer folds, else of the folds of the cross-validated search. Calibrates class
/// probabilities with them, or with the criterion's own held-out predictions of the final subset.
pub(super) const EVALUATION: Evaluation = Evaluation::new("held out", |run, found, watcher| {
    let Run { prepared, selector, design, selection, .. } = run;
    let classes = !prepared.is_regression();
    let first: Vec<&OuterFoldFit> = found.outer.iter().filter(|outer| outer.repeat == 0).collect();
    found.held_out = if !first.is_empty() {
        let mut pooled = Pooled::new(first.iter().map(|fold| &fold.held))?;
        pooled.placed(first.iter().map(|fold| &fold.rows));
        Some((PredictionRows::Nested, pooled))
    } else if classes || prepared.test.is_none() {
        let pooled = resampling::held_out(selector, &prepared.sample, &selection.chosen, watcher)?;
        pooled.map(|pooled| (PredictionRows::CrossValidation, pooled))
    } else {
        None
    };
    if !classes || watcher.stopped().is_some() {
        return Ok(());
    }
    let record = &mut found.record;
    record.calibration = found.held_out.as_ref().and_then(|(from, pooled)| reliability(*from, pooled));
    if let (Some(nested), Some(found)) = (&mut record.nested, &record.calibration) {
        nested.figures.brier = (found.from == PredictionRows::Nested).then_some(found.brier);
    }
    found.calibration = match &found.held_out {
        Some((from, pooled)) => {
            let is_nested = *from == PredictionRows::Nested;
            let from = if is_nested { CalibrationSource::Nested } else { CalibrationSource::CrossValidation };
            Calibration::new(from, pooled.targets.view(), pooled.predictions.view(), &pooled.weights)
        }
        None => selector.subset_calibration(&prepared.sample, &prepared.train, design, selection, watcher),
    };
    Ok(())
});

impl Evaluations {
    /// Records figures and predictions of test rows and of rows held out in folds.
    ///
    /// # Errors
    /// Returns the errors of [`vaglio_core::Model::predict`].
    pub fn record_predictions(&mut self, run: Run<'_>) -> Result<()> {
        let Run { prepared, selection, .. } = run;
        self.record.test = test_figures(run)?;
        if let Some(test) = &mut self.record.test {
            test.brier = test_brier_score(prepared, self.calibration.as_ref(), selection.predictor())?;
        }
        self.record.report.predictions = self.shown(run)?;
        let of_search = self.held_out.as_ref().filter(|(from, _)| *from == PredictionRows::CrossValidation);
        self.record.report.figures = of_search.map(|(_, pooled)| {
            let figures = pooled.figures(prepared.train.class_order().as_ref(), &*run.loss(), 1);
            let brier = self.record.calibration.as_ref().map(|found| found.brier);
            Figures { brier, ..figures.with_output_names(prepared.train.target_names()) }
        });
        Ok(())
    }

    /// Observed and predicted targets of held-out rows: of outer folds, else of test rows, else of the folds of the
    /// cross-validated search.
    fn shown(&self, run: Run<'_>) -> Result<Option<ShownPredictions>> {
        let Run { prepared, selection, .. } = run;
        let held_out = self.held_out.as_ref();
        let is_nested = held_out.is_some_and(|(from, _)| *from == PredictionRows::Nested);
        if let Some(test) = prepared.test_rows().filter(|_| !is_nested) {
            let (targets, predictions) = (test.problem.targets(), test.predicted(selection.predictor())?);
            return Ok(Some(shown(PredictionRows::Test, prepared, targets.view(), predictions.view())));
        }
        Ok(held_out.map(|(from, pooled)| shown(*from, prepared, pooled.targets.view(), pooled.predictions.view())))
    }
}

/// Figures on the test rows, with the loss of the empty model.
fn test_figures(run: Run<'_>) -> Result<Option<Figures>> {
    let Run { prepared, design, selection, .. } = run;
    let loss = &*run.loss();
    let Some(figures) = prepared.figures(selection.predictor(), loss)? else { return Ok(None) };
    let empty = prepared.figures(&train(design, &[], selection.path.empty.lambda, FitFrom::Rows)?, loss)?;
    let empty_loss = empty.map(|empty| empty.loss).filter(|loss| loss.is_finite());
    Ok(Some(Figures { empty_loss, ..figures }))
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
