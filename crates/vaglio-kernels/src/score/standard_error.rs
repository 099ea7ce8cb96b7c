//! Standard errors of losses.

use super::Scorer;
use super::jackknife::Part;
use crate::sums::sum_of;
use crate::{Folds, Measure};

impl Scorer {
    /// Standard error of the loss over rows that count, or over units; `None` for fewer than 2 and if undefined.
    ///
    /// For a mean it is √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows). For losses of classes and AUC, which depend on all rows,
    /// it is the jackknife √((m − 1)/m · Σ_j (θ_j − θ̄)²) with θ_j the loss without row j. Cost O(m · outputs), AUC O(m
    /// log m).
    pub fn standard_error(&self, residuals: &[Vec<f64>]) -> Option<f64> {
        if let Some(units) = &self.units {
            return units.scorer().standard_error(&units.decide(residuals));
        }
        let targets = &*self.targets;
        let counts = |row: &usize| targets.weight(*row) > 0.0;
        let count = (0..targets.rows()).filter(counts).count();
        if count < 2 {
            return None;
        }
        if self.measure == Measure::Whole {
            return self.error_of_all(residuals);
        }
        if self.is_pooled() {
            let parts: Vec<Part> =
                (0..targets.rows()).filter(counts).map(|row| vec![(row, targets.weight(row))]).collect();
            return self.jackknife(residuals, &parts);
        }
        let losses = self.row_losses(residuals);
        let mean = self.mean_over_rows(&losses, |loss| loss);
        let variance = self.mean_over_rows(&losses, |loss| (loss - mean) * (loss - mean));
        Some((variance / count as f64).sqrt())
    }

    fn mean_over_rows(&self, losses: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        let sum = match &self.targets.root {
            None => sum_of(losses, losses, |loss, _| f(loss)),
            Some(root) => sum_of(losses, root, |loss, root| if root > 0.0 { root * root * f(loss) } else { 0.0 }),
        };
        sum / self.targets.total_weight
    }

    /// Losses of all rows; those of rows with weight 0 are meaningless.
    fn row_losses(&self, residuals: &[Vec<f64>]) -> Vec<f64> {
        match (self.measure, &self.targets.root, residuals) {
            (Measure::Squared, None, [of_one]) => of_one.iter().map(|e| e * e).collect(),
            (Measure::Absolute, None, [of_one]) => of_one.iter().map(|e| e.abs()).collect(),
            _ => (0..self.targets.rows()).map(|j| self.row_loss(j, |o| residuals[o][j])).collect(),
        }
    }

    /// Standard error of the loss from its variation over folds, since the rows of a fold share their model.
    ///
    /// With c_k the contribution of fold k to a mean and p_k its share of the weight, SE² = K/(K−1)·Σ_k (c_k −
    /// p_k·Σc)². For losses of classes and AUC it is the jackknife over folds, `None` if a fold holds all rows of a
    /// class (AUC). A unit belongs to folds by the shares of its rows. Cost O(m · outputs), AUC O(m log m).
    pub fn standard_error_over(&self, folds: &Folds, residuals: &[Vec<f64>]) -> Option<f64> {
        let decided = self.units.as_ref().map(|units| (units, units.decide(residuals)));
        let (scorer, residuals) = decided.as_ref().map_or((self, residuals), |(units, own)| (units.scorer(), &own[..]));
        // Left out with a row: the row itself, or its share of its unit.
        let goes = |row: usize| match &self.units {
            Some(units) => units.share(row),
            None => (row, 1.0),
        };
        // Skips folds that are never held out: they have no weight.
        let counts = |fold: &usize| folds.held_out(*fold).iter().any(|&row| self.targets.weight(row) > 0.0);
        let parts = (0..folds.count()).filter(counts).map(|fold| folds.held_out(fold).iter().map(|&row| goes(row)));
        if scorer.is_pooled() {
            let weigh = |(row, share): (usize, f64)| (row, share * scorer.targets.weight(row));
            return scorer.jackknife(residuals, &parts.map(|part| part.map(weigh).collect()).collect::<Vec<Part>>());
        }
        let of_part = |part: &mut dyn Iterator<Item = (usize, f64)>| {
            part.fold((0.0, 0.0), |(loss, weight), (row, share)| {
                let share = share * (scorer.targets.weight(row) / scorer.targets.total_weight);
                (loss + share * scorer.row_loss(row, |o| residuals[o][row]), weight + share)
            })
        };
        Some(over_folds(&parts.map(|mut part| of_part(&mut part)).collect::<Vec<_>>()))
    }

    /// Like [`Scorer::standard_error_over`], but from each fold's sum of squared errors over rows and outputs.
    pub fn error_over_folds(&self, sums: &[f64], folds: &Folds) -> f64 {
        let weight = |fold: usize| folds.held_out(fold).iter().map(|&row| self.targets.weight(row)).sum::<f64>();
        let part = |(fold, sum): (usize, &f64)| (sum / self.divisor, weight(fold) / self.targets.total_weight);
        over_folds(&sums.iter().enumerate().map(part).collect::<Vec<_>>())
    }

    /// Loss of one row, from its scaled residuals.
    pub(super) fn row_loss(&self, row: usize, residual: impl Fn(usize) -> f64) -> f64 {
        let (root, outputs) = (self.targets.root(row), self.targets.outputs());
        let over_outputs = |f: &dyn Fn(f64) -> f64| (0..outputs).map(|o| f(residual(o) / root)).sum::<f64>();
        match self.measure {
            Measure::Squared | Measure::BalancedSquared => over_outputs(&|e| e * e) / outputs as f64,
            Measure::Absolute => over_outputs(&f64::abs) / outputs as f64,
            Measure::Rows => self.of_rows().of(row, residual) / self.targets.weight(row),
            _ => self.error(row, residual),
        }
    }
}

/// √(K/(K−1)·Σ_k (c_k − p_k·Σc)²) from the pairs (c_k, p_k).
fn over_folds(parts: &[(f64, f64)]) -> f64 {
    let (count, mean) = (parts.len() as f64, parts.iter().map(|(c, _)| c).sum::<f64>());
    let squares: f64 = parts.iter().map(|(c, p)| (c - p * mean) * (c - p * mean)).sum();
    (count / (count - 1.0).max(1.0) * squares).sqrt()
}
