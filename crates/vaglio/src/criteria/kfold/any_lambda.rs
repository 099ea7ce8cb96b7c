//! Cross-validation of a subset for any λ.

use super::evaluator::failed;
use super::way::Tried;
use crate::criteria::refined::{Fits, Losses};
use std::sync::{Arc, OnceLock};
use vaglio_core::{Feature, Result};
use vaglio_kernels::Scorer;
use vaglio_kernels::kfold::{AllLambdas, Refitted, Rows, is_weak};
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
}

impl Subset<'_, '_> {
    fn residuals(&self, lambda: f64) -> Result<Residuals> {
        match self.decomposed(lambda) {
            Some((residuals, low)) if !is_weak(low) => Ok(residuals),
            _ => self.refitted(lambda),
        }
    }

    fn decomposed(&self, lambda: f64) -> Option<(Residuals, f64)> {
        self.all.as_ref().map(|all| all.residuals(lambda, &self.folds))
    }

    /// The loss of the empty subset, which a penalty without bound leaves.
    fn empty(&self) -> f64 {
        self.decomposed(f64::MAX).map_or(f64::NAN, |(residuals, _)| self.of.scorer.loss(&residuals))
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
        Ok(Subset { of: self, features: subset.to_vec(), folds, all, refitted: OnceLock::new() })
    }

    /// The losses of a subset for some λ; of one that is proven to be above `lowest`, only that it is.
    pub fn losses(&self, subset: &[Feature], lambdas: &[f64], lowest: f64) -> Result<Vec<f64>> {
        let fit = self.subset(subset)?;
        let empty = OnceLock::new();
        let loss = |&lambda: &f64| {
            if let Some((residuals, low)) = fit.decomposed(lambda) {
                let tried = self.tried(self.scorer.loss(&residuals), low, || *empty.get_or_init(|| fit.empty()));
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
        let empty = OnceLock::new();
        let of_lambda = |&lambda: &f64| {
            let (losses, low) = all.removals(lambda, |residuals| self.scorer.loss(residuals));
            let tried = |&place: &usize| self.tried(losses[place], low, || *empty.get_or_init(|| fit.empty()));
            places.iter().map(tried).collect()
        };
        Ok(Some(lambdas.iter().map(of_lambda).collect()))
    }

    /// A loss with so many digits left.
    fn tried(&self, loss: f64, low: f64, empty: impl FnOnce() -> f64) -> Tried {
        match is_weak(low) {
            true if self.scorer.is_of_squares() => Tried { loss, is_weak: true, floor: floor(loss, low, empty()) },
            is_weak => Tried::new(loss, is_weak),
        }
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

/// Rounding of a squared loss, as a part of it and of the squares that it is a difference of, over what is left of the
/// digits: far above the 1e-16 of each operation.
const SLACK: f64 = 1e-11;
/// With no more left than this, a loss has no digits.
const LOST: f64 = 1e-9;

/// What a squared loss with so many digits left is not below, `empty` being that of the empty subset.
pub(super) fn floor(loss: f64, low: f64, empty: f64) -> f64 {
    let slack = SLACK / low * (loss + empty);
    if low > LOST && slack.is_finite() { loss - slack } else { f64::NEG_INFINITY }
}
