//! Moments that walks of a design share at all their λ.

use super::cells;
use super::settings::KFold;
use crate::fits::fit_error;
use crate::shared_lambdas::KnownSubsets;
use std::sync::{Arc, Mutex};
use vaglio_core::{Design, Result, lock};
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

    /// The moments of a design in the folds of `rows`, computed on first use. Columns are read lazily if `by_columns`,
    /// else all at once, or taken from cells that subsets of the rows share.
    pub fn get_or_compute(
        criterion: &KFold,
        design: &Design,
        rows: &FoldedRows<'_>,
        by_columns: bool,
    ) -> Result<Arc<Self>> {
        let (folds, balances_losses) = (&rows.folds, rows.balances_losses());
        let find = || Self::find(design, folds, balances_losses, by_columns);
        if let Some(known) = find() {
            return Ok(known);
        }
        let moments = match by_columns {
            true => Moments::by_columns(rows),
            false => cells::moments(criterion, design, rows)?.map_or_else(|| Moments::new(rows), Ok),
        };
        let moments = Arc::new(moments.map_err(fit_error)?);
        // Another walk may have been faster.
        Ok(find().unwrap_or_else(|| {
            let made =
                Arc::new(KnownMoments { folds: folds.clone(), balances_losses, moments, subsets: Arc::default() });
            lock(&design.session::<AllMoments>()).push(Arc::clone(&made));
            made
        }))
    }
}

/// The moments of the first round of a search on the design, if it computed any.
pub fn searched_moments(design: &Design) -> Option<Arc<Moments>> {
    Some(Arc::clone(&lock(&design.session::<AllMoments>()).first()?.moments))
}
