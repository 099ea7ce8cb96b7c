//! Losses from parts of the rows, each with residuals of a state of its own.

use super::{Scorer, Targets};
use crate::Measure;

impl Scorer {
    /// The same loss of the rows that `is_in` says alone, for residuals that are scaled like those of `state`, the
    /// targets of a state with other weights. Cost O(m).
    ///
    /// Rows outside may have any residual. What the parts of a partition give, [`Scorer::join`] makes a loss of.
    #[must_use]
    pub fn of_part(&self, state: &Targets, is_in: impl Fn(usize) -> bool) -> Self {
        let factor = |j: usize| if is_in(j) { self.targets.root(j) / state.root(j) } else { 0.0 };
        let lacks_rows = (0..self.targets.rows()).any(|j| !is_in(j) && self.targets.weight(j) > 0.0);
        Scorer { factors: Some((0..self.targets.rows()).map(factor).collect()), lacks_rows, ..self.clone() }
    }

    /// The loss of all rows from what each part gave, a number and what is still to be added up. Cost O(parts), and
    /// O(parts · m) for losses of all rows and for units.
    pub fn join<'t>(&self, parts: impl IntoIterator<Item = (f64, &'t [f64])>) -> f64 {
        let (mut sum, mut tally) = (0.0, self.start());
        let must_gather = self.is_gathered();
        tally.whole = Vec::new();
        for (loss, whole) in parts {
            sum += loss;
            if tally.whole.is_empty() {
                tally.whole = whole.to_vec();
            } else {
                tally.whole.iter_mut().zip(whole).for_each(|(all, part)| *all += part);
            }
        }
        if must_gather && !tally.whole.is_empty() { self.total(&tally) } else { sum }
    }

    /// Residuals of the part put where they belong among those of all rows, scaled by √r_j. Cost O(m · outputs).
    pub fn place(&self, residuals: &[Vec<f64>], all: &mut [Vec<f64>]) {
        for (own, all) in residuals.iter().zip(all) {
            for (j, (e, all)) in own.iter().zip(all).enumerate().filter(|(j, _)| !self.is_outside(*j)) {
                *all = self.factors.as_ref().map_or(*e, |factors| e * factors[j]);
            }
        }
    }

    /// Whether the loss of a part is not known from its rows alone.
    pub(super) fn is_open(&self) -> bool {
        self.lacks_rows && self.is_gathered()
    }

    /// Whether the loss is made of what all rows give, once they are there.
    pub(super) fn is_gathered(&self) -> bool {
        self.units.is_some() || matches!(self.measure, Measure::Auc | Measure::Whole)
    }

    pub(super) fn is_outside(&self, row: usize) -> bool {
        self.factors.as_ref().is_some_and(|factors| factors[row] == 0.0)
    }

    /// Residuals scaled by √r_j, and 0 outside the part; none where they are that already.
    pub(super) fn rescaled(&self, start: usize, residuals: &[Vec<f64>], rows: usize) -> Option<Vec<Vec<f64>>> {
        let factors = &self.factors.as_ref()?[start..start + rows];
        let scale = |(e, factor): (&f64, &f64)| if *factor == 0.0 { 0.0 } else { e * factor };
        Some(residuals.iter().map(|residual| residual.iter().zip(factors).map(scale).collect()).collect())
    }
}
