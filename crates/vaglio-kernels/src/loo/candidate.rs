//! A candidate: C = G x of a column that is not selected, and the updates applied to it.

use super::RidgeState;
use super::basis::{RankOneUpdate, UpdateKind};
use super::conditioning::is_cancelled;
use crate::sums::{axpy, dot};
use crate::{Data, Scorer, Trial};

/// C = G x, s = xᵀC and t = xᵀa of a column.
#[derive(Debug, Clone)]
pub(super) struct CandidateColumn {
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
    c: &'k [f64],
    tau: f64,
    t: &'k [f64],
}

/// A candidate with its feature.
pub(super) type Placed<'k> = (usize, &'k mut CandidateColumn);

/// Updates of a basis in a range of indices.
pub(super) fn pending<'k>(basis: &'k RidgeState<'_>, from: usize, to: usize) -> Vec<PendingUpdate<'k>> {
    let updates = basis.updates.iter().enumerate().take(to).skip(from);
    updates
        .map(|(place, update)| {
            let RankOneUpdate { kind, c, tau, t } = &**update;
            let x = if let UpdateKind::Entry(feature) = kind { Some(basis.data.scaled(*feature)) } else { None };
            PendingUpdate { place, x, c, tau: *tau, t }
        })
        .collect()
}

impl PendingUpdate<'_> {
    /// g = x_bᵀC for an added column b, or xᵀC_b with the candidate's x for a removed one. The two are equal, but
    /// errors of the first grow with every change.
    fn product(&self, data: &Data<'_>, feature: usize, c: &[f64]) -> f64 {
        match &self.x {
            Some(x) => dot(data.level, x, c),
            None => data.product(feature, self.c),
        }
    }
}

impl CandidateColumn {
    /// Computes G x and its scalars, applying one update after the other. Cost O(m·s).
    pub fn new(basis: &RidgeState<'_>, feature: usize) -> Self {
        let c = basis.residual(feature);
        let (s, t) = basis.scalars(feature, &c);
        CandidateColumn { until: basis.updates.len(), c, s, t }
    }

    /// C ← C − (g/τ) c_b, s ← s − g²/τ, t ← t − g t_b/τ, unless the update was already applied.
    pub fn take_in(&mut self, data: &Data<'_>, feature: usize, pending: &PendingUpdate<'_>) {
        if pending.place < self.until {
            return;
        }
        let g = pending.product(data, feature, &self.c);
        let step = g / pending.tau;
        self.until = pending.place + 1;
        self.s -= g * step;
        self.t.iter_mut().zip(pending.t).for_each(|(t, tb)| *t -= step * tb);
        axpy(data.level, -step, pending.c, &mut self.c);
    }

    /// Tries the column. If s is nearly cancelled, s and t are computed again, for the trial alone: later results do not
    /// depend on which candidates were tried.
    pub fn visit(&self, basis: &RidgeState<'_>, scorer: &Scorer, feature: usize) -> Trial {
        let again;
        let (s, t) = match is_cancelled(self.s, basis.data.squares(feature)) {
            true => {
                again = basis.scalars(feature, &self.c);
                (again.0, &again.1)
            }
            false => (self.s, &self.t),
        };
        basis.trial(scorer, feature, &self.c, s, t)
    }
}
