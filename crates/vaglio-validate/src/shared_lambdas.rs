//! Walks at several λ that share a design: a subset scored by one is scored for all of them.

use super::mean::lowest;
use super::subset_score::SubsetScore;
use std::sync::Arc;
use vaglio_core::{ByKey, Cache, Criterion, Design, Feature, Result};

/// Cached values of subsets at several λ, by the columns in order of entry and the bits of λ.
pub(crate) type KnownSubsets<T> = ByKey<(Vec<Feature>, Vec<u64>), Arc<Vec<T>>>;

/// The λ of a design's readout.
pub(crate) fn lambdas_of(design: &Design) -> Vec<f64> {
    design.readout().map_or_else(Vec::new, |readout| readout.lambdas.clone())
}

/// λ of a design and of all walks that share the design, with cached values of subsets at all of them.
pub(crate) struct SharedLambdas<T> {
    /// The design's own λ.
    pub own: Vec<f64>,
    /// The λ of all walks; the design's own λ if these are not among them.
    all: Vec<f64>,
    known: Arc<KnownSubsets<T>>,
}

impl<T: Clone> SharedLambdas<T> {
    /// Collects the λ of a design and of the walks that share it.
    pub fn new(design: &Design, known: Arc<KnownSubsets<T>>) -> Self {
        let own = lambdas_of(design);
        let shared = &design.run().shared_lambdas;
        let all = if own.iter().all(|lambda| shared.contains(lambda)) { shared.to_vec() } else { own.clone() };
        SharedLambdas { own, all, known }
    }

    /// Only the design's own λ.
    pub fn without_others(&self) -> Self {
        SharedLambdas { own: self.own.clone(), all: self.own.clone(), known: Arc::clone(&self.known) }
    }

    /// Number of λ at which a subset is scored.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether other walks score the subsets at other λ.
    pub fn are_several(&self) -> bool {
        self.all.len() > self.own.len()
    }

    /// The values of a subset at the design's own λ. If other walks need other λ, calls `make` for all of them and
    /// caches the result.
    pub fn for_subset(&self, subset: &[Feature], make: impl FnOnce(&[f64]) -> Result<Vec<T>>) -> Result<Vec<T>> {
        if !self.are_several() {
            return make(&self.own);
        }
        let key = (subset.to_vec(), self.all.iter().map(|lambda| lambda.to_bits()).collect());
        let computed = self.known.get_or_try_make(key, || make(&self.all).map(Arc::new))?;
        let own = self.all.iter().zip(&*computed).filter(|(lambda, _)| self.own.contains(lambda));
        Ok(own.map(|(_, value)| value.clone()).collect())
    }
}

/// A loss with its standard error, if requested; `None` if rounding leaves too few digits.
pub(crate) type LossAtLambda = Option<(f64, Option<f64>)>;

/// Cached losses with their key on a design: the criterion, whether rows are independent, and whether there are
/// standard errors.
type Losses<C> = ((C, bool, bool), Arc<KnownSubsets<LossAtLambda>>);

impl SharedLambdas<LossAtLambda> {
    /// Opens the cache of a criterion's losses on a design with `independent` rows or not.
    pub fn for_losses<C: Criterion + Clone + PartialEq + 'static>(
        design: &Design,
        criterion: &C,
        independent: bool,
    ) -> Result<Self> {
        let by = (criterion.clone(), independent, !design.run().skips_errors);
        let kept = design.session::<Cache<Losses<C>>>();
        let known = kept.get_or_try_make(|known| known.0 == by, || Ok((by.clone(), Arc::default())))?;
        Ok(SharedLambdas::new(design, Arc::clone(&known.1)))
    }

    /// The score of a subset with its standard error, from the loss `at` each λ. `None` if the loss at one of the
    /// design's own λ is missing.
    pub fn score(&self, subset: &[Feature], at: impl Fn(f64) -> Result<LossAtLambda>) -> Result<Option<SubsetScore>> {
        let losses = self.for_subset(subset, |lambdas| lambdas.iter().map(|&lambda| at(lambda)).collect())?;
        let Some(losses) = losses.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let score = lowest(self.own.iter().zip(&losses).map(|(lambda, (loss, _))| (*lambda, *loss)))?;
        let place = self.own.iter().position(|&lambda| Some(lambda) == score.lambda);
        Ok(Some(SubsetScore { error: place.and_then(|place| losses[place].1), ..SubsetScore::new(score) }))
    }
}
