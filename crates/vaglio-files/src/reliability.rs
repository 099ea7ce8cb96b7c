//! Calibration of class probabilities on held-out rows.
//!
//! The saved model's logistic maps are fitted on all held-out rows. Here, each fold uses maps fitted on the other
//! folds, so that no row affects its own probability.

use ndarray::Array2;
use vaglio_core::select_rows;
use vaglio_pipeline::pipeline::{Calibration, CalibrationSource};
use vaglio_pipeline::resampling::Pooled;
use vaglio_report::record::{PredictionRows, ReliabilityRecord};

/// Calibration of held-out predictions; `None` for a single fold, and if no maps can be fitted.
pub(super) fn reliability(from: PredictionRows, pooled: &Pooled) -> Option<ReliabilityRecord> {
    if pooled.ends.len() < 2 {
        return None;
    }
    let (outputs, all_weights) = (pooled.targets.nrows(), &pooled.weights);
    let mut probabilities = Array2::zeros((outputs.max(2), pooled.targets.ncols()));
    let starts = std::iter::once(0).chain(pooled.ends.iter().copied());
    for (from, to) in starts.zip(pooled.ends.iter().copied()) {
        let fold = from..to;
        let others: Vec<usize> = (0..pooled.targets.ncols()).filter(|row| !fold.contains(row)).collect();
        let (targets, predictions) = (select_rows(&pooled.targets, &others), select_rows(&pooled.predictions, &others));
        let weights: Vec<f64> = others.iter().map(|&row| all_weights[row]).collect();
        let maps = Calibration::new(CalibrationSource::Nested, targets.view(), predictions.view(), &weights)?;
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
    use vaglio_pipeline::resampling::loss_sums::TargetsAndPredictions;
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
            Pooled::from_rows(rows)
        });
        let folds: Vec<Pooled> = folds.collect();
        let compared = |count: usize| Pooled::new(folds.iter().take(count));
        let pooled = compared(3).unwrap();
        let found = reliability(PredictionRows::Nested, &pooled).unwrap();
        // Plain loops: maps of the other two folds, row by row.
        let mut sum = 0.0;
        for fold in 0..3 {
            let others: Vec<usize> = (0..rows).filter(|row| row / 20 != fold).collect();
            let (y, f) = (select_rows(&targets, &others), select_rows(&predictions, &others));
            let map = Calibration::new(CalibrationSource::Nested, y.view(), f.view(), &[1.0; 40]).unwrap().maps[0];
            for row in 20 * fold..20 * fold + 20 {
                let y = if targets[[0, row]] > 0.0 { 1.0 } else { 0.0 };
                sum += (map.probability(predictions[[0, row]]) - y).powi(2);
            }
        }
        assert!((found.brier - sum / rows as f64).abs() < 1e-12, "{} is not {}", found.brier, sum / rows as f64);
        assert_eq!(reliability(PredictionRows::Nested, &compared(1).unwrap()), None);
    }
}
