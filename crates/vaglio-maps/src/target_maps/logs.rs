//! Logarithms of targets.

use vaglio_core::{Function, Result, prelude::*};

/// ln y, for positive targets: errors become relative to the target.
#[part(
    TargetMap,
    "log",
    summary = "the logarithm of a positive target",
    example = "target_map: {kind: log, smear: true}"
)]
#[derive(PartialEq, Eq)]
pub struct LogTarget {
    /// Whether predictions are means in the units of the data, by Duan's smearing, instead of exp of the mean
    /// logarithm. Defaults to true for the squared error.
    pub smear: Option<bool>,
}

/// ln(1 + y), for targets above −1, such as counts and amounts that may be 0.
#[part(
    TargetMap,
    "log1p",
    summary = "the logarithm of one plus the target",
    example = "target_map: {kind: log1p, smear: true}"
)]
#[derive(PartialEq, Eq)]
pub struct Log1pTarget {
    /// Whether predictions are means in the units of the data, by Duan's smearing. Defaults to true for the squared
    /// error.
    pub smear: Option<bool>,
}

/// Fitted [`LogTarget`]; it has no state.
#[saved(FittedTargetMap, "log")]
struct FittedLog {}

/// Fitted [`Log1pTarget`]; it has no state.
#[saved(FittedTargetMap, "log1p")]
struct FittedLog1pTarget {}

/// Implements a logarithm and the exponential that inverts it; `$takes` is the domain with an alternative.
macro_rules! logarithm {
    ($map:ident, $fitted:ident, $log:ident, $exp:ident, $function:ident, $takes:expr) => {
        impl TargetMap for $map {
            fn fit(&self, _: &[f64], _: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>> {
                Ok(Box::new($fitted {}))
            }

            fn smear(&self) -> Option<bool> {
                self.smear
            }
        }

        impl FittedTargetMap for $fitted {
            fn map(&self, value: f64) -> f64 {
                value.$log()
            }

            fn inverse(&self, mapped: f64) -> f64 {
                mapped.$exp()
            }

            fn inverse_expression(&self, mapped: Expression) -> Option<Expression> {
                Some(mapped.apply(Function::$function))
            }

            fn takes(&self) -> (&'static str, &'static str) {
                $takes
            }

            fn smearing(&self, residuals: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
                one_for_all(&residuals)
            }
        }
    };
}

logarithm!(
    LogTarget,
    FittedLog,
    ln,
    exp,
    Exp,
    ("positive numbers", "`log1p` takes 0 too, `power` and `rank` take any")
);
logarithm!(Log1pTarget, FittedLog1pTarget, ln_1p, exp_m1, ExpM1, ("numbers above -1", "`power` and `rank` take any"));

/// Replaces residuals by one with the same mean exponential: the logarithm of that mean.
fn one_for_all(residuals: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let largest = residuals.iter().map(|[_, residual]| *residual).fold(f64::NEG_INFINITY, f64::max);
    let mean: f64 = residuals.iter().map(|[share, residual]| share * (residual - largest).exp()).sum();
    vec![[1.0, largest + mean.ln()]]
}
