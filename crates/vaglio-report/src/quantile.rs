//! Quantiles of Student's distribution.

use std::f64::consts::FRAC_PI_2;
use vaglio_core::normal_quantile;

/// Two-sided Student quantile: with probability `level`, the absolute value of the variable is below. Degrees of
/// freedom may be fractional; +∞ below one. Relative error below 2e-4 for integers.
///
/// # Reference
/// G. W. Hill, *Algorithm 396: Student's t-quantiles*, Communications of the ACM 13 (1970).
pub(crate) fn student_quantile(level: f64, freedom: f64) -> f64 {
    let (n, tails) = (freedom, 1.0 - level);
    if n.is_nan() || n < 1.0 {
        return f64::INFINITY;
    }
    if n == 1.0 {
        return 1.0 / (tails * FRAC_PI_2).tan();
    }
    if n == 2.0 {
        return (2.0 / (tails * (2.0 - tails)) - 2.0).sqrt();
    }
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * FRAC_PI_2).sqrt() * n;
    let mut y = (tails * d).powf(2.0 / n);
    if y > 0.05 + a {
        let x = normal_quantile(0.5 * tails);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) * y - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    (n * y).sqrt()
}
