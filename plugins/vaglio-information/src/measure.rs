//! Information criteria.

use vaglio_core::setting;

/// Criterion computed from a fit on all rows.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Error on the training rows.
    Training,
    /// Generalized cross-validation.
    Gcv,
    /// Mallows's Cp, in the units of the error.
    Cp,
    /// Akaike's criterion.
    Aic,
    /// Akaike's criterion for few rows.
    Aicc,
    /// Schwarz's criterion.
    #[default]
    Bic,
}

/// Properties of the data that a measure needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DataScale {
    /// Number of rows.
    pub rows: f64,
    /// Smallest error inside a logarithm.
    pub least: f64,
    /// Variance of the errors, for Cp.
    pub variance: f64,
}

impl Measure {
    /// Name in pipeline files.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Training => "training",
            Measure::Gcv => "gcv",
            Measure::Cp => "cp",
            Measure::Aic => "aic",
            Measure::Aicc => "aicc",
            Measure::Bic => "bic",
        }
    }

    /// Score of a model from its mean squared error and degrees of freedom; increases with both.
    pub(crate) fn of(self, scale: &DataScale, error: f64, freedom: f64) -> f64 {
        let rows = scale.rows;
        let (logarithm, count) = (|| rows * error.max(scale.least).ln(), freedom + 1.0);
        let over = |value: f64, by: f64| if by > 0.0 { value / by } else { f64::INFINITY };
        match self {
            Measure::Training => error,
            Measure::Gcv => over(over(error, 1.0 - freedom / rows), 1.0 - freedom / rows),
            Measure::Cp => error + 2.0 * scale.variance * freedom / rows,
            Measure::Aic => logarithm() + 2.0 * count,
            Measure::Aicc => logarithm() + over(2.0 * count * rows, rows - count - 1.0),
            Measure::Bic => logarithm() + rows.ln() * count,
        }
    }
}
