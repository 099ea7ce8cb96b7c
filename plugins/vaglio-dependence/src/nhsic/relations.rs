//! Inner products of kernel matrices, computed as they are asked for.

use super::Nhsic;
use rayon::prelude::*;
use std::sync::OnceLock;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Feature, Result};
use vaglio_kernels::Level;
use vaglio_kernels::hsic::{Landmarks, ThinFactor, gaussian, shares, standardized};

/// Columns of which a whole column of Q is kept as soon as one of its entries is asked for; of more, when many are.
pub(super) const NARROW: usize = 512;

/// The factors of all columns, c_i = <K̃_i, L̃> of each, and the columns of Q_ij = <K̃_i, K̃_j> that were asked for.
///
/// Memory 8·m·rank bytes a column, and 8 bytes an entry of Q that was asked for.
pub(super) struct Relations {
    level: Level,
    factors: Vec<ThinFactor>,
    /// Q_ii, 0 for a column that takes no part.
    own: Vec<f64>,
    relevance: Vec<f64>,
    total: f64,
    gram: Vec<OnceLock<Vec<f64>>>,
}

impl Relations {
    /// Cost O(d·m·rank²).
    ///
    /// # Errors
    /// [`vaglio_core::Error::Numerical`] when the points' kernel matrix cannot be decomposed, and
    /// [`vaglio_core::Error::Stopped`].
    pub(super) fn new(nhsic: &Nhsic, design: &Design) -> Result<Self> {
        let level = Level::best();
        let shares = shares(design.rows(), design.weights());
        let bandwidth = nhsic.kernel.bandwidth;
        let landmarks = landmarks(nhsic, design.rows())?;
        let column = |feature: Feature| -> Result<(ThinFactor, f64)> {
            design.sign().check()?;
            let Some(values) = standardized(&design.column(feature).values(), &shares) else {
                return Ok((ThinFactor::default(), 0.0));
            };
            let factor = match &landmarks {
                Some(landmarks) => landmarks.factor(level, &shares, &values),
                None => gaussian(level, &shares, &[values], bandwidth),
            };
            Ok(scaled(nhsic, level, factor))
        };
        let columns: Vec<(ThinFactor, f64)> =
            (0..design.features()).into_par_iter().map(column).collect::<Result<_>>()?;
        let gram = columns.iter().map(|_| OnceLock::new()).collect();
        let (factors, own): (Vec<ThinFactor>, Vec<f64>) = columns.into_iter().unzip();
        let target = nhsic.target(design, &shares);
        let (relevance, total) =
            nhsic.matrix(&target, level, &shares)?.products(level, design, &factors, nhsic.normalize)?;
        Ok(Relations { level, factors, own, relevance, total, gram })
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
        self.factors.len()
    }

    /// Q_ik of column i `feature` and k `with`, by the column of Q where that is kept or there are few. Cost O(m·rank²)
    /// otherwise.
    pub(super) fn entry(&self, with: Feature, feature: Feature) -> f64 {
        if self.factors.len() <= NARROW {
            return self.gram(with).get(feature).copied().unwrap_or(0.0);
        }
        if let Some(column) = self.gram.get(with).and_then(OnceLock::get) {
            return column.get(feature).copied().unwrap_or(0.0);
        }
        match (self.factors.get(feature), self.factors.get(with)) {
            _ if feature == with => self.own(feature),
            (Some(theirs), Some(factor)) => theirs.inner(self.level, factor),
            _ => 0.0,
        }
    }

    /// Column `feature` of Q, kept from then on. Cost O(d·m·rank²) the first time.
    pub(super) fn gram(&self, feature: Feature) -> &[f64] {
        let (Some(kept), Some(factor)) = (self.gram.get(feature), self.factors.get(feature)) else { return &[] };
        if kept.get().is_none() {
            let inner = |(other, theirs): (usize, &ThinFactor)| match other == feature {
                true => self.own(feature),
                false => theirs.inner(self.level, factor),
            };
            // Not inside the lock: a thread that waits for others may come here again.
            let column = self.factors.par_iter().enumerate().map(inner).collect();
            let _ = kept.set(column);
        }
        kept.get().map_or(&[], Vec::as_slice)
    }
}

/// The points of the columns' approximation, where there is one.
///
/// # Errors
/// [`vaglio_core::Error::Numerical`].
pub(super) fn landmarks(nhsic: &Nhsic, rows: usize) -> Result<Option<Landmarks>> {
    if nhsic.is_sampled(rows) { nhsic.landmarks().map(Some) } else { Ok(None) }
}

/// A factor as the setting wants it, with ‖K̃‖².
fn scaled(nhsic: &Nhsic, level: Level, factor: ThinFactor) -> (ThinFactor, f64) {
    let factor = if nhsic.normalize { factor.normalized(level) } else { factor };
    let own = match (nhsic.normalize, factor.rank()) {
        (_, 0) => 0.0,
        (true, _) => 1.0,
        (false, _) => factor.inner(level, &factor),
    };
    (factor, own)
}
