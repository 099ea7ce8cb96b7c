//! A candidate: C = G x of a column that is not selected, and the updates applied to it.

use super::RidgeState;
use super::basis::RankOneUpdate;
use super::trial::RunningTrial;
use crate::sums::{TILE, axpy, dot};
use crate::tolerance::CANCELLED_PRODUCT;
use crate::{Data, Scorer, Trial};

/// C = G x, s = xᵀC and t = xᵀa of a column.
#[derive(Debug, Clone)]
pub(super) struct CandidateColumn {
    pub feature: usize,
    /// Number of updates applied.
    pub until: usize,
    pub c: Vec<f64>,
    pub s: f64,
    pub t: Vec<f64>,
}

/// An update that is not yet applied to all candidates.
pub(super) struct PendingUpdate<'k> {
    /// Index of the update.
    place: usize,
    /// Scaled x of an added column; `None` for a removal or a direction.
    x: Option<Vec<f64>>,
    update: &'k RankOneUpdate,
}

/// Updates of a basis in a range of indices.
pub(super) fn pending<'k>(basis: &'k RidgeState<'_>, from: usize, to: usize) -> Vec<PendingUpdate<'k>> {
    let updates = basis.updates.iter().enumerate().take(to).skip(from);
    updates
        .map(|(place, update)| {
            let x = update.added_feature().map(|feature| basis.data.scaled_column(feature));
            PendingUpdate { place, x, update }
        })
        .collect()
}

impl PendingUpdate<'_> {
    /// g = x_bᵀC for an added column b, or xᵀC_b with the candidate's x for a removed one. The two are equal, but
    /// errors of the first grow with every change.
    fn product(&self, data: &Data<'_>, feature: usize, c: &[f64]) -> f64 {
        match &self.x {
            Some(x) => dot(x, c),
            None => data.product(feature, &self.update.c),
        }
    }
}

impl CandidateColumn {
    /// Computes G x and its scalars, applying one update after the other. Cost O(m·s).
    pub fn new(basis: &RidgeState<'_>, feature: usize) -> Self {
        let c = basis.residual(feature);
        let (s, t) = basis.scalars(feature, &c);
        CandidateColumn { feature, until: basis.updates.len(), c, s, t }
    }

    /// C ← C − (g/τ) c_b, s ← s − g²/τ, t ← t − g t_b/τ, unless the update was already applied.
    pub fn apply(&mut self, data: &Data<'_>, pending: &PendingUpdate<'_>) {
        if let Some(step) = self.step(data, pending) {
            axpy(-step, &pending.update.c, &mut self.c);
        }
    }

    /// Updates s and t, and returns the step of C along c_b; `None` if the update was already applied.
    fn step(&mut self, data: &Data<'_>, pending: &PendingUpdate<'_>) -> Option<f64> {
        if pending.place < self.until {
            return None;
        }
        let g = pending.product(data, self.feature, &self.c);
        let step = g / pending.update.tau;
        self.until = pending.place + 1;
        self.s -= g * step;
        axpy(-step, &pending.update.t, &mut self.t);
        Some(step)
    }

    /// Applies the last update and tries the column, tile by tile. If s is nearly cancelled, s and t are computed again,
    /// for the trial alone: later results do not depend on which candidates were tried.
    pub fn trial(&mut self, basis: &RidgeState<'_>, scorer: &Scorer, last: Option<&PendingUpdate<'_>>) -> Trial {
        let feature = self.feature;
        let update = last.and_then(|last| Some((self.step(&basis.data, last)?, &last.update.c)));
        if self.s < CANCELLED_PRODUCT * basis.data.squares(feature) {
            if let Some((step, c)) = update {
                axpy(-step, c, &mut self.c);
            }
            let (s, t) = basis.scalars(feature, &self.c);
            return basis.trial(scorer, feature, &self.c, s, &t);
        }
        let tau = basis.lambda + self.s;
        let mut running = RunningTrial::new(basis, scorer, &self.t, 1.0 / tau);
        for (place, own) in self.c.chunks_mut(TILE).enumerate() {
            if let Some((step, c)) = update {
                axpy(-step, &c[place * TILE..], own);
            }
            running.add(place * TILE, own);
        }
        running.finish(basis.left_with(feature, tau))
    }
}
