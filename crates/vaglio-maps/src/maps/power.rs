//! Power transforms of columns towards a normal distribution.

use super::{Scope, columns, weights};
use std::collections::BTreeMap;
use vaglio_core::{Error, Function, Map, OutputUnit, Result, minimize, prelude::*};

/// Replaces numeric columns by powers that are closer to a normal distribution.
///
/// Box and Cox: (x^λ − 1)/λ, or ln x for λ = 0, for positive numbers. Yeo and Johnson: the same of x + 1 for x ≥ 0, and
/// −((1 − x)^(2−λ) − 1)/(2 − λ) for x < 0. With `lambda: auto` each column has the λ between −5 and 5 of the largest
/// weighted likelihood, to four decimals; a constant column has 1. Missing cells stay missing. Cost O(rows · columns),
/// about 40 times that for `auto`.
///
/// # Errors
/// A number that is not positive with `box_cox`, or whose power overflows, with row and column.
///
/// # Reference
/// G. E. P. Box, D. R. Cox, *An analysis of transformations*, JRSS B 26(2), 1964. I.-K. Yeo, R. A. Johnson, *A new
/// family of power transformations to improve normality or symmetry*, Biometrika 87(4), 2000.
#[part(
    Map,
    "power",
    summary = "powers of columns by Yeo and Johnson or Box and Cox, which make them more like normal ones",
    example = "preprocess: [{kind: power, method: yeo_johnson, lambda: auto}]"
)]
#[derive(PartialEq)]
pub struct Power {
    /// Family of transforms.
    pub(crate) method: PowerFamily,
    /// Exponent λ.
    pub lambda: Exponent,
    /// Columns to transform; by default all numeric columns.
    pub columns: Option<Vec<String>>,
    /// Rows on which exponents are learned during cross-validation.
    #[default(Scope::Train)]
    pub scope: Scope,
}

/// Family of power transforms.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum PowerFamily {
    /// Yeo and Johnson, for any numbers.
    #[default]
    YeoJohnson,
    /// Box and Cox, for positive numbers.
    BoxCox,
}

/// Exponent of [`Power`].
#[setting]
#[derive(Copy, Default, PartialEq)]
#[serde(expecting = "expected `auto` or a number")]
pub enum Exponent {
    /// Maximum-likelihood exponent of each column.
    #[default]
    Auto,
    /// A given exponent for all columns.
    #[serde(untagged)]
    Given(f64),
}

impl From<f64> for Exponent {
    fn from(exponent: f64) -> Self {
        Exponent::Given(exponent)
    }
}

impl Power {
    /// Powers by Box and Cox, for positive numbers.
    pub fn box_cox() -> Self {
        Power { method: PowerFamily::BoxCox, ..Power::default() }
    }
}

/// Range of exponents that is searched.
const RANGE: (f64, f64) = (-5.0, 5.0);
/// Inverse precision of exponents: four decimals, since the likelihood is flat at its maximum.
const GRAIN: f64 = 1e4;
/// Largest number of likelihood evaluations.
const MOST: usize = 80;

impl Map for Power {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let TrainingRows { table, weights, .. } = *rows;
        let mut columns = BTreeMap::new();
        for (name, values) in columns::numbers(table, self.columns.as_deref())? {
            columns.insert(name.to_owned(), self.lambda.fit(self.method, &values, weights)?);
        }
        Ok(formulas(self.method, &columns))
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits(None)
    }

    fn check_settings(&self) -> Result<()> {
        self.lambda.check()?;
        columns::check(self.columns.as_deref())
    }
}

impl Exponent {
    /// The exponent for these values; 1 if [`PowerFamily::BoxCox`] cannot transform them.
    pub(crate) fn fit(self, method: PowerFamily, values: &[f64], weights: Option<&[f64]>) -> Result<f64> {
        match self {
            Exponent::Given(lambda) => Ok(lambda),
            Exponent::Auto if method == PowerFamily::BoxCox && values.iter().any(|x| *x <= 0.0) => Ok(1.0),
            Exponent::Auto => method.likeliest(&weights::counting(values, weights)),
        }
    }

    pub(crate) fn check(self) -> Result<()> {
        match self {
            Exponent::Given(lambda) => Error::unless_between("lambda", lambda, RANGE.0..=RANGE.1),
            Exponent::Auto => Ok(()),
        }
    }
}

impl PowerFamily {
    /// Transforms one value; not finite if the value has no transform.
    pub(crate) fn transform(self, x: f64, lambda: f64) -> f64 {
        let power = |log: f64, exponent: f64| {
            if exponent == 0.0 { log } else { (exponent * log).exp_m1() / exponent }
        };
        match self {
            PowerFamily::BoxCox if x > 0.0 => power(x.ln(), lambda),
            PowerFamily::BoxCox => f64::NAN,
            PowerFamily::YeoJohnson if x >= 0.0 => power(x.ln_1p(), lambda),
            PowerFamily::YeoJohnson => -power((-x).ln_1p(), 2.0 - lambda),
        }
    }

    /// [`PowerFamily::transform`] as an expression.
    fn expression(self, x: Expression, lambda: f64) -> Expression {
        let power = |log: Expression, exponent: f64| match exponent {
            0.0 => log,
            _ => log.times(exponent).apply(Function::ExpM1).over(exponent),
        };
        match self {
            PowerFamily::BoxCox => power(x.apply(Function::Ln), lambda),
            PowerFamily::YeoJohnson => {
                let below = power(x.clone().times(-1.0).apply(Function::Ln1p), 2.0 - lambda).times(-1.0);
                let above = power(x.clone().apply(Function::Ln1p), lambda);
                x.if_below(0.0, below, above)
            }
        }
    }

    /// [`PowerFamily::inverse`] as an expression; values outside the range of the transform map to `beyond`.
    pub(crate) fn inverse_expression(self, power: Expression, lambda: f64, beyond: f64) -> Expression {
        let value = |power: Expression, exponent: f64, last: Function| match exponent {
            0.0 => power.apply(last),
            _ => {
                let inside = power.clone().times(exponent).apply(Function::Ln1p).over(exponent).apply(last);
                let bound = -1.0 / exponent;
                if exponent > 0.0 {
                    power.if_above(bound, inside, beyond)
                } else {
                    power.if_below(bound, inside, beyond)
                }
            }
        };
        match self {
            PowerFamily::BoxCox => value(power, lambda, Function::Exp),
            PowerFamily::YeoJohnson => {
                let above = value(power.clone(), lambda, Function::ExpM1);
                let negative = power.clone().times(-1.0);
                let below = match 2.0 - lambda {
                    0.0 => negative.apply(Function::ExpM1).times(-1.0),
                    exponent => {
                        let log = negative.times(exponent).apply(Function::Ln1p).over(exponent);
                        let inside = log.apply(Function::ExpM1).times(-1.0);
                        // Here −power is nonnegative, so that only a negative exponent has a bound.
                        if exponent < 0.0 { power.clone().if_above(1.0 / exponent, inside, beyond) } else { inside }
                    }
                };
                power.if_below(0.0, below, above)
            }
        }
    }

    /// Inverse transform. Values outside the range of the transform map to its bound, ±∞ or the end of the domain.
    pub(crate) fn inverse(self, power: f64, lambda: f64) -> f64 {
        let log = |power: f64, exponent: f64| match exponent {
            0.0 => power,
            _ if exponent * power <= -1.0 => f64::NEG_INFINITY * exponent.signum(),
            _ => (exponent * power).ln_1p() / exponent,
        };
        match self {
            PowerFamily::BoxCox => log(power, lambda).exp(),
            PowerFamily::YeoJohnson if power >= 0.0 => log(power, lambda).exp_m1(),
            PowerFamily::YeoJohnson => -log(-power, 2.0 - lambda).exp_m1(),
        }
    }

    /// Maximum-likelihood exponent of rows of positive weight.
    fn likeliest(self, rows: &[(f64, f64)]) -> Result<f64> {
        if rows.first().is_none_or(|(_, first)| rows.iter().all(|(_, x)| x == first)) {
            return Ok(1.0);
        }
        // Logarithm of the derivative of the transform, divided by λ − 1.
        let log_slope = |x: f64| match self {
            PowerFamily::BoxCox => x.ln(),
            PowerFamily::YeoJohnson => x.signum() * x.abs().ln_1p(),
        };
        let slope = weights::mean_of(rows, log_slope);
        let lambda = minimize(RANGE.0, RANGE.1, 1e-6, MOST, |lambda| Ok(self.cost(rows, slope, lambda)))?;
        Ok((lambda * GRAIN).round() / GRAIN)
    }

    /// Negative weighted normal log-likelihood up to a constant: ½ ln of the variance, minus (λ − 1) times `slope`, the
    /// mean logarithm of the slope.
    fn cost(self, rows: &[(f64, f64)], slope: f64, lambda: f64) -> f64 {
        let rows: Vec<(f64, f64)> = rows.iter().map(|(w, x)| (*w, self.transform(*x, lambda))).collect();
        let mean = weights::mean_of(&rows, |y| y);
        let cost = 0.5 * weights::mean_of(&rows, |y| (y - mean).powi(2)).ln() - (lambda - 1.0) * slope;
        if cost.is_nan() || cost == f64::NEG_INFINITY { f64::MAX } else { cost.min(f64::MAX) }
    }
}

/// Formulas of columns with these exponents.
pub fn formulas(method: PowerFamily, exponents: &BTreeMap<String, f64>) -> MapFormulas {
    let formula = |(name, lambda): (&String, &f64)| {
        let power = method.expression(Expression::column(name), *lambda).named(name);
        if *lambda == 1.0 { power.in_unit(OutputUnit::Divided(1.0)) } else { power }
    };
    let formulas: MapFormulas = exponents.iter().map(formula).collect();
    let mut formulas = formulas.with_domain("box_cox takes positive numbers, and this is {}; yeo_johnson takes any");
    formulas.found = PartOutputs::new("exponents", exponents);
    formulas
}
