//! Session: values of a design that leave-one-out, folds and the final fit compute once for all λ.

use super::shared_lambdas::KnownSubsets;
use std::sync::{Arc, Mutex};
use vaglio_core::{Cache, Design, lock};
use vaglio_kernels::kfold::{GroupSums, Moments, NormalEquations};
use vaglio_kernels::loo::RowSpectrum;
use vaglio_kernels::{Folds, GramCache};

/// Cached values that depend on a design's columns, targets and weights, not on λ; see [`Design::session`].
#[derive(Default)]
pub struct Session {
    /// Norms of columns and products with targets, and sums over blocks of rows that searched subsets share.
    pub gram: Cache<GramCache>,
    /// Products over the cells of rows that folds of searched subsets share, and the cell of each row.
    pub(crate) cells: Cache<(GroupSums, Vec<u32>)>,
    /// Normal equations of columns over all rows, from the last final fit.
    pub normal_equations: Cache<NormalEquations>,
    /// The last subset with at least as many columns as rows, decomposed for leave-one-out; the flag is the intercept.
    pub(crate) wide: Cache<(bool, Vec<usize>, RowSpectrum)>,
    moments: Mutex<Vec<(Folds, Arc<KnownMoments>)>>,
}

/// The moments of a design, with derived values for all λ of walks that share the design.
pub(crate) struct KnownMoments {
    /// Moments of every fold.
    pub moments: Arc<Moments>,
    /// Loss in each fold and conditioning of subsets without a state.
    pub subsets: Arc<KnownSubsets<(Vec<f64>, f64)>>,
}

impl Session {
    /// The session of a design, shared with the same design at other λ.
    pub fn for_design(design: &Design) -> Arc<Self> {
        design.session()
    }

    /// The cached moments in folds, by whether losses weight classes equally (`alike`) and columns are lazy. `None` if
    /// no search has computed them.
    pub(crate) fn moments_in(&self, folds: &Folds, alike: bool, by_columns: bool) -> Option<Arc<KnownMoments>> {
        let all = lock(&self.moments);
        let is_known = |(own, known): &&(Folds, Arc<KnownMoments>)| {
            let moments = &known.moments;
            own == folds && moments.counts_classes_alike == alike && moments.are_by_columns() == by_columns
        };
        all.iter().find(is_known).map(|(_, known)| Arc::clone(known))
    }

    /// Caches the moments in folds, unless another walk already did; returns the cached ones.
    pub(crate) fn keep_moments(&self, folds: &Folds, moments: Moments) -> Arc<KnownMoments> {
        let known = self.moments_in(folds, moments.counts_classes_alike, moments.are_by_columns());
        known.unwrap_or_else(|| {
            let made = Arc::new(KnownMoments { moments: Arc::new(moments), subsets: Arc::default() });
            lock(&self.moments).push((folds.clone(), Arc::clone(&made)));
            made
        })
    }

    /// The moments of the first round of the search, if it computed any.
    pub fn moments(&self) -> Option<Arc<Moments>> {
        Some(Arc::clone(&lock(&self.moments).first()?.1.moments))
    }
}
