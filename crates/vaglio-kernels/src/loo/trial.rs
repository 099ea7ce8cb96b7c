//! A trial: the loss of leave-one-out residuals after a rank-one change, in one pass over the rows.
//!
//! Derived in the book: explanation/leave-one-out.md, "Trying one more column".

use super::basis::RidgeState;
use crate::f64x8::F64x8;
use crate::sums::TILE;
use crate::{Level, Scorer, Trial};

/// Loss of the leave-one-out residuals ã/d̃ with ã = a − c·t·inverse for each output and d̃ = d − c∘c·inverse.
///
/// With c = G x and inverse = 1/(λ + xᵀG x), a column is added. Cost O(m · outputs).
pub(crate) fn trial(basis: &RidgeState<'_>, scorer: &Scorer, c: &[f64], t: &[f64], inverse: f64) -> Trial {
    let mut residuals = vec![vec![0.0; c.len().min(TILE)]; t.len()];
    let (mut tally, mut low) = (scorer.start(), F64x8::INFINITY);
    for start in (0..c.len()).step_by(TILE) {
        let end = c.len().min(start + TILE);
        let (c, d) = (&c[start..end], &basis.d[start..end]);
        for ((a, t), out) in basis.a.iter().zip(t).zip(&mut residuals) {
            leave_out(basis.data.level, c, &a[start..end], d, t * inverse, inverse, out, &mut low);
        }
        scorer.add(&mut tally, start, &residuals, c.len());
    }
    Trial::from_partial(scorer.finish(tally), low.least())
}

/// out_j ← (a_j − step·c_j) / (d_j − c_j²·inverse), tracking the smallest divisor per lane.
#[allow(clippy::too_many_arguments)]
fn leave_out(level: Level, c: &[f64], a: &[f64], d: &[f64], step: f64, inverse: f64, out: &mut [f64], low: &mut F64x8) {
    level.call(
        #[inline(always)]
        move || {
            let rows = c.len();
            let (chunks, rest) = c.as_chunks();
            let whole = chunks.len();
            let (out, out_rest) = out[..rows].as_chunks_mut();
            let ((a, a_rest), (d, d_rest)) = (a[..rows].as_chunks(), d[..rows].as_chunks());
            let (a, d, out) = (&a[..whole], &d[..whole], &mut out[..whole]);
            let mut smallest = *low;
            let (wide_step, wide_inverse) = (F64x8::splat(step), F64x8::splat(inverse));
            for j in 0..whole {
                let c = F64x8::load(&chunks[j]);
                let divisor = F64x8::load(&d[j]) - c * c * wide_inverse;
                ((F64x8::load(&a[j]) - wide_step * c) / divisor).store(&mut out[j]);
                smallest = divisor.min(smallest);
            }
            for (l, c) in rest.iter().enumerate() {
                let divisor = d_rest[l] - c * c * inverse;
                out_rest[l] = (a_rest[l] - step * c) / divisor;
                smallest.update(l, |low| if divisor < low { divisor } else { low });
            }
            *low = smallest;
        },
    );
}
