//! Losses of predictions that a user defines.

use super::Scorer;
use crate::f64x8::F64x8;
use std::fmt::Debug;

/// A user-defined loss of predictions. Targets and predictions are row-major over outputs.
pub trait CustomLoss: Debug + Send + Sync {
    /// Losses of several rows of one output, or of one row of several outputs, for [`Measure::Rows`](crate::Measure::Rows).
    fn row_losses(&self, targets: &[f64], predictions: &[f64], losses: &mut [f64]);

    /// Loss of all rows, with one entry of `weights` per row, for [`Measure::Whole`](crate::Measure::Whole).
    fn total_loss(&self, targets: &[f64], predictions: &[f64], weights: &[f64]) -> f64;
}

/// Rows of one output passed to the loss together.
const TOGETHER: usize = 512;

impl Scorer {
    /// Prediction of a row from its scaled residual; 0 if it does not count.
    #[inline(always)]
    pub(super) fn prediction(&self, output: usize, row: usize, residual: f64) -> f64 {
        let root = self.targets.root(row);
        if root == 0.0 || self.is_outside(row) { 0.0 } else { (self.targets.scaled[output][row] - residual) / root }
    }

    /// Targets and residuals of a single output if all rows count alike.
    fn plain<'s>(&'s self, residuals: &'s [Vec<f64>]) -> Option<(&'s [f64], &'s [f64])> {
        match (&self.targets.scaled[..], residuals, &self.targets.root, &self.factors) {
            ([y], [e], None, None) => Some((y, e)),
            _ => None,
        }
    }

    /// Appends the predictions of the rows from `start`, row-major, from their scaled residuals.
    pub(super) fn extend_predictions(&self, out: &mut Vec<f64>, start: usize, residuals: &[Vec<f64>], rows: usize) {
        if let Some((y, e)) = self.plain(residuals) {
            return out.extend(y[start..start + rows].iter().zip(&e[..rows]).map(|(y, e)| y - e));
        }
        for (j, row) in (start..start + rows).enumerate() {
            out.extend(residuals.iter().enumerate().map(|(o, e)| self.prediction(o, row, e[j])));
        }
    }

    /// Target of a row that counts.
    #[inline(always)]
    fn target(&self, output: usize, row: usize) -> f64 {
        self.targets.scaled[output][row] / self.targets.root(row)
    }

    /// Adds the losses of the rows from `start` to eight lanes in turn; NaN without a custom loss.
    pub(super) fn add_rows(&self, lanes: &mut F64x8, start: usize, residuals: &[Vec<f64>], rows: usize) {
        let Some(custom) = &self.custom else { return *lanes = F64x8::splat(f64::NAN) };
        let mut add = |j: usize, loss: f64| lanes.update(j % F64x8::WIDTH, |sum| sum + loss);
        if let Some((y, e)) = self.plain(residuals) {
            let (mut predictions, mut losses) = ([0.0; TOGETHER], [0.0; TOGETHER]);
            for (y, e) in y[start..start + rows].chunks(TOGETHER).zip(e[..rows].chunks(TOGETHER)) {
                predictions.iter_mut().zip(y).zip(e).for_each(|((p, y), e)| *p = y - e);
                custom.row_losses(y, &predictions[..y.len()], &mut losses[..y.len()]);
                losses[..y.len()].iter().enumerate().for_each(|(j, loss)| add(j, *loss));
            }
            return;
        }
        let ([mut targets, mut predictions], mut loss) = ([0, 1].map(|_| vec![0.0; residuals.len()]), [0.0]);
        for (j, row) in (start..start + rows).enumerate() {
            let weight = self.targets.weight(row);
            if weight == 0.0 || self.is_outside(row) {
                continue;
            }
            for (o, (y, p)) in targets.iter_mut().zip(&mut predictions).enumerate() {
                (*y, *p) = (self.target(o, row), self.prediction(o, row, residuals[o][j]));
            }
            custom.row_losses(&targets, &predictions, &mut loss);
            add(j, weight * loss[0]);
        }
    }

    /// Loss of the rows with positive weight, from their row-major predictions; NaN without a custom loss.
    pub(super) fn total_loss(&self, predictions: &[f64]) -> f64 {
        let Some(custom) = &self.custom else { return f64::NAN };
        let outputs = self.targets.outputs();
        let rows: Vec<usize> = (0..self.targets.rows()).filter(|&row| self.targets.weight(row) > 0.0).collect();
        let gather_rows = |value: &dyn Fn(usize, usize) -> f64| {
            rows.iter().flat_map(|&row| (0..outputs).map(move |o| value(o, row))).collect::<Vec<f64>>()
        };
        custom.total_loss(
            &gather_rows(&|o, row| self.target(o, row)),
            &gather_rows(&|o, row| predictions[row * outputs + o]),
            &rows.iter().map(|&row| self.targets.weight(row)).collect::<Vec<_>>(),
        )
    }
}
