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
struct FittedLog1p {}

impl TargetMap for LogTarget {
    fn fit(&self, _: &[f64], _: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>> {
        Ok(Box::new(FittedLog {}))
    }

    fn smear(&self) -> Option<bool> {
        self.smear
    }
}

impl FittedTargetMap for FittedLog {
    fn map(&self, value: f64) -> f64 {
        value.ln()
    }

    fn inverse(&self, mapped: f64) -> f64 {
        mapped.exp()
    }

    fn inverse_expression(&self, mapped: Expression) -> Option<Expression> {
        Some(mapped.apply(Function::Exp))
    }

    fn takes(&self) -> (&'static str, &'static str) {
        ("positive numbers", "`log1p` takes 0 too, `power` and `rank` take any")
    }

    fn smearing(&self, residuals: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        one_for_all(&residuals)
    }
}

impl TargetMap for Log1pTarget {
    fn fit(&self, _: &[f64], _: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>> {
        Ok(Box::new(FittedLog1p {}))
    }

    fn smear(&self) -> Option<bool> {
        self.smear
    }
}

impl FittedTargetMap for FittedLog1p {
    fn map(&self, value: f64) -> f64 {
        value.ln_1p()
    }

    fn inverse(&self, mapped: f64) -> f64 {
        mapped.exp_m1()
    }

    fn inverse_expression(&self, mapped: Expression) -> Option<Expression> {
        Some(mapped.apply(Function::ExpM1))
    }

    fn takes(&self) -> (&'static str, &'static str) {
        ("numbers above -1", "`power` and `rank` take any")
    }

    fn smearing(&self, residuals: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        one_for_all(&residuals)
    }
}

/// Replaces residuals by one with the same mean exponential: the logarithm of that mean.
fn one_for_all(residuals: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let largest = residuals.iter().map(|[_, residual]| *residual).fold(f64::NEG_INFINITY, f64::max);
    let mean: f64 = residuals.iter().map(|[share, residual]| share * (residual - largest).exp()).sum();
    vec![[1.0, largest + mean.ln()]]
}
