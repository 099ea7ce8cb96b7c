//! What leave-one-out, folds and the final fit compute of a design once, for all λ.

use super::shared_lambdas::KnownSubsets;
use std::sync::{Arc, Mutex};
use vaglio_core::{Cache, Design};
use vaglio_kernels::kfold::{Cells, Moments, NormalEquations};
use vaglio_kernels::loo::RowSpectrum;
use vaglio_kernels::{BlockSums, Folds, GramCache};

/// What depends on the columns, targets and weights of a design, not on λ; see [`Design::session`].
#[derive(Default)]
pub struct Session {
    /// Norms of columns and products with targets.
    pub gram: Cache<GramCache>,
    /// Sums over the blocks of rows that parts of the design have in common.
    pub blocks: Cache<BlockSums>,
    /// Products over the cells of rows that the folds of parts have in common, with the cell of each row.
    pub cells: Cache<(Cells, Vec<u32>)>,
    /// Normal equations of columns over all rows, those of the last final fit.
    pub normal_equations: Cache<NormalEquations>,
    /// The last subset of at least as many columns as rows, decomposed for leave-one-out; with an intercept or without.
    pub wide: Cache<(bool, Vec<usize>, RowSpectrum)>,
    moments: Mutex<Vec<(Folds, Arc<KnownMoments>)>>,
}

/// The moments of a design, with what is computed from them for all λ whose walks share the design.
#[derive(Debug)]
pub struct KnownMoments {
    /// Of every fold.
    pub moments: Arc<Moments>,
    /// What subsets without a state lose in each fold, with the conditioning.
    pub subsets: KnownSubsets<(Vec<f64>, f64)>,
}

impl Session {
    /// That of a design, shared with the same design at other λ.
    pub fn of(design: &Design) -> Arc<Self> {
        design.session()
    }

    /// The moments in folds, with losses in which classes count alike or not, made column by column or at once, if a search has
    /// computed them.
    pub fn moments_in(&self, folds: &Folds, alike: bool, by_columns: bool) -> Option<Arc<KnownMoments>> {
        let all = self.moments.lock().ok()?;
        let is_known = |(own, known): &&(Folds, Arc<KnownMoments>)| {
            let moments = &known.moments;
            own == folds && moments.counts_classes_alike() == alike && moments.are_by_columns() == by_columns
        };
        all.iter().find(is_known).map(|(_, known)| Arc::clone(known))
    }

    /// Keeps the moments in folds, unless another walk was faster, and gives those that are kept.
    pub fn keep_moments(&self, folds: &Folds, moments: Moments) -> Arc<KnownMoments> {
        let known = self.moments_in(folds, moments.counts_classes_alike(), moments.are_by_columns());
        known.unwrap_or_else(|| {
            let made = Arc::new(KnownMoments { moments: Arc::new(moments), subsets: KnownSubsets::default() });
            if let Ok(mut all) = self.moments.lock() {
                all.push((folds.clone(), Arc::clone(&made)));
            }
            made
        })
    }

    /// The moments of the first round of the search, if it computed any.
    pub fn moments(&self) -> Option<Arc<Moments>> {
        Some(Arc::clone(&self.moments.lock().ok()?.first()?.1.moments))
    }
}
