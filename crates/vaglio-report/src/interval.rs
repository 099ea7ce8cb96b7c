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

use crate::quantile::student_quantile;
use vaglio_core::{far_exponent, times_power};

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
