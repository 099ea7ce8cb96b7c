//! Leave-one-out of a subset for any λ.

use super::common::Common;
use super::settle::settle;
use crate::criteria::refined::{Fits, Losses};
use ndarray::Axis;
use std::sync::Arc;
use vaglio_core::{Design, Error, Feature, Result};
use vaglio_kernels::linalg::Failure;
use vaglio_kernels::loo::{Basis, Change, careful_residuals, is_weak};
use vaglio_kernels::ridge::Ridge;

fn failed(failure: Failure) -> Error {
    Error::Numerical(format!("{failure}; rescale or standardize the columns"))
}

/// Fits of subsets of a design.
pub(super) struct AnyLambda<'d> {
    pub design: &'d Design,
    pub common: Common<'d>,
    pub intercept: bool,
}

impl<'d> AnyLambda<'d> {
    fn basis(&self, subset: &[Feature], lambda: f64) -> Basis<'d> {
        let mut basis = Basis::new(Arc::clone(&self.common.parts[0].data), lambda);
        subset.iter().for_each(|&feature| basis.add(feature));
        basis
    }
}

impl Fits for AnyLambda<'_> {
    /// One reduction to a triangle serves every λ; where a row's leverage is nearly 1, a state is built.
    fn fit<'f>(&'f self, subset: &[Feature]) -> Result<Losses<'f>> {
        let x = self.design.columns().matrix(subset);
        let ridge = Ridge::new(x, self.design.targets(), self.design.weights(), self.intercept).map_err(failed)?;
        let subset = subset.to_vec();
        Ok(Box::new(move |lambda| {
            let (residuals, low) = ridge.left_out(lambda).map_err(failed)?;
            if !is_weak(low) {
                let residuals: Vec<Vec<f64>> = residuals.axis_iter(Axis(1)).map(|r| r.to_vec()).collect();
                return Ok(self.common.scorer.loss(&residuals));
            }
            let basis = self.basis(&subset, lambda);
            let trial = basis.score(&self.common.scorer);
            Ok(settle(&self.common, &[&basis], &[vec![trial]], &[Change::None])?[0].loss)
        }))
    }

    fn standard_error(&self, subset: &[Feature], lambda: f64) -> Result<Option<f64>> {
        let residuals = careful_residuals(&self.basis(subset, lambda), &[Change::None]);
        Ok(residuals.first().and_then(|residuals| self.common.scorer.standard_error(residuals)))
    }
}
