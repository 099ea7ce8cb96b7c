//! Confidence intervals of means of skewed observations.
//!
//! Squared errors have a long tail to one side. A mean of them is therefore more often below the truth than above. Its
//! standard error comes from the same observations and is small when the mean is.
//!
//! With t = (x̄ − θ)/s, skewness g and n observations, t + g·t²/(3√n) + g²·t³/(27n) + g/(6√n) is nearly symmetric. It
//! is an increasing cubic; its inverse transforms the quantiles back. The quantiles are Student's, with ν = 2n/(κ − 1)
//! degrees of freedom, like a variance estimated from observations of kurtosis κ. Few observations underestimate the
//! fourth moment. So κ is at least that of a gamma distribution of the same skewness, 3 + 1.5·g².
//!
//! # Reference
//! P. Hall, *On the removal of skewness by transformation*, Journal of the Royal Statistical Society B 54 (1992).

use std::f64::consts::FRAC_PI_2;
use vaglio_core::{far_exponent, normal_quantile, times_power};

/// Default confidence level.
pub const LEVEL: f64 = 0.95;

/// Whether an interval of a mean with this standard error has a width. It has none if all observations are equal.
pub fn has_width(mean: f64, error: f64) -> bool {
    error > 1e-9 * mean.abs()
}

/// The interval of a mean at [`LEVEL`] from its standard error, clipped to the range of the mean.
pub(crate) fn normal_interval(mean: f64, error: f64, [least, most]: [f64; 2]) -> [f64; 2] {
    [-1.96, 1.96].map(|z| (mean + z * error).max(least).min(most))
}

/// Number, skewness and kurtosis of the observations behind a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardizedMoments {
    /// Number of observations.
    pub count: usize,
    /// Third central moment over the cube of the standard deviation.
    skewness: f64,
    /// Fourth central moment over the squared variance; 3 for a normal distribution.
    pub kurtosis: f64,
}

impl StandardizedMoments {
    /// Moments of `count` normal observations.
    pub fn normal(count: usize) -> Self {
        StandardizedMoments { count, skewness: 0.0, kurtosis: 3.0 }
    }

    /// Computes the moments from deviations from the mean, in any unit. Normal if these are all 0 or not finite.
    pub fn from_deviations(deviations: impl Iterator<Item = f64> + Clone) -> Self {
        let unit = -far_exponent(deviations.clone().map(f64::abs).fold(0.0, f64::max));
        let deviations = deviations.map(|d| times_power(d, unit));
        let count = deviations.clone().count();
        let moment = |power: i32| deviations.clone().map(|d| d.powi(power)).sum::<f64>() / count as f64;
        let variance = moment(2);
        let (skewness, kurtosis) = (moment(3) / variance.powf(1.5), moment(4) / (variance * variance));
        if skewness.is_finite() && kurtosis.is_finite() {
            StandardizedMoments { count, skewness, kurtosis }
        } else {
            StandardizedMoments::normal(count)
        }
    }

    /// Degrees of freedom of the variance, at least 1 so that quantiles exist.
    fn freedom(&self) -> f64 {
        let StandardizedMoments { count, skewness, kurtosis } = *self;
        let kurtosis = kurtosis.max(3.0 + 1.5 * skewness * skewness);
        (2.0 * count as f64 / (kurtosis - 1.0)).min(count as f64 - 1.0).max(1.0)
    }

    /// The confidence interval at `level` of a mean with its standard error.
    pub fn interval(&self, mean: f64, error: f64, level: f64) -> [f64; 2] {
        let t = student_quantile(level, self.freedom());
        [mean - self.inverse_transform(t) * error, mean - self.inverse_transform(-t) * error]
    }

    /// Inverts the transformation: the t that maps to `y`.
    fn inverse_transform(&self, y: f64) -> f64 {
        let root = (self.count as f64).sqrt();
        let a = self.skewness / (3.0 * root);
        if a.abs() < 1e-9 {
            return y;
        }
        ((1.0 + 3.0 * a * (y - self.skewness / (6.0 * root))).cbrt() - 1.0) / a
    }
}

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
