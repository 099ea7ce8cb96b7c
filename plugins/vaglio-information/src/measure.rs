//! Information criteria.

use vaglio_core::setting;

/// Criterion computed from a fit on all rows.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum InformationMeasure {
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

/// Formula of a score, with the properties of the data that the measure needs.
#[derive(Clone, Copy)]
pub(crate) struct ScoreFormula {
    pub measure: InformationMeasure,
    /// Number of rows.
    pub rows: f64,
    /// Smallest error inside a logarithm.
    pub least: f64,
    /// Variance of the errors, for Cp.
    pub variance: f64,
}

impl ScoreFormula {
    /// Score of a model from its mean squared error and degrees of freedom; increases with both.
    pub fn score(&self, error: f64, freedom: f64) -> f64 {
        let ScoreFormula { measure, rows, least, variance } = *self;
        let (logarithm, count) = (|| rows * error.max(least).ln(), freedom + 1.0);
        let over = |value: f64, by: f64| if by > 0.0 { value / by } else { f64::INFINITY };
        match measure {
            InformationMeasure::Training => error,
            InformationMeasure::Gcv => over(over(error, 1.0 - freedom / rows), 1.0 - freedom / rows),
            InformationMeasure::Cp => error + 2.0 * variance * freedom / rows,
            InformationMeasure::Aic => logarithm() + 2.0 * count,
            InformationMeasure::Aicc => logarithm() + over(2.0 * count * rows, rows - count - 1.0),
            InformationMeasure::Bic => logarithm() + rows.ln() * count,
        }
    }
}
