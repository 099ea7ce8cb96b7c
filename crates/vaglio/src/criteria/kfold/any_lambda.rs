//! Cross-validation of a subset for any λ.

use super::evaluator::failed;
use super::way::Tried;
use crate::criteria::refined::{Fits, Losses};
use std::sync::{Arc, OnceLock};
use vaglio_core::{Feature, Result};
use vaglio_kernels::Scorer;
use vaglio_kernels::is_unreliable;
use vaglio_kernels::kfold::{AllLambdas, Refitted, Rows};
use vaglio_kernels::linalg::Failure;

/// Fits of subsets, from one decomposition of the rows for all λ, or refitted from the rows once for all λ.
pub(super) struct AnyLambda<'d> {
    pub rows: Arc<Rows<'d>>,
    /// Of residuals in the order of the rows as given.
    pub scorer: Scorer,
}

/// The residuals held out of one subset for any λ, scaled: outputs × rows as given.
type Residuals = Vec<Vec<f64>>;

/// A subset decomposed, and refitted where that has lost its digits.
struct Subset<'f, 'd> {
    of: &'f AnyLambda<'d>,
    features: Vec<Feature>,
    folds: Vec<usize>,
    all: Option<AllLambdas<'f, 'd>>,
    refitted: OnceLock<std::result::Result<Refitted<'f, 'd>, Failure>>,
    /// The loss of the empty subset, once it is asked for.
    empty: OnceLock<f64>,
}

impl Subset<'_, '_> {
    fn residuals(&self, lambda: f64) -> Result<Residuals> {
        match self.decomposed(lambda) {
            Some((residuals, low)) if !is_unreliable(low) => Ok(residuals),
            _ => self.refitted(lambda),
        }
    }

    fn decomposed(&self, lambda: f64) -> Option<(Residuals, f64)> {
        self.all.as_ref().map(|all| all.residuals(lambda, &self.folds))
    }

    /// A loss with so many digits left.
    fn tried(&self, loss: f64, low: f64) -> Tried {
        if !self.of.scorer.is_of_squares() {
            return Tried::new(loss, is_unreliable(low));
        }
        // A penalty without bound leaves the empty subset.
        let empty = || self.decomposed(f64::MAX).map_or(f64::NAN, |(residuals, _)| self.of.scorer.loss(&residuals));
        Tried::of_squares(loss, low, || *self.empty.get_or_init(empty))
    }

    fn refitted(&self, lambda: f64) -> Result<Residuals> {
        let refitted = self.refitted.get_or_init(|| Refitted::new(&self.of.rows, &self.features));
        refitted.as_ref().map_err(|e| failed(*e))?.residuals(lambda).map_err(failed)
    }
}

impl<'d> AnyLambda<'d> {
    fn subset<'f>(&'f self, subset: &[Feature]) -> Result<Subset<'f, 'd>> {
        // A constant column has a part where there is no intercept, and none in a decomposition.
        let at_once = self.rows.is_uniform() && subset.iter().all(|&feature| self.rows.is_active(feature));
        let all = if at_once { Some(AllLambdas::new(&self.rows, subset).map_err(failed)?) } else { None };
        let folds = (0..self.rows.folds().count()).collect();
        Ok(Subset {
            of: self,
            features: subset.to_vec(),
            folds,
            all,
            refitted: OnceLock::new(),
            empty: OnceLock::new(),
        })
    }

    /// The losses of a subset for some λ; of one that is proven to be above `lowest`, only that it is.
    pub fn losses(&self, subset: &[Feature], lambdas: &[f64], lowest: f64) -> Result<Vec<f64>> {
        let fit = self.subset(subset)?;
        let loss = |&lambda: &f64| {
            if let Some((residuals, low)) = fit.decomposed(lambda) {
                let tried = fit.tried(self.scorer.loss(&residuals), low);
                if !tried.is_weak || tried.floor > lowest {
                    return Ok(tried.loss);
                }
            }
            fit.refitted(lambda).map(|residuals| self.scorer.loss(&residuals))
        };
        lambdas.iter().map(loss).collect()
    }

    /// The trials of removing each of `candidates` from `subset`, for some λ: λ × candidates. `None` where the subset is
    /// not decomposed.
    pub fn removals(
        &self,
        subset: &[Feature],
        candidates: &[Feature],
        lambdas: &[f64],
    ) -> Result<Option<Vec<Vec<Tried>>>> {
        let fit = self.subset(subset)?;
        let Some(all) = &fit.all else { return Ok(None) };
        let place = |candidate: &Feature| all.columns().iter().position(|column| column == candidate);
        let Some(places) = candidates.iter().map(place).collect::<Option<Vec<usize>>>() else { return Ok(None) };
        let of_lambda = |&lambda: &f64| {
            let (losses, low) = all.removals(lambda, |residuals| self.scorer.loss(residuals));
            places.iter().map(|&place| fit.tried(losses[place], low)).collect()
        };
        Ok(Some(lambdas.iter().map(of_lambda).collect()))
    }
}

impl Fits for AnyLambda<'_> {
    fn fit<'f>(&'f self, subset: &[Feature]) -> Result<Losses<'f>> {
        let fit = self.subset(subset)?;
        Ok(Box::new(move |lambda| Ok(self.scorer.loss(&fit.residuals(lambda)?))))
    }

    fn standard_error(&self, subset: &[Feature], lambda: f64) -> Result<Option<f64>> {
        let residuals = self.subset(subset)?.residuals(lambda)?;
        Ok(self.scorer.standard_error_over(self.rows.folds(), &residuals))
    }
}
