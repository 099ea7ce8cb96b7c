//! Losses accumulated over parts of the rows, each with its own state.

use super::{Scorer, Targets};
use crate::Measure;
use crate::sums::axpy;

impl Scorer {
    /// Restricts the loss to the rows that `is_in` accepts. Residuals are scaled like the targets of `state`, which may
    /// have other weights. Cost O(m).
    ///
    /// Rows outside may have any residual. [`Scorer::join`] combines the contributions of a partition's parts into the
    /// loss.
    #[must_use]
    pub fn restrict(&self, state: &Targets, is_in: impl Fn(usize) -> bool) -> Self {
        let factor = |j: usize| if is_in(j) { self.targets.root(j) / state.root(j) } else { 0.0 };
        let lacks_rows = (0..self.targets.rows()).any(|j| !is_in(j) && self.targets.weight(j) > 0.0);
        Scorer { factors: Some((0..self.targets.rows()).map(factor).collect()), lacks_rows, ..self.clone() }
    }

    /// Whether the loss is not restricted to a part of the rows.
    pub fn is_whole(&self) -> bool {
        self.factors.is_none()
    }

    /// Combines the contributions of all parts, each a number and partial sums, into the loss of all rows. Cost
    /// O(parts), and O(parts · m) for losses of all rows and for units.
    pub fn join<'t>(&self, parts: impl IntoIterator<Item = (f64, &'t [f64])>) -> f64 {
        let (mut sum, mut tally) = (0.0, self.start());
        let must_gather = self.is_gathered();
        tally.whole = Vec::new();
        for (loss, whole) in parts {
            sum += loss;
            if tally.whole.is_empty() {
                tally.whole = whole.to_vec();
            } else {
                axpy(1.0, whole, &mut tally.whole);
            }
        }
        if must_gather && !tally.whole.is_empty() { self.total(&tally) } else { sum }
    }

    /// Copies the part's residuals into those of all rows, scaled by √r_j. Cost O(m · outputs).
    pub fn place(&self, residuals: &[Vec<f64>], all: &mut [Vec<f64>]) {
        for (own, all) in residuals.iter().zip(all) {
            for (j, (e, all)) in own.iter().zip(all).enumerate().filter(|(j, _)| !self.is_outside(*j)) {
                *all = self.factors.as_ref().map_or(*e, |factors| e * factors[j]);
            }
        }
    }

    /// Whether the loss needs the gathered values of all rows.
    pub(super) fn is_gathered(&self) -> bool {
        self.units.is_some() || matches!(self.measure, Measure::Auc | Measure::Whole)
    }

    pub(super) fn is_outside(&self, row: usize) -> bool {
        self.factors.as_ref().is_some_and(|factors| factors[row] == 0.0)
    }

    /// Residuals scaled by √r_j and 0 outside the part; `None` if no rescaling is needed.
    pub(super) fn rescale(&self, start: usize, residuals: &[Vec<f64>], rows: usize) -> Option<Vec<Vec<f64>>> {
        let factors = &self.factors.as_ref()?[start..start + rows];
        let scale = |(e, factor): (&f64, &f64)| if *factor == 0.0 { 0.0 } else { e * factor };
        Some(residuals.iter().map(|residual| residual.iter().zip(factors).map(scale).collect()).collect())
    }
}
