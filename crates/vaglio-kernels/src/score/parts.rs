//! Losses accumulated over parts of the rows, each with its own state.

use super::{Scorer, Targets};
use crate::sums::axpy;
use crate::{Measure, Trial, parallel};

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

    /// Combines the trials of each part of the rows into trials of all rows, [judged](Scorer::judge). Cost O(parts) each,
    /// and O(parts · m) for losses of all rows and for units.
    pub fn join(&self, parts: &[Vec<Trial>]) -> Vec<Trial> {
        if let [only] = parts {
            return only.iter().map(|trial| self.judge(Trial::new(trial.loss, trial.conditioning))).collect();
        }
        let joined = |k: usize| {
            let own = || parts.iter().map(|trials| &trials[k]);
            let conditioning = own().map(|trial| trial.conditioning).fold(1.0, f64::min);
            self.judge(Trial::new(self.joint_loss(own()), conditioning))
        };
        parallel::map(parts.first().map_or(0, Vec::len), joined)
    }

    /// The loss of all rows from the contributions of all parts.
    fn joint_loss<'t>(&self, parts: impl Iterator<Item = &'t Trial>) -> f64 {
        let (mut sum, mut tally) = (0.0, self.start());
        tally.whole = Vec::new();
        for Trial { loss, whole, .. } in parts {
            sum += loss;
            if tally.whole.is_empty() {
                tally.whole.clone_from(whole);
            } else {
                axpy(1.0, whole, &mut tally.whole);
            }
        }
        if self.is_gathered() && !tally.whole.is_empty() { self.total(&tally) } else { sum }
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
