//! Leave-one-out of a subset for any λ.

use super::common::Common;
use super::failed;
use super::settle::settle;
use crate::criteria::refined::{Fits, Losses};
use std::sync::Arc;
use vaglio_core::{Feature, Result};
use vaglio_kernels::loo::{AllLambdas, Basis, Change, careful_residuals};

/// Fits of subsets of a design.
pub(super) struct AnyLambda<'d> {
    pub common: Common<'d>,
}

impl<'d> AnyLambda<'d> {
    fn basis(&self, subset: &[Feature], lambda: f64) -> Basis<'d> {
        let mut basis = Basis::new(Arc::clone(&self.common.parts[0].data), lambda);
        subset.iter().for_each(|&feature| basis.add(feature));
        basis
    }
}

impl Fits for AnyLambda<'_> {
    /// One decomposition serves every λ for which it has the digits; for another a state is built.
    fn fit<'f>(&'f self, subset: &[Feature]) -> Result<Losses<'f>> {
        let all = AllLambdas::new(Arc::clone(&self.common.parts[0].data), subset).map_err(failed)?;
        let subset = subset.to_vec();
        Ok(Box::new(move |lambda| {
            if let Some(residuals) = all.as_ref().and_then(|all| all.residuals(lambda)) {
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
