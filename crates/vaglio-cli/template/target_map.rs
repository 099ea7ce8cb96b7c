//! A map of targets for vaglio.

use vaglio_core::{Result, prelude::*};

/// The square root of a target, with its sign.
#[part(TargetMap, "template")]
pub struct Template {}

/// The fitted map; nothing is learned, since every number is mapped by itself.
#[saved(FittedTargetMap, "template")]
pub struct FittedTemplate {}

impl TargetMap for Template {
    fn fit(&self, _: &[f64], _weights: Option<&[f64]>) -> Result<Box<dyn FittedTargetMap>> {
        Ok(Box::new(FittedTemplate {}))
    }
}

impl FittedTargetMap for FittedTemplate {
    fn map(&self, value: f64) -> f64 {
        value.signum() * value.abs().sqrt()
    }

    fn inverse(&self, mapped: f64) -> f64 {
        mapped * mapped.abs()
    }

    fn takes(&self) -> (&'static str, &'static str) {
        ("numbers", "leave other rows out")
    }
}
