//! One trial: the loss of the residuals left out after a change of rank one, in one pass over the rows.
//!
//! The book derives it: explanation/leave-one-out.md, "Trying one more column".

use crate::sums::TILE;
use crate::tolerance::TIED_PREDICTION;
use crate::wide::Wide;
use crate::{Level, Scorer, Trial};
use pulp::NullaryFnOnce;

/// The loss after ã = a − c·t·inverse of each output and d̃ = d − c∘c·inverse, from the residuals left out ã/d̃.
///
/// With c = G x and inverse = 1/(λ + xᵀG x) a column enters. Cost O(m · outputs).
pub(crate) fn trial(
    level: Level,
    scorer: &Scorer,
    (a, d): (&[Vec<f64>], &[f64]),
    c: &[f64],
    t: &[f64],
    inverse: f64,
) -> Trial {
    let mut residuals = vec![vec![0.0; c.len().min(TILE)]; t.len()];
    let (mut tally, mut low) = (scorer.start(), Wide::INFINITY);
    for start in (0..c.len()).step_by(TILE) {
        let end = c.len().min(start + TILE);
        let (c, d) = (&c[start..end], &d[start..end]);
        for ((a, t), out) in a.iter().zip(t).zip(&mut residuals) {
            leave_out(level, c, &a[start..end], d, t * inverse, inverse, out, &mut low);
        }
        scorer.add(&mut tally, start, &residuals, c.len());
    }
    Trial::from_outcome(scorer.finish(tally), low.least())
}

/// out_j ← (a_j − step·c_j) / (d_j − c_j²·inverse), and the smallest divisor per lane.
#[allow(clippy::too_many_arguments)]
fn leave_out(level: Level, c: &[f64], a: &[f64], d: &[f64], step: f64, inverse: f64, out: &mut [f64], low: &mut Wide) {
    struct Kernel<'k> {
        c: &'k [f64],
        a: &'k [f64],
        d: &'k [f64],
        step: f64,
        inverse: f64,
        out: &'k mut [f64],
        low: &'k mut Wide,
    }
    impl NullaryFnOnce for Kernel<'_> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Kernel { c, a, d, step, inverse, out, low } = self;
            let rows = c.len();
            let (chunks, rest) = c.as_chunks();
            let whole = chunks.len();
            let (out, out_rest) = out[..rows].as_chunks_mut();
            let ((a, a_rest), (d, d_rest)) = (a[..rows].as_chunks(), d[..rows].as_chunks());
            let (a, d, out) = (&a[..whole], &d[..whole], &mut out[..whole]);
            let mut smallest = *low;
            let (wide_step, wide_inverse) = (Wide::splat(step), Wide::splat(inverse));
            for j in 0..whole {
                let c = Wide::load(&chunks[j]);
                let divisor = Wide::load(&d[j]) - c * c * wide_inverse;
                ((Wide::load(&a[j]) - wide_step * c) / divisor).store(&mut out[j]);
                smallest = divisor.min(smallest);
            }
            for (l, c) in rest.iter().enumerate() {
                let divisor = d_rest[l] - c * c * inverse;
                out_rest[l] = (a_rest[l] - step * c) / divisor;
                smallest.update(l, |low| if divisor < low { divisor } else { low });
            }
            *low = smallest;
        }
    }
    level.run(Kernel { c, a, d, step, inverse, out, low });
}

/// What a pass adds up of the residuals left out of one output.
#[derive(Clone, Copy)]
pub(crate) enum Pass<'k> {
    /// Their squares.
    Squares,
    /// The weights of rows on the wrong side, from scaled targets y and √r, which is 1 where absent.
    Wrong(&'k [f64], Option<&'k [f64]>),
}

/// A candidate in a pass: c, what enters it of c_b, and f and inverse of its trial.
pub(crate) struct Moving<'k> {
    pub c: &'k mut [f64],
    pub step: f64,
    pub f: f64,
    pub inverse: f64,
}

/// c ← c − step·c_b, then what `pass` makes of (a − f c)/(d − c²·inverse) with the smallest divisor, in one pass over `C`
/// candidates that share the reading of the state. The bits do not depend on which candidates go together.
pub(crate) fn fused<const C: usize>(
    level: Level,
    candidates: [Moving<'_>; C],
    b: Option<&[f64]>,
    a: &[f64],
    d: &[f64],
    pass: Pass<'_>,
) -> [(f64, f64); C] {
    struct Kernel<'k, const C: usize> {
        candidates: [Moving<'k>; C],
        b: Option<&'k [f64]>,
        a: &'k [f64],
        d: &'k [f64],
        pass: Pass<'k>,
    }
    impl<const C: usize> NullaryFnOnce for Kernel<'_, C> {
        type Output = [(f64, f64); C];
        #[inline(always)]
        fn call(self) -> [(f64, f64); C] {
            let Kernel { candidates, b, a, d, pass } = self;
            // What a loss has no use for is read from where it costs nothing.
            match (b, pass) {
                (None, Pass::Squares) => run::<C, false, SQUARES>(candidates, a, a, d, a, a),
                (Some(b), Pass::Squares) => run::<C, true, SQUARES>(candidates, b, a, d, a, a),
                (None, Pass::Wrong(y, None)) => run::<C, false, WRONG>(candidates, a, a, d, y, a),
                (Some(b), Pass::Wrong(y, None)) => run::<C, true, WRONG>(candidates, b, a, d, y, a),
                (None, Pass::Wrong(y, Some(root))) => run::<C, false, WEIGHED>(candidates, a, a, d, y, root),
                (Some(b), Pass::Wrong(y, Some(root))) => run::<C, true, WEIGHED>(candidates, b, a, d, y, root),
            }
        }
    }
    level.run(Kernel { candidates, b, a, d, pass })
}

const SQUARES: u8 = 0;
const WRONG: u8 = 1;
const WEIGHED: u8 = 2;

#[inline(always)]
fn run<const C: usize, const UPDATE: bool, const PASS: u8>(
    candidates: [Moving<'_>; C],
    b: &[f64],
    a: &[f64],
    d: &[f64],
    y: &[f64],
    root: &[f64],
) -> [(f64, f64); C] {
    let rows = a.len();
    let factors = candidates.each_ref().map(|k| (k.f, k.inverse, -k.step));
    let by = factors.map(|(f, inverse, step)| [f, inverse, step].map(Wide::splat));
    let mut tails: [&mut [f64]; C] = std::array::from_fn(|_| &mut [][..]);
    let mut tails_at = tails.iter_mut();
    let mut c = candidates.map(|k| {
        let (whole, rest) = k.c[..rows].as_chunks_mut();
        if let Some(tail) = tails_at.next() {
            *tail = rest;
        }
        whole
    });
    let whole = rows / Wide::WIDTH;
    let [(a, a_rest), (b, b_rest), (d, d_rest), (y, y_rest), (root, root_rest)] =
        [a, b, d, y, root].map(|x| x[..rows].as_chunks::<{ Wide::WIDTH }>());
    let (a, b, d, y, root) = (&a[..whole], &b[..whole], &d[..whole], &y[..whole], &root[..whole]);
    c.iter_mut().for_each(|c| *c = &mut std::mem::take(c)[..whole]);
    let (mut sums, mut low) = ([Wide::ZERO; C], [Wide::INFINITY; C]);
    for j in 0..whole {
        let [a, b, d, y, root] = [&a[j], &b[j], &d[j], &y[j], &root[j]].map(Wide::load);
        for k in 0..C {
            let [f, inverse, step] = by[k];
            let mut x = Wide::load(&c[k][j]);
            if UPDATE {
                x = x + step * b;
                x.store(&mut c[k][j]);
            }
            let divisor = d - x * x * inverse;
            let left = a - f * x;
            sums[k] = sums[k]
                + match PASS {
                    SQUARES => {
                        let error = left / divisor;
                        error * error
                    }
                    WRONG => wrong(y, Wide::splat(1.0), left, divisor),
                    _ => wrong(y, root * root, left, divisor),
                };
            low[k] = divisor.min(low[k]);
        }
    }
    for (k, c) in tails.into_iter().enumerate() {
        let (f, inverse, step) = factors[k];
        for (l, c) in c.iter_mut().enumerate() {
            if UPDATE {
                *c += step * b_rest[l];
            }
            let divisor = d_rest[l] - *c * *c * inverse;
            let left = a_rest[l] - f * *c;
            let of_row = match PASS {
                SQUARES => (left / divisor) * (left / divisor),
                _ => {
                    let weight = if PASS == WRONG { 1.0 } else { root_rest[l] * root_rest[l] };
                    wrong(Wide::splat(y_rest[l]), Wide::splat(weight), Wide::splat(left), Wide::splat(divisor)).lane(0)
                }
            };
            sums[k].update(l, |sum| sum + of_row);
            low[k].update(l, |low| if divisor < low { divisor } else { low });
        }
    }
    std::array::from_fn(|k| (sums[k].sum(), low[k].least()))
}

/// The weight of a row where y·(y − left/divisor) is at most the rounding of it, with no division for divisors above 0.
#[inline(always)]
fn wrong(y: Wide, weight: Wide, left: Wide, divisor: Wide) -> Wide {
    weight.where_at_most(y * (y * divisor - left), Wide::splat(TIED_PREDICTION) * weight * divisor)
}
