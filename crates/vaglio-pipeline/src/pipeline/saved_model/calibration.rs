//! Class probabilities by Platt scaling of held-out predictions.

use crate::resampling::{PooledPredictions, Sample, Selection, StageMonitor, held_out};
use crate::selector::ValidSelector;
use ndarray::{Array2, ArrayView2, Axis};
use vaglio_core::{
    Criterion, Design, HeldOut, Problem, Result, Round, Task, gather, prediction_units, relative_weights, row_weights,
    setting,
};
use vaglio_kernels::tolerance::SUFFICIENT_FALL;
use vaglio_search::EntryFit;
use vaglio_validate::{HeldOutPredictions, KFold, predicted_held_out};

/// Calibration of class probabilities: a logistic map per class, normalized over classes.
#[setting]
#[derive(PartialEq)]
pub struct Calibration {
    /// Source of the held-out predictions that it was fitted on.
    pub from: CalibrationSource,
    /// Number of held-out predictions.
    pub rows: usize,
    /// Map of each output; two classes have one, for the positive class.
    pub maps: Vec<PlattScaling>,
}

/// Source of held-out predictions for a calibration.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum CalibrationSource {
    /// Outer folds: the whole procedure is repeated without each.
    Nested,
    /// Folds of the cross-validated search.
    CrossValidation,
    /// Folds of the criterion: the final subset is trained without each.
    Folds,
    /// Leave-one-out predictions of the final subset.
    LeaveOneOut,
}

/// Logistic map from a prediction to a probability: p = 1 / (1 + exp(−(slope · prediction + intercept))).
#[setting]
#[derive(Copy, PartialEq)]
pub struct PlattScaling {
    /// Coefficient of the prediction.
    pub slope: f64,
    /// The logit at prediction 0.
    pub intercept: f64,
}

/// Largest number of Newton steps.
const MOST_STEPS: usize = 200;

impl PlattScaling {
    /// The probability for a prediction.
    pub fn probability(&self, prediction: f64) -> f64 {
        sigmoid(self.slope * prediction + self.intercept)
    }

    /// Maximum-likelihood map, by Newton's method; steps are halved until the likelihood rises.
    ///
    /// Rows of the class have target (N₊ + 1)/(N₊ + 2), the others 1/(N₋ + 2): no probability is 0 or 1. N₊ and N₋
    /// count the rows of each side by weight over mean weight. Cost O(rows) per step.
    ///
    /// # Reference
    /// J. Platt, *Probabilistic outputs for support vector machines*, 1999; H.-T. Lin, C.-J. Lin, R. C. Weng, *A note
    /// on Platt's probabilistic outputs for support vector machines*, Machine Learning 68, 2007.
    fn fit(predictions: &[f64], is_of_class: &[bool], weights: &[f64]) -> Self {
        let weights = relative_weights(weights, weights.iter().filter(|weight| **weight > 0.0).count() as f64);
        let side = |of_class: bool| -> f64 {
            is_of_class.iter().zip(&weights).filter(|(c, _)| **c == of_class).map(|(_, w)| w).sum()
        };
        let (positive, negative) = (side(true), side(false));
        let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
        let targets = is_of_class.iter().map(|is_of_class| if *is_of_class { high } else { low });
        let rows: Vec<((&f64, f64), f64)> = predictions.iter().zip(targets).zip(weights).collect();
        let loss = |map: &PlattScaling| -> f64 {
            let row_loss = |&((x, target), weight): &((&f64, f64), f64)| {
                let logit = map.slope * x + map.intercept;
                // −t·log p − (1 − t)·log(1 − p), without overflow on either side.
                weight * (logit.max(0.0) - target * logit + (-logit.abs()).exp().ln_1p())
            };
            rows.iter().map(row_loss).sum()
        };
        let mut map = PlattScaling { slope: 0.0, intercept: ((positive + 1.0) / (negative + 1.0)).ln() };
        let mut lowest = loss(&map);
        for _ in 0..MOST_STEPS {
            // A small ridge on the second derivatives handles equal predictions.
            let (mut aa, mut ab, mut bb, mut a, mut b) = (1e-12, 0.0, 1e-12, 0.0, 0.0);
            for &((x, target), weight) in &rows {
                let p = map.probability(*x);
                let (first, second) = (weight * (p - target), weight * p * (1.0 - p));
                (aa, ab, bb) = (aa + second * x * x, ab + second * x, bb + second);
                (a, b) = (a + first * x, b + first);
            }
            let determinant = aa * bb - ab * ab;
            let (by_slope, by_intercept) = ((bb * a - ab * b) / determinant, (aa * b - ab * a) / determinant);
            let descent = a * by_slope + b * by_intercept;
            if descent.is_nan() || descent <= 1e-14 * lowest.max(1e-300) {
                break;
            }
            let at = |step: f64| PlattScaling {
                slope: map.slope - step * by_slope,
                intercept: map.intercept - step * by_intercept,
            };
            let tried = (0..40).map(|halvings| 0.5f64.powi(halvings)).map(|step| (step, at(step)));
            let found = tried
                .map(|(step, map)| (step, loss(&map), map))
                .find(|(step, value, _)| *value <= lowest - SUFFICIENT_FALL * step * descent);
            let Some((_, value, better)) = found else { break };
            (lowest, map) = (value, better);
        }
        map
    }
}

/// Stratified folds of the rows.
fn stratified_folds(design: &Design) -> Option<Vec<Round>> {
    let folds = Some(design.rows().min(10));
    let kfold = KFold { folds, shuffle: true, stratified: true, ..KFold::default() };
    match kfold.folds(design).ok()? {
        HeldOut::Folds(rounds) => Some(rounds),
        _ => None,
    }
}

fn sigmoid(logit: f64) -> f64 {
    if logit >= 0.0 { 1.0 / (1.0 + (-logit).exp()) } else { logit.exp() / (1.0 + logit.exp()) }
}

impl ValidSelector {
    /// Fits the calibration of class probabilities on held-out predictions. They are of the cross-validated search if
    /// there are any, else of the criterion for the final subset. Returns `None` for numbers and without held-out
    /// predictions.
    pub(crate) fn calibration(
        &self,
        sample: &Sample,
        problem: &Problem,
        design: &Design,
        selection: &Selection,
        watcher: &StageMonitor<'_>,
    ) -> Result<Option<Calibration>> {
        if *sample.task() == Task::Regression || selection.path.stop_reason.is_partial() {
            return Ok(None);
        }
        let held_out = held_out(self, sample, &selection.chosen, watcher)?;
        Ok(match held_out {
            _ if watcher.check_stop().is_some() => None,
            Some(PooledPredictions { targets, predictions, weights, .. }) => {
                let found = Calibration::new(targets.view(), predictions.view(), &weights);
                found.map(Calibration::in_cross_validation)
            }
            None => self.subset_calibration(sample, problem, design, selection, watcher),
        })
    }

    /// Fits the calibration on held-out predictions of the final subset, by the criterion's folds. A criterion without
    /// folds uses leave-one-out. A final model or refitted preprocessing needs stratified folds instead. Returns `None`
    /// if: predictions are averaged over rows; leave-one-out is needed but single rows are not independent; the work
    /// was stopped. Cost: one fit per fold.
    pub fn subset_calibration(
        &self,
        sample: &Sample,
        problem: &Problem,
        design: &Design,
        selection: &Selection,
        watcher: &StageMonitor<'_>,
    ) -> Option<Calibration> {
        if prediction_units(design).is_some() {
            return None;
        }
        let entry = selection.path.result();
        if let (Some(_), Some(last), Some(entry)) = (&selection.final_model, &self.model, entry) {
            let held_out = match self.criterion.folds(design).ok()? {
                HeldOut::Folds(rounds) => rounds,
                _ if !sample.has_single_rows() => return None,
                _ => stratified_folds(design)?,
            };
            let found = last.predicted_held_out(self, problem, held_out.first()?, &entry.subset, watcher).ok()??;
            return Calibration::from_rows(CalibrationSource::Folds, design, &found);
        }
        if entry.is_some_and(|entry| entry.fit != EntryFit::Readout) {
            return None;
        }
        // A failed computation gives `None`; asking for probabilities later explains it.
        let held_out = match self.criterion.folds(design).ok()? {
            HeldOut::Nothing if design.problem().in_folds().is_by_formula() => {
                HeldOut::Folds(stratified_folds(design)?)
            }
            HeldOut::Nothing => HeldOut::EachRow,
            held_out => held_out,
        };
        let is_of_rows = held_out == HeldOut::EachRow;
        if is_of_rows && !sample.has_single_rows() {
            return None;
        }
        let (subset, lambda) = entry.map_or((&[][..], None), |entry| (&entry.subset[..], entry.score.lambda));
        let found = predicted_held_out(design, &held_out, subset, lambda.or(selection.model.lambda()));
        let from = if is_of_rows { CalibrationSource::LeaveOneOut } else { CalibrationSource::Folds };
        Calibration::from_rows(from, design, &found.ok().flatten()?)
    }
}

impl Calibration {
    /// Fits the calibration on the targets (±1, classes in outputs) and predictions of outer folds, outputs × rows.
    /// Returns `None` if no row has weight or a prediction is not finite.
    pub fn new(targets: ArrayView2<'_, f64>, predictions: ArrayView2<'_, f64>, weights: &[f64]) -> Option<Self> {
        let rows: Vec<usize> = (0..targets.ncols()).filter(|&row| weights[row] > 0.0).collect();
        if rows.is_empty() || predictions.iter().any(|p| !p.is_finite()) {
            return None;
        }
        let weights = gather(weights, &rows);
        let map = |output: usize| {
            let predictions: Vec<f64> = rows.iter().map(|&row| predictions[[output, row]]).collect();
            let is_of_class: Vec<bool> = rows.iter().map(|&row| targets[[output, row]] > 0.0).collect();
            PlattScaling::fit(&predictions, &is_of_class, &weights)
        };
        let maps: Vec<PlattScaling> = (0..targets.nrows()).map(map).collect();
        let is_finite = maps.iter().all(|map| map.slope.is_finite() && map.intercept.is_finite());
        is_finite.then_some(Calibration { from: CalibrationSource::Nested, rows: rows.len(), maps })
    }

    /// Records that the predictions are of the cross-validated search.
    #[must_use]
    pub fn in_cross_validation(self) -> Self {
        Calibration { from: CalibrationSource::CrossValidation, ..self }
    }

    /// Fits the calibration on predictions for rows of a design.
    fn from_rows(from: CalibrationSource, design: &Design, found: &HeldOutPredictions) -> Option<Self> {
        let HeldOutPredictions { rows, predictions } = found;
        let weights: Vec<f64> = rows.iter().map(|&row| row_weights(design.weights())(row)).collect();
        let found = Calibration::new(design.targets().select(Axis(1), rows).view(), predictions.view(), &weights)?;
        Some(Calibration { from, ..found })
    }

    /// Class probabilities, classes × rows, from predictions, outputs × rows; the negative of two classes comes first.
    pub fn probabilities(&self, predictions: ArrayView2<'_, f64>) -> Array2<f64> {
        let (outputs, rows) = predictions.dim();
        if outputs == 1 {
            let positive = |row: usize| self.maps[0].probability(predictions[[0, row]]);
            return Array2::from_shape_fn(
                (2, rows),
                |(class, row)| {
                    if class == 1 { positive(row) } else { 1.0 - positive(row) }
                },
            );
        }
        let mut all =
            Array2::from_shape_fn((outputs, rows), |(o, row)| self.maps[o].probability(predictions[[o, row]]));
        for mut of_row in all.columns_mut() {
            let sum = of_row.sum();
            of_row.mapv_inplace(|p| if sum > 0.0 { p / sum } else { 1.0 / outputs as f64 });
        }
        all
    }
}
