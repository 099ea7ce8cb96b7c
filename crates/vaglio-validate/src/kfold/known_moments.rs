//! Moments that walks of a design share at all their λ.

use crate::shared_lambdas::KnownSubsets;
use std::sync::{Arc, Mutex};
use vaglio_core::{Design, lock};
use vaglio_kernels::Folds;
use vaglio_kernels::kfold::{FoldedRows, Moments};

/// The moments of a design in some folds.
pub(crate) struct KnownMoments {
    folds: Folds,
    /// Whether losses balance classes.
    balances_losses: bool,
    pub moments: Arc<Moments>,
    /// Loss in each fold and conditioning of subsets without a state.
    pub subsets: Arc<KnownSubsets<(Vec<f64>, f64)>>,
}

/// The moments of a design in all folds that were computed, in their order.
type AllMoments = Mutex<Vec<Arc<KnownMoments>>>;

impl KnownMoments {
    /// The cached moments of a design in folds, by whether losses balance classes and columns are lazy.
    /// `None` if no search has computed them.
    pub fn find(design: &Design, folds: &Folds, balances_losses: bool, by_columns: bool) -> Option<Arc<Self>> {
        let is_known = |known: &&Arc<KnownMoments>| {
            let is_of = known.folds == *folds && known.balances_losses == balances_losses;
            is_of && known.moments.are_by_columns() == by_columns
        };
        lock(&design.session::<AllMoments>()).iter().find(is_known).cloned()
    }

    /// Caches the moments of rows, unless another walk already did; returns the cached ones.
    pub fn keep(design: &Design, rows: &FoldedRows<'_>, moments: Moments) -> Arc<Self> {
        let (folds, balances_losses) = (&rows.folds, rows.balances_losses());
        let known = Self::find(design, folds, balances_losses, moments.are_by_columns());
        known.unwrap_or_else(|| {
            let (folds, subsets) = (folds.clone(), Arc::default());
            let made = Arc::new(KnownMoments { folds, balances_losses, moments: Arc::new(moments), subsets });
            lock(&design.session::<AllMoments>()).push(Arc::clone(&made));
            made
        })
    }
}

/// The moments of the first round of a search on the design, if it computed any.
pub fn searched_moments(design: &Design) -> Option<Arc<Moments>> {
    Some(Arc::clone(&lock(&design.session::<AllMoments>()).first()?.moments))
}
