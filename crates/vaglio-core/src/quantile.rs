//! Quantiles of the normal distribution.

use std::f64::consts::FRAC_1_SQRT_2;

/// Quantile of the standard normal distribution, by bisection.
pub fn normal_quantile(probability: f64) -> f64 {
    let below = |x: f64| 0.5 * libm::erfc(-x * FRAC_1_SQRT_2);
    let (mut low, mut high) = (-39.0, 39.0);
    // A probability in the upper tail has lost its digits; by symmetry, the lower tail is used.
    if probability > 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if below(middle) < probability { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
