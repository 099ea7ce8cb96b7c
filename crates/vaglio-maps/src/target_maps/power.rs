//! Powers of targets.

use crate::maps::power::{Exponent, PowerFamily};
use vaglio_core::{Result, minimum, prelude::*};

/// Power transform of the target towards a normal distribution. Uses the map `power` (Yeo and Johnson, or Box and Cox),
/// with the λ of the largest likelihood of the training targets.
///
/// Some exponents bound the transformed values. A prediction at or beyond the bound becomes the largest training target
/// plus the span of the training targets (or the smallest minus the span).
#[part(
    TargetMap,
    "power",
    summary = "a power of the target by Yeo and Johnson or Box and Cox, which makes it more like a normal one",
    example = "target_map: {kind: power, method: yeo_johnson, lambda: auto}"
)]
#[derive(PartialEq)]
pub struct PowerTarget {
    /// Family of transforms.
    pub(crate) method: PowerFamily,
    /// The exponent.
    pub lambda: Exponent,
    /// Whether predictions are means in the units of the data, by Duan's smearing. Defaults to true for the squared
    /// error.
    pub smear: Option<bool>,
}

impl PowerTarget {
    /// A power by Box and Cox, for positive targets.
    pub fn box_cox() -> Self {
        PowerTarget { method: PowerFamily::BoxCox, ..PowerTarget::default() }
    }
}

/// Fitted [`PowerTarget`], with the exponent of the training targets.
#[saved(FittedTargetMap, "power")]
struct FittedPowerTarget {
    method: PowerFamily,
    lambda: f64,
    /// Limits of predictions if the power is bounded.
    within: [f64; 2],
}

impl TargetMap for PowerTarget {
    fn fit(&self, target: &[f64], weights: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>> {
        let lambda = self.lambda.fit(self.method, target, weights)?;
        let least = minimum(target.iter().copied());
        let greatest = target.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let span = greatest - least;
        Ok(Box::new(FittedPowerTarget { method: self.method, lambda, within: [least - span, greatest + span] }))
    }

    fn smear(&self) -> Option<bool> {
        self.smear
    }

    fn check_settings(&self) -> Result<()> {
        self.lambda.check()
    }
}

impl FittedTargetMap for FittedPowerTarget {
    fn map(&self, value: f64) -> f64 {
        self.method.transform(value, self.lambda)
    }

    fn inverse(&self, mapped: f64) -> f64 {
        let [least, greatest] = self.within;
        let value = self.method.inverse(mapped, self.lambda);
        match self.method {
            _ if self.lambda < 0.0 => value.min(greatest),
            PowerFamily::YeoJohnson if self.lambda > 2.0 => value.max(least),
            _ => value,
        }
    }

    fn inverse_expression(&self, mapped: Expression) -> Option<Expression> {
        let [least, greatest] = self.within;
        let value = |beyond: f64| self.method.inverse_expression(mapped.clone(), self.lambda, beyond);
        Some(match self.method {
            _ if self.lambda < 0.0 => {
                let value = value(greatest);
                value.clone().if_above(greatest, greatest, value)
            }
            PowerFamily::YeoJohnson if self.lambda > 2.0 => {
                let value = value(least);
                value.clone().if_below(least, least, value)
            }
            _ => value(0.0),
        })
    }

    fn takes(&self) -> (&'static str, &'static str) {
        match self.method {
            PowerFamily::BoxCox => ("positive numbers with `box_cox`", "`yeo_johnson` takes any"),
            PowerFamily::YeoJohnson => ("numbers whose power does not overflow", "rescale the target"),
        }
    }
}
