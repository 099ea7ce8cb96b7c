//! Standard errors of mean losses.

use super::{Measure, Scorer};
use crate::Folds;

impl Scorer {
    /// The standard error of the mean over rows, or units: √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows); balanced error adds up
    /// classes. `None` for a loss that is no mean.
    pub fn standard_error(&self, residuals: &[Vec<f64>]) -> Option<f64> {
        if let Some(units) = &self.units {
            return units.scorer().standard_error(&units.decide(residuals));
        }
        if self.measure == Measure::Auc {
            return None;
        }
        let targets = &*self.targets;
        let rows = targets.rows();
        let loss = |j: usize| self.row_loss(j, |o| residuals[o][j]);
        if self.measure == Measure::BalancedError {
            let present: Vec<usize> = (0..self.class_weights.len()).filter(|&c| self.class_weights[c] > 0.0).collect();
            let variance = |class: &usize| {
                let members: Vec<usize> = (0..rows).filter(|&j| self.classes[j] as usize == *class).collect();
                let total = self.class_weights[*class];
                let share = members.iter().map(|&j| targets.weight(j) * loss(j)).sum::<f64>() / total;
                share * (1.0 - share) / members.len() as f64
            };
            return Some(present.iter().map(variance).sum::<f64>().sqrt() / present.len() as f64);
        }
        let total = targets.total_weight;
        let mean = (0..rows).map(|j| targets.weight(j) * loss(j)).sum::<f64>() / total;
        let variance = (0..rows).map(|j| targets.weight(j) * (loss(j) - mean) * (loss(j) - mean)).sum::<f64>() / total;
        Some((variance / rows as f64).sqrt())
    }

    /// The standard error of the mean loss by the spread over folds, whose rows share their model.
    ///
    /// With c_k the part of the mean that comes from fold k, and p_k the part of the weight (for balanced error, the mean
    /// over classes of the part of the class): SE² = K/(K−1)·Σ_k (c_k − p_k·Σc)². A unit belongs to folds
    /// by the shares of its rows. `None` for a loss that is no mean. Cost O(m · outputs).
    pub fn standard_error_over(&self, folds: &Folds, residuals: &[Vec<f64>]) -> Option<f64> {
        if self.measure == Measure::Auc {
            return None;
        }
        let decided = self.units.as_ref().map(|units| units.decide(residuals));
        let part = |fold: usize| -> (f64, f64) {
            let (mut loss, mut weight) = (0.0, 0.0);
            for &row in folds.held_out(fold) {
                let (share, of_row) = match (&self.units, &decided) {
                    (Some(units), Some(decided)) => {
                        let (unit, share) = units.share(row);
                        let scorer = units.scorer();
                        (share * scorer.share(unit), scorer.row_loss(unit, |o| decided[o][unit]))
                    }
                    _ => (self.share(row), self.row_loss(row, |o| residuals[o][row])),
                };
                loss += share * of_row;
                weight += share;
            }
            (loss, weight)
        };
        Some(over_folds(&(0..folds.count()).map(part).collect::<Vec<_>>()))
    }

    /// The part of the mean that a row's loss has.
    fn share(&self, row: usize) -> f64 {
        let weight = self.targets.weight(row);
        if self.measure == Measure::BalancedError {
            let present = self.class_weights.iter().filter(|w| **w > 0.0).count() as f64;
            return weight / (self.class_weights[self.classes[row] as usize] * present);
        }
        weight / self.targets.total_weight
    }

    /// The same from the sums of squared errors of each fold over rows and outputs.
    pub fn error_over_folds(&self, sums: &[f64], folds: &Folds) -> f64 {
        let weight = |fold: usize| folds.held_out(fold).iter().map(|&row| self.targets.weight(row)).sum::<f64>();
        let part = |(fold, sum): (usize, &f64)| (sum / self.divisor, weight(fold) / self.targets.total_weight);
        over_folds(&sums.iter().enumerate().map(part).collect::<Vec<_>>())
    }

    /// The loss of one row, from its scaled residuals.
    fn row_loss(&self, row: usize, residual: impl Fn(usize) -> f64) -> f64 {
        let (root, outputs) = (self.targets.root(row), self.targets.outputs());
        let over_outputs = |f: &dyn Fn(f64) -> f64| (0..outputs).map(|o| f(residual(o) / root)).sum::<f64>();
        match self.measure {
            Measure::Squared => over_outputs(&|e| e * e) / outputs as f64,
            Measure::Absolute => over_outputs(&f64::abs) / outputs as f64,
            _ => f64::from(u8::from(self.is_wrong(row, residual))),
        }
    }
}

/// √(K/(K−1)·Σ_k (c_k − p_k·Σc)²) from the pairs (c_k, p_k).
fn over_folds(parts: &[(f64, f64)]) -> f64 {
    let (count, mean) = (parts.len() as f64, parts.iter().map(|(c, _)| c).sum::<f64>());
    let squares: f64 = parts.iter().map(|(c, p)| (c - p * mean) * (c - p * mean)).sum();
    (count / (count - 1.0).max(1.0) * squares).sqrt()
}
