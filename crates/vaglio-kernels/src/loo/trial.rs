//! Trials: the loss of leave-one-out residuals after a rank-one change, in one pass over the rows.
//!
//! Derived in the book: explanation/leave-one-out.md, "Trying one more column".

use super::basis::{RidgeState, conditioning};
use crate::f64x8::F64x8;
use crate::parallel;
use crate::score::Tally;
use crate::sums::TILE;
use crate::{Scorer, Trial, vectorize};
use std::sync::Arc;
use vaglio_columns::minimum;

impl RidgeState<'_> {
    /// The loss of the current subset. Cost O(m · outputs).
    pub fn score(&self, scorer: &Scorer) -> Trial {
        let least = minimum(self.d.iter().copied());
        scorer.trial(&self.residuals(), conditioning(least, self.left))
    }

    /// Trials of removing some selected columns. Cost O(m · outputs) each; the first call O(m·s² + s³).
    pub fn removals(&mut self, scorer: &Scorer, features: &[usize]) -> Vec<Trial> {
        self.prepare();
        if self.features.len() == 1 {
            // The exact empty subset, as after a rebuild.
            let empty = RidgeState::new(Arc::clone(&self.data), self.lambda).score(scorer);
            return vec![empty; features.len()];
        }
        let one = |&feature: &usize| match self.removable.as_ref().and_then(|r| r.column(feature)) {
            Some((c, w, h)) => RunningTrial::new(self, scorer, w, -1.0 / h).run(c, self.left),
            None => Trial::new(f64::NAN, f64::NAN),
        };
        parallel::map_slice(features, one)
    }

    /// Trial of adding a column, from c = G x, s = xᵀc and t = xᵀa.
    pub(super) fn trial(&self, scorer: &Scorer, feature: usize, c: &[f64], s: f64, t: &[f64]) -> Trial {
        let tau = self.lambda + s;
        RunningTrial::new(self, scorer, t, 1.0 / tau).run(c, self.left_with(feature, tau))
    }
}

/// Loss of the leave-one-out residuals ã/d̃ with ã = a − c·t·inverse for each output and d̃ = d − c∘c·inverse.
///
/// With c = G x and inverse = 1/(λ + xᵀG x), a column is added. Cost O(m · outputs).
pub(crate) struct RunningTrial<'k> {
    basis: &'k RidgeState<'k>,
    scorer: &'k Scorer,
    t: &'k [f64],
    inverse: f64,
    residuals: Vec<Vec<f64>>,
    tally: Tally,
    low: F64x8,
}

impl<'k> RunningTrial<'k> {
    pub fn new(basis: &'k RidgeState<'_>, scorer: &'k Scorer, t: &'k [f64], inverse: f64) -> Self {
        let residuals = vec![vec![0.0; basis.d.len().min(TILE)]; t.len()];
        RunningTrial { basis, scorer, t, inverse, residuals, tally: scorer.start(), low: F64x8::INFINITY }
    }

    /// Adds the rows from `start` on, given their c.
    pub fn add(&mut self, start: usize, c: &[f64]) {
        let RunningTrial { basis, t, inverse, .. } = *self;
        let rows = start..start + c.len();
        for ((a, t), out) in basis.a.iter().zip(t).zip(&mut self.residuals) {
            let (a, d) = (&a[rows.clone()], &basis.d[rows.clone()]);
            leave_out([c, a, d], [t * inverse, inverse], out, &mut self.low);
        }
        self.scorer.add(&mut self.tally, start, &self.residuals, c.len());
    }

    /// The trial, given the remaining share of the columns.
    pub fn finish(self, left: f64) -> Trial {
        self.scorer.finish(self.tally, conditioning(self.low.least(), left))
    }

    fn run(mut self, c: &[f64], left: f64) -> Trial {
        for (place, c) in c.chunks(TILE).enumerate() {
            self.add(place * TILE, c);
        }
        self.finish(left)
    }
}

/// out_j ← (a_j − step·c_j) / (d_j − c_j²·inverse), tracking the smallest divisor per lane.
fn leave_out([c, a, d]: [&[f64]; 3], [step, inverse]: [f64; 2], out: &mut [f64], low: &mut F64x8) {
    vectorize!(move || {
        let rows = c.len();
        let (chunks, rest) = c.as_chunks();
        let whole = chunks.len();
        let (out, out_rest) = out[..rows].as_chunks_mut();
        let ((a, a_rest), (d, d_rest)) = (a[..rows].as_chunks(), d[..rows].as_chunks());
        let (a, d, out) = (&a[..whole], &d[..whole], &mut out[..whole]);
        let mut smallest = *low;
        let (step, inverse) = (F64x8::splat(step), F64x8::splat(inverse));
        let mut residuals = |c: F64x8, a: F64x8, d: F64x8| {
            let divisor = d - c * c * inverse;
            smallest = divisor.min(smallest);
            (a - step * c) / divisor
        };
        for j in 0..whole {
            residuals(F64x8::load(&chunks[j]), F64x8::load(&a[j]), F64x8::load(&d[j])).store(&mut out[j]);
        }
        let last = [rest, a_rest].map(|rest| F64x8::part(rest, 0.0));
        let last = residuals(last[0], last[1], F64x8::part(d_rest, f64::INFINITY));
        out_rest.copy_from_slice(&last.doubles()[..rest.len()]);
        *low = smallest;
    });
}
