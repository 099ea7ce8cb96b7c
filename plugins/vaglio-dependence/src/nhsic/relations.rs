//! Inner products of kernel matrices, computed as they are asked for.

use super::Nhsic;
use super::kernels::Kernels;
use rayon::prelude::*;
use std::sync::OnceLock;
use vaglio_core::{Design, Feature, Result};
use vaglio_kernels::Level;
use vaglio_kernels::hsic::shares;

/// Columns of which a whole column of Q is kept as soon as one of its entries is asked for; of more, when many are.
pub(super) const NARROW: usize = 512;

/// The kernels of all columns, c_i = <K̃_i, L̃> of each, and the columns of Q_ij = <K̃_i, K̃_j> that were asked for.
///
/// Memory that of the kernels, and 8 bytes an entry of Q that was asked for.
pub(super) struct Relations {
    level: Level,
    kernels: Kernels,
    /// Q_ii, 0 for a column that takes no part.
    own: Vec<f64>,
    relevance: Vec<f64>,
    total: f64,
    gram: Vec<OnceLock<Vec<f64>>>,
}

impl Relations {
    /// Cost O(d·m·rank²), by levels O(d·m·rank).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when the points' kernel matrix cannot be decomposed, and
    /// [`vaglio_core::Error::Stopped`].
    pub(super) fn new(nhsic: &Nhsic, design: &Design) -> Result<Self> {
        let level = Level::best();
        let shares = shares(design.rows(), design.weights());
        let all: Vec<Feature> = (0..design.features()).collect();
        let kernels = Kernels::new(nhsic, design, &all, level, &shares)?;
        let own = all.par_iter().map(|&i| kernels.own(i, level, nhsic.normalize)).collect();
        let target = nhsic.target(design, &shares);
        let matrix = nhsic.matrix(&target, level, &shares)?;
        let (relevance, total) = kernels.relevance(&matrix, level, design, nhsic.normalize)?;
        let gram = all.iter().map(|_| OnceLock::new()).collect();
        Ok(Relations { level, kernels, own, relevance, total, gram })
    }

    /// ‖L̃‖².
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// c of all columns.
    pub(super) fn relevances(&self) -> &[f64] {
        &self.relevance
    }

    /// c_i.
    pub(super) fn relevance(&self, feature: Feature) -> f64 {
        self.relevance.get(feature).copied().unwrap_or(0.0)
    }

    /// Q_ii.
    pub(super) fn own(&self, feature: Feature) -> f64 {
        self.own.get(feature).copied().unwrap_or(0.0)
    }

    /// How many columns there are.
    pub(super) fn features(&self) -> usize {
        self.own.len()
    }

    /// Q_ik of column i `feature` and k `with`, by the column of Q where that is kept or there are few. Cost O(m·rank²)
    /// otherwise, by levels O(m·rank).
    ///
    /// # Errors
    /// Those of [`Relations::gram`].
    pub(super) fn entry(&self, with: Feature, feature: Feature) -> Result<f64> {
        if self.features() <= NARROW || self.gram.get(with).is_some_and(|kept| kept.get().is_some()) {
            return Ok(self.gram(with)?.get(feature).copied().unwrap_or(0.0));
        }
        match feature {
            _ if feature == with => Ok(self.own(feature)),
            _ if feature.max(with) >= self.features() => Ok(0.0),
            _ => Ok(self.kernels.products(with, feature..feature + 1, self.level)?[0]),
        }
    }

    /// Column `feature` of Q, kept from then on. Cost O(d·m·rank²) the first time, by levels O(d·m·rank).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Stopped`], and [`vaglio_core::Error::Numerical`] of a decomposition.
    pub(super) fn gram(&self, feature: Feature) -> Result<&[f64]> {
        let Some(kept) = self.gram.get(feature) else { return Ok(&[]) };
        if kept.get().is_none() {
            // Not inside the lock: a thread that waits for others may come here again.
            let mut column = self.kernels.products(feature, 0..self.features(), self.level)?;
            column[feature] = self.own(feature);
            let _ = kept.set(column);
        }
        Ok(kept.get().map_or(&[], Vec::as_slice))
    }
}
