//! Predictions of held-out rows: their errors, and the calibration of class probabilities.

use super::{Evaluation, EvaluationResults, Run};
use crate::rows::evenly_spaced;
use crate::train_test::TrainTest;
use ndarray::{Array2, ArrayView2};
use vaglio_core::{Result, gather, select_rows};
use vaglio_pipeline::final_fit::train;
use vaglio_pipeline::pipeline::Calibration;
use vaglio_pipeline::resampling::{self, OuterFoldFit, PooledPredictions};
use vaglio_report::record::{Figures, PredictionRows, ReliabilityRecord, ShownPredictions, brier, class_of};

/// Limit on the rows whose predictions a record holds.
const SHOWN: usize = 2000;

/// Pools held-out predictions: of the outer folds, else of the folds of the cross-validated search. Calibrates class
/// probabilities with them, or with the criterion's own held-out predictions of the final subset.
pub const EVALUATION: Evaluation = Evaluation::new("held out", |run, found, watcher| {
    let Run { prepared, selector, design, selection, .. } = run;
    let classes = !prepared.is_regression();
    let first: Vec<&OuterFoldFit> = found.outer.iter().filter(|outer| outer.repeat == 0).collect();
    found.held_out = if !first.is_empty() {
        let mut pooled = PooledPredictions::new(first.iter().map(|fold| &fold.held))?;
        pooled.set_rows(first.iter().map(|fold| &fold.rows));
        Some((PredictionRows::Nested, pooled))
    } else if classes || prepared.test.is_none() {
        let pooled = resampling::held_out(selector, &prepared.sample, &selection.chosen, watcher)?;
        pooled.map(|pooled| (PredictionRows::CrossValidation, pooled))
    } else {
        None
    };
    if !classes || watcher.check_stop().is_some() {
        return Ok(());
    }
    let record = &mut found.record;
    record.calibration = found.held_out.as_ref().and_then(|(from, pooled)| reliability(*from, pooled));
    if let (Some(nested), Some(found)) = (&mut record.nested, &record.calibration) {
        nested.figures.brier = (found.from == PredictionRows::Nested).then_some(found.brier);
    }
    found.calibration = match &found.held_out {
        Some((from, pooled)) => {
            let found = Calibration::new(pooled.targets.view(), pooled.predictions.view(), &pooled.weights);
            if *from == PredictionRows::Nested { found } else { found.map(Calibration::in_cross_validation) }
        }
        None => selector.subset_calibration(&prepared.sample, &prepared.train, design, selection, watcher),
    };
    Ok(())
});

impl EvaluationResults {
    /// Records figures and predictions of test rows and of rows held out in folds.
    pub fn record_predictions(&mut self, run: Run<'_>) -> Result<()> {
        let Run { prepared, design, selection, .. } = run;
        let loss = &*run.loss();
        let test = prepared.test_predictions(selection.predictor())?;
        if let Some(test) = &test {
            let figures = prepared.test_figures(test, loss)?;
            let empty = train(design, &[], selection.path.empty.lambda)?;
            let empty_loss = prepared.figures(&empty, loss)?.map(|empty| empty.loss);
            let brier = self.calibration.as_ref().map(|maps| {
                let probabilities = maps.probabilities(test.predictions.view());
                brier(test.targets.view(), probabilities.view(), Some(&test.weights))
            });
            let [empty_loss, brier] = [empty_loss, brier].map(|figure| figure.filter(|figure| figure.is_finite()));
            self.record.test = Some(Figures { empty_loss, brier, ..figures });
        }
        let held_out = self.held_out.take();
        self.record.report.figures = match &held_out {
            Some((PredictionRows::CrossValidation, pooled)) => {
                let brier = self.record.calibration.as_ref().map(|found| found.brier);
                Some(Figures { brier, ..prepared.pooled_figures(pooled, loss) })
            }
            _ => None,
        };
        let is_nested = matches!(held_out, Some((PredictionRows::Nested, _)));
        let test = test.filter(|_| !is_nested).map(|test| (PredictionRows::Test, test));
        let problem = if test.is_some() { prepared.test.as_ref() } else { Some(&prepared.train) };
        // Condensed rows are none of the data.
        let are_rows = problem.is_none_or(|problem| problem.labels().counts.is_none());
        self.held_out = test.or(held_out).filter(|_| are_rows);
        self.record.report.predictions = self.held_out.as_ref().map(|(from, pooled)| shown(*from, prepared, pooled));
        Ok(())
    }
}

/// Predictions of all rows, or of a limited number of evenly spaced ones.
fn shown(from: PredictionRows, prepared: &TrainTest, pooled: &PooledPredictions) -> ShownPredictions {
    let targets = pooled.targets.view();
    let rows = targets.ncols();
    let kept: Vec<usize> = evenly_spaced(rows, SHOWN).collect();
    let lists = |values: ArrayView2<'_, f64>| -> Vec<Vec<f64>> {
        values.rows().into_iter().map(|row| kept.iter().map(|&j| row[j]).collect()).collect()
    };
    let observed = if prepared.is_regression() {
        lists(targets)
    } else {
        vec![kept.iter().map(|&j| class_of(targets.column(j)) as f64).collect()]
    };
    let mut weights = gather(&pooled.weights, &kept);
    if weights.iter().all(|weight| *weight == weights[0]) {
        weights.clear();
    }
    ShownPredictions { from, rows, observed, predicted: lists(pooled.predictions.view()), weights }
}

/// Calibration of held-out predictions; `None` for a single fold, and if no maps can be fitted. The saved model's
/// logistic maps are fitted on all held-out rows. Here, each fold uses maps fitted on the other folds, so that no row
/// affects its own probability.
fn reliability(from: PredictionRows, pooled: &PooledPredictions) -> Option<ReliabilityRecord> {
    if pooled.ends.len() < 2 {
        return None;
    }
    let outputs = pooled.targets.nrows();
    let all_weights = &pooled.weights;
    let mut probabilities = Array2::zeros((outputs.max(2), pooled.targets.ncols()));
    for fold in pooled.folds() {
        let others: Vec<usize> = (0..pooled.targets.ncols()).filter(|row| !fold.contains(row)).collect();
        let targets = select_rows(&pooled.targets, &others);
        let predictions = select_rows(&pooled.predictions, &others);
        let weights = gather(all_weights, &others);
        let maps = Calibration::new(targets.view(), predictions.view(), &weights)?;
        let own: Vec<usize> = fold.collect();
        let found = maps.probabilities(select_rows(&pooled.predictions, &own).view());
        for (row, column) in own.iter().zip(found.columns()) {
            probabilities.column_mut(*row).assign(&column);
        }
    }
    Some(ReliabilityRecord::new(from, pooled.targets.view(), probabilities.view(), all_weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_pipeline::resampling::TargetsAndPredictions;
    use vaglio_testkit::SplitMix64;

    #[test]
    fn no_row_has_a_part_in_its_own_probability() {
        let mut random = SplitMix64::new(5);
        let rows = 60;
        let targets = Array2::from_shape_fn((1, rows), |_| if random.uniform() < 0.4 { 1.0 } else { -1.0 });
        let predictions = Array2::from_shape_fn((1, rows), |(_, row)| 0.6 * targets[[0, row]] + random.normal());
        let parts: Vec<(Array2<f64>, Array2<f64>)> = (0..3)
            .map(|fold| {
                let own: Vec<usize> = (20 * fold..20 * fold + 20).collect();
                (select_rows(&targets, &own), select_rows(&predictions, &own))
            })
            .collect();
        let folds = parts.iter().map(|(targets, predictions)| {
            let (targets, predictions) = (targets.view(), predictions.view());
            let rows = TargetsAndPredictions { targets, predictions, weights: None, units: None, clusters: None };
            PooledPredictions::from_rows(rows)
        });
        let folds: Vec<PooledPredictions> = folds.collect();
        let compared = |count: usize| PooledPredictions::new(folds.iter().take(count));
        let pooled = compared(3).unwrap();
        let found = reliability(PredictionRows::Nested, &pooled).unwrap();
        // Plain loops: maps of the other two folds, row by row.
        let mut sum = 0.0;
        for fold in 0..3 {
            let others: Vec<usize> = (0..rows).filter(|row| row / 20 != fold).collect();
            let (y, f) = (select_rows(&targets, &others), select_rows(&predictions, &others));
            let map = Calibration::new(y.view(), f.view(), &[1.0; 40]).unwrap().maps[0];
            for row in 20 * fold..20 * fold + 20 {
                let y = if targets[[0, row]] > 0.0 { 1.0 } else { 0.0 };
                sum += (map.probability(predictions[[0, row]]) - y).powi(2);
            }
        }
        assert!((found.brier - sum / rows as f64).abs() < 1e-12, "{} is not {}", found.brier, sum / rows as f64);
        assert_eq!(reliability(PredictionRows::Nested, &compared(1).unwrap()), None);
    }
}
