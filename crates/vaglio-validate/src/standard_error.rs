//! Standard errors of losses of held-out rows.

use crate::fits::RoundFits;
use ndarray::{Array2, Axis};
use vaglio_core::{error_over_parts, gather, in_loss_units, prediction_units, row_weights};

impl RoundFits<'_> {
    /// Standard error of the mean loss over rows, or over folds, whose rows share their model. Designs with prediction
    /// units score these. Cost O(m · outputs) and that of the loss.
    pub fn standard_error(&self, residuals: &[Vec<f64>]) -> Option<f64> {
        let (design, folds) = (self.design, &self.rows.folds);
        let rows = folds.rows_held_out();
        let weight = row_weights(design.weights());
        let (row_parts, targets, weights) = match prediction_units(design) {
            Some(units) => (
                units.per_row.iter().copied().zip(units.shares.iter().copied()).collect::<Vec<(usize, f64)>>(),
                units.targets.clone(),
                units.weights.clone(),
            ),
            None => {
                let mut places = vec![(0, 1.0); design.rows()];
                rows.iter().enumerate().for_each(|(place, &row)| places[row].0 = place);
                let weights = design.weights().map(|_| rows.iter().map(|&row| weight(row)).collect());
                (places, design.targets().select(Axis(1), &rows), weights)
            }
        };
        let mut errors = Array2::<f64>::zeros(targets.dim());
        for &row in &rows {
            let (unit, share) = row_parts[row];
            for (output, own) in residuals.iter().enumerate() {
                errors[[output, unit]] += share * (own[row] / weight(row).sqrt());
            }
        }
        let parts: Option<Vec<Vec<(usize, f64)>>> = (!self.are_independent).then(|| {
            let part = |fold: usize| gather(&row_parts, folds.held_out(fold));
            (0..folds.count_held_out()).map(part).collect()
        });
        let predictions = &targets - &errors;
        let [targets, predictions] =
            [&targets, &predictions].map(|values| in_loss_units(design, &*self.loss, values.view()));
        self.loss.standard_error(targets.view(), predictions.view(), weights.as_deref(), parts.as_deref())
    }

    /// Like [`RoundFits::standard_error`], but from each fold's sum of squared errors over rows and outputs.
    pub fn error_of_squares(&self, sums: &[f64]) -> f64 {
        let weight = row_weights(self.design.weights());
        let part = |(fold, sum): (usize, &f64)| {
            let own: f64 = self.rows.folds.held_out(fold).iter().map(|&row| weight(row)).sum();
            (self.scorer.mean_of(*sum), own / self.weight())
        };
        error_over_parts(&sums.iter().enumerate().map(part).collect::<Vec<_>>())
    }
}
