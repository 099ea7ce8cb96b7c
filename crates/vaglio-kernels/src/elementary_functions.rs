//! Elementary functions of whole slices, vectorized.
//!
//! They are plain arithmetic without branches, so every [`Level`](crate::Level) and every position in a slice gives the
//! same bits.

use crate::vectorize;

/// log₂ e, and ln 2 in two parts; the first has so few bits that whole multiples of it are exact.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Added to a number of up to 2⁵¹, leaves the nearest whole number in the last bits.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
/// Limits beyond which exp over- or underflows.
const LARGEST: f64 = 710.0;
const SMALLEST: f64 = -746.0;
/// Argument from which tanh rounds to 1.
const FLAT: f64 = 20.0;

/// 1/n! for n = 13, …, 2.
const INVERSE_FACTORIALS: [f64; 12] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
];

/// Replaces every value by its exponential, to 1 unit in the last place; 0 and ∞ on under- and overflow. Cost
/// O(length).
pub fn exp(values: &mut [f64]) {
    vectorize!(|| each(values, exp_of));
}

/// Replaces every value by its hyperbolic tangent, to 3 units in the last place. Cost O(length).
pub fn tanh(values: &mut [f64]) {
    vectorize!(|| each(values, tanh_of));
}

#[inline(always)]
fn each<F: Fn(f64) -> f64>(values: &mut [f64], f: F) {
    values.iter_mut().for_each(|x| *x = f(*x));
}

/// Reduces x = k·ln 2 + r with |r| ≤ ln 2/2 and returns k and eʳ − 1.
///
/// eʳ − 1 = r + r²(1/2! + r/3! + …); the omitted terms are below 10⁻¹⁷.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let k = (x * LOG2_E + ROUND) - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 0.0;
    for c in INVERSE_FACTORIALS {
        sum = sum * r + c;
    }
    (k, r + r * r * sum)
}

/// 2ᵏ for a whole k between −1022 and 1023, from its bits.
#[inline(always)]
fn power(k: f64) -> f64 {
    f64::from_bits((k + (ROUND + 1023.0)).to_bits() << 52)
}

/// The exponential of one value, to 1 unit in the last place.
#[inline(always)]
pub fn exp_of(x: f64) -> f64 {
    // Comparisons in this form are selections; a NaN passes through them and stays one.
    let x = if x > LARGEST { LARGEST } else { x };
    let x = if x < SMALLEST { SMALLEST } else { x };
    let (k, less_one) = reduce(x);
    // In two factors, since 2ᵏ itself may not be a normal number.
    let half = (0.5 * k + ROUND) - ROUND;
    (1.0 + less_one) * power(half) * power(k - half)
}

/// (e²ˣ − 1)/(e²ˣ + 1) of |x|, with the sign of x.
#[inline(always)]
fn tanh_of(x: f64) -> f64 {
    let magnitude = x.abs();
    let (k, less_one) = reduce(2.0 * if magnitude > FLAT { FLAT } else { magnitude });
    let scale = power(k);
    // e²ˣ − 1, without a difference where x is small and k is 0.
    let less_one = scale * less_one + (scale - 1.0);
    (less_one / (less_one + 2.0)).copysign(x)
}
