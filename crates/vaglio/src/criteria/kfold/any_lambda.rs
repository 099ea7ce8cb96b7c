//! Cross-validation of a subset for any λ.

use super::evaluator::failed;
use crate::criteria::refined::{Fits, Losses};
use std::sync::Arc;
use vaglio_core::{Feature, Result};
use vaglio_kernels::Scorer;
use vaglio_kernels::kfold::{Refitted, Rows};

/// Fits of subsets, refitted from the rows once for all λ.
pub(super) struct AnyLambda<'d> {
    pub rows: Arc<Rows<'d>>,
    pub scorer: Scorer,
}

impl Fits for AnyLambda<'_> {
    fn fit<'f>(&'f self, subset: &[Feature]) -> Result<Losses<'f>> {
        let refitted = Refitted::new(&self.rows, subset).map_err(failed)?;
        Ok(Box::new(move |lambda| {
            refitted.residuals(lambda).map(|residuals| self.scorer.loss(&residuals)).map_err(failed)
        }))
    }

    fn standard_error(&self, subset: &[Feature], lambda: f64) -> Result<Option<f64>> {
        let residuals = Refitted::new(&self.rows, subset).map_err(failed)?.residuals(lambda).map_err(failed)?;
        Ok(self.scorer.standard_error_over(self.rows.folds(), &residuals))
    }
}
