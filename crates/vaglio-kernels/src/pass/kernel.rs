//! Arithmetic of a pass, in vectors of one instruction set.

use super::{BY_SIDE, PassCandidate, PassSums, PassVectors, SQUARES, WRONG};
use crate::f64x8::F64x8;
use crate::simd_f64x8::SimdF64x8;
use crate::tolerance::TIED_PREDICTION;
use pulp::{Simd, WithSimd};

/// A pass of one kind over `C` candidates; the number of rows is a multiple of 16.
pub(super) struct PassKernel<'k, const C: usize, const UPDATE: bool, const PASS: u8, const WEIGHED: bool> {
    pub candidates: [PassCandidate<'k>; C],
    pub shared: PassVectors<'k>,
    pub y: &'k [u8],
    pub root: &'k [f64],
    pub running: &'k mut [PassSums; C],
}

/// Classes ±1 of eight rows by byte: bit l is set if row l is of class 1.
static CLASSES: [[f64; F64x8::WIDTH]; 256] = {
    let mut classes = [[-1.0; F64x8::WIDTH]; 256];
    let mut k = 0;
    while k < 256 * F64x8::WIDTH {
        let (byte, lane) = (k / F64x8::WIDTH, k % F64x8::WIDTH);
        if byte >> lane & 1 == 1 {
            classes[byte][lane] = 1.0;
        }
        k += 1;
    }
    classes
};

impl<const C: usize, const UPDATE: bool, const PASS: u8, const WEIGHED: bool> WithSimd
    for PassKernel<'_, C, UPDATE, PASS, WEIGHED>
{
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PassKernel { candidates, shared: PassVectors { b, a, d }, y, root, running } = self;
        let (has_classes, one) = (PASS >= WRONG, SimdF64x8::splat(simd, 1.0));
        let mut lanes = Lanes::<S, C, PASS, WEIGHED>::new(simd, &candidates, running);
        let a: &[[f64; F64x8::WIDTH]] = a.as_chunks().0;
        let eights = a.len();
        let [b, d] = [b, d].map(|v| &v.as_chunks().0[..eights]);
        let root = &root.as_chunks().0[..if WEIGHED { eights } else { 0 }];
        let y = &y[..if has_classes { eights } else { 0 }];
        let c = candidates.map(|k| &mut k.c.as_chunks_mut().0[..eights]);
        for first in 0..eights / 2 {
            let mut trials = [[(one, one); C]; 2];
            for (h, trials) in trials.iter_mut().enumerate() {
                let j = 2 * first + h;
                let (a, b, d) =
                    (SimdF64x8::load(simd, &a[j]), SimdF64x8::load(simd, &b[j]), SimdF64x8::load(simd, &d[j]));
                // All loads come before the stores, which the processor might take for the same address.
                let mut own = [one; C];
                for k in 0..C {
                    own[k] = SimdF64x8::load(simd, &c[k][j]);
                }
                for k in 0..C {
                    if UPDATE {
                        own[k] = lanes.moved(k, own[k], b);
                        own[k].store(&mut c[k][j]);
                    }
                    trials[k] = lanes.trial(k, own[k], a, d);
                }
            }
            let mut roots = [one; 2];
            if WEIGHED {
                roots = [SimdF64x8::load(simd, &root[2 * first]), SimdF64x8::load(simd, &root[2 * first + 1])];
            }
            let [of_one, of_other] = trials;
            for (k, ((left, d), (other, e))) in of_one.into_iter().zip(of_other).enumerate() {
                if has_classes {
                    lanes.add_wrong(k, left, d, y[2 * first], roots[0]);
                    lanes.add_wrong(k, other, e, y[2 * first + 1], roots[1]);
                } else {
                    let inverse = one / (d * e);
                    lanes.add_error(k, left * (e * inverse), roots[0]);
                    lanes.add_error(k, other * (d * inverse), roots[1]);
                }
            }
        }
        lanes.store(running);
    }
}

/// Running sums of a pass, and the constants of each candidate: f, inverse and −step.
struct Lanes<S: Simd, const C: usize, const PASS: u8, const WEIGHED: bool> {
    simd: S,
    by: [[SimdF64x8<S>; 3]; C],
    sums: [[SimdF64x8<S>; 2]; C],
    low: [SimdF64x8<S>; C],
}

impl<S: Simd, const C: usize, const PASS: u8, const WEIGHED: bool> Lanes<S, C, PASS, WEIGHED> {
    #[inline(always)]
    fn new(simd: S, candidates: &[PassCandidate<'_>; C], running: &[PassSums; C]) -> Self {
        let zero = SimdF64x8::splat(simd, 0.0);
        let mut lanes = Lanes { simd, by: [[zero; 3]; C], sums: [[zero; 2]; C], low: [zero; C] };
        for k in 0..C {
            let PassCandidate { f, inverse, step, .. } = candidates[k];
            lanes.by[k] = [SimdF64x8::splat(simd, f), SimdF64x8::splat(simd, inverse), SimdF64x8::splat(simd, -step)];
            for l in 0..2 {
                lanes.sums[k][l] = SimdF64x8::from_wide(simd, &running[k].sums[l]);
            }
            lanes.low[k] = SimdF64x8::from_wide(simd, &running[k].low);
        }
        lanes
    }

    /// c − step·c_b.
    #[inline(always)]
    fn moved(&self, k: usize, c: SimdF64x8<S>, b: SimdF64x8<S>) -> SimdF64x8<S> {
        c + self.by[k][2] * b
    }

    /// a − f c and d − c²·inverse.
    #[inline(always)]
    fn trial(&mut self, k: usize, c: SimdF64x8<S>, a: SimdF64x8<S>, d: SimdF64x8<S>) -> (SimdF64x8<S>, SimdF64x8<S>) {
        let [f, inverse, _] = self.by[k];
        let divisor = d - c * c * inverse;
        self.low[k] = divisor.min(self.low[k]);
        (a - f * c, divisor)
    }

    #[inline(always)]
    fn add_error(&mut self, k: usize, error: SimdF64x8<S>, root: SimdF64x8<S>) {
        let of_row = match PASS {
            SQUARES if WEIGHED => {
                let error = root * error;
                error * error
            }
            SQUARES => error * error,
            _ if WEIGHED => root * error.abs(),
            _ => error.abs(),
        };
        self.sums[k][0] = self.sums[k][0] + of_row;
    }

    /// Adds the weights of rows with y·(y − left/divisor) below 0, and half of those where it is 0 up to rounding;
    /// needs no division for positive divisors.
    ///
    /// The targets are y = √r times the class.
    #[inline(always)]
    fn add_wrong(&mut self, k: usize, left: SimdF64x8<S>, divisor: SimdF64x8<S>, classes: u8, root: SimdF64x8<S>) {
        let class = SimdF64x8::load(self.simd, &CLASSES[usize::from(classes)]);
        let (tie, half) = (SimdF64x8::splat(self.simd, TIED_PREDICTION), SimdF64x8::splat(self.simd, 0.5));
        let zero = SimdF64x8::splat(self.simd, 0.0);
        let (margin, tie, half) = if WEIGHED {
            let weight = root * root;
            (root * (root * divisor - class * left), tie * weight * divisor, half * weight)
        } else {
            (divisor - class * left, tie * divisor, half)
        };
        let wrong = half.where_at_most(margin, tie) + half.where_at_most(margin, zero - tie);
        if PASS == BY_SIDE {
            let negative = wrong.where_at_most(class, zero);
            self.sums[k][0] = self.sums[k][0] + negative;
            self.sums[k][1] = self.sums[k][1] + (wrong - negative);
        } else {
            self.sums[k][0] = self.sums[k][0] + wrong;
        }
    }

    #[inline(always)]
    fn store(self, running: &mut [PassSums; C]) {
        for (k, running) in running.iter_mut().enumerate() {
            running.sums = [self.sums[k][0].wide(), self.sums[k][1].wide()];
            running.low = self.low[k].wide();
        }
    }
}
