//! Residuals averaged over units of rows before the loss.

use super::{Scorer, Targets};
use std::sync::Arc;
use vaglio_columns::gather;

/// Units of rows and the loss of their residuals.
#[derive(Debug)]
pub(super) struct Units {
    /// Unit of each row.
    row_units: Vec<usize>,
    /// Share of each row in its unit, divided by √r_j.
    steps: Vec<f64>,
    /// Scorer with units as rows.
    scorer: Scorer,
}

impl Scorer {
    /// Scores units of rows: the residual of a unit is Σ_j share_j (y_j − prediction of row j) over its rows.
    ///
    /// `row_units` and `shares` have one entry per row. `targets`, equal for all rows of a unit, has one slice per output
    /// with one entry per unit; `weights` has one entry per unit, all 1 if absent. Cost O(m).
    #[must_use]
    pub fn by_units(self, row_units: &[usize], shares: &[f64], targets: &[Vec<f64>], weights: Option<&[f64]>) -> Self {
        let unit_targets = Targets::new(targets, weights);
        let steps = shares.iter().enumerate().map(|(j, share)| share / self.targets.root(j)).collect();
        let scorer = Scorer { custom: self.custom.clone(), ..Scorer::new(Arc::new(unit_targets), self.measure) };
        let units = Units { row_units: row_units.to_vec(), steps, scorer };
        Scorer { units: Some(Arc::new(units)), ..self }
    }
}

impl Units {
    pub fn count(&self) -> usize {
        self.scorer.targets.rows()
    }

    /// Permutes the rows.
    pub fn permute(&self, order: &[usize]) -> Self {
        let (row_units, steps) = (gather(&self.row_units, order), gather(&self.steps, order));
        Units { row_units, steps, scorer: self.scorer.clone() }
    }

    /// Adds the rows from `start` to the residuals of their units: outputs × units.
    pub fn add(&self, sums: &mut [f64], start: usize, residuals: &[Vec<f64>], rows: usize) {
        for (sums, residual) in sums.chunks_mut(self.count().max(1)).zip(residuals) {
            for (j, e) in residual[..rows].iter().enumerate() {
                sums[self.row_units[start + j]] += self.steps[start + j] * e;
            }
        }
    }

    /// Mean loss over units, from the sums of their residuals.
    pub fn loss(&self, sums: &[f64]) -> f64 {
        let scaled = |(u, e): (usize, &f64)| self.scorer.targets.root(u) * e;
        let scaled = sums.chunks(self.count().max(1)).map(|sums| sums.iter().enumerate().map(scaled).collect());
        self.scorer.loss(&scaled.collect::<Vec<Vec<f64>>>())
    }
}
