//! Cross-validation of a subset for any λ.

use super::evaluator::failed;
use crate::criteria::refined::{Fits, Losses};
use std::sync::{Arc, OnceLock};
use vaglio_core::{Feature, Result};
use vaglio_kernels::Scorer;
use vaglio_kernels::kfold::{AllLambdas, Refitted, Rows, is_weak};

/// Fits of subsets, from one decomposition of the rows for all λ, or refitted from the rows once for all λ.
pub(super) struct AnyLambda<'d> {
    pub rows: Arc<Rows<'d>>,
    pub scorer: Scorer,
    /// Whether all folds have the same rows, scaled and weighed alike, to be decomposed.
    pub at_once: bool,
}

impl Fits for AnyLambda<'_> {
    fn fit<'f>(&'f self, subset: &[Feature]) -> Result<Losses<'f>> {
        // A constant column has a part where there is no intercept, and none in a decomposition.
        let at_once = self.at_once && subset.iter().all(|&feature| self.rows.is_active(feature));
        let all = if at_once { Some(AllLambdas::new(&self.rows, subset).map_err(failed)?) } else { None };
        let folds: Vec<usize> = (0..self.rows.folds().count()).collect();
        let (subset, refitted) = (subset.to_vec(), OnceLock::new());
        Ok(Box::new(move |lambda| {
            if let Some((residuals, low)) = all.as_ref().map(|all| all.residuals(lambda, &folds))
                && !is_weak(low)
            {
                return Ok(self.scorer.loss(&residuals));
            }
            let refitted = refitted.get_or_init(|| Refitted::new(&self.rows, &subset));
            let residuals = refitted.as_ref().map_err(|e| failed(*e))?.residuals(lambda).map_err(failed)?;
            Ok(self.scorer.loss(&residuals))
        }))
    }

    fn standard_error(&self, subset: &[Feature], lambda: f64) -> Result<Option<f64>> {
        let residuals = Refitted::new(&self.rows, subset).map_err(failed)?.residuals(lambda).map_err(failed)?;
        Ok(self.scorer.standard_error_over(self.rows.folds(), &residuals))
    }
}
