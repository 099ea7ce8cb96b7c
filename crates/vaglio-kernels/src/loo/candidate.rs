//! A candidate: C = G x of a column that is not selected, and the updates applied to it.

use super::RidgeState;
use super::basis::{RankOneUpdate, UpdateKind};
use super::conditioning::{is_cancelled, judged};
use super::trial::trial;
use crate::pass::{PassCandidate, PassVectors, alone};
use crate::sums::{axpy, dot};
use crate::{Data, Scorer, Trial};
use std::ops::Range;

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
    pub place: usize,
    /// Scaled x of an added column; `None` for a removal or a direction.
    pub x: Option<Vec<f64>>,
    pub c: &'k [f64],
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
    pub fn product(&self, data: &Data<'_>, feature: usize, c: &[f64]) -> f64 {
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

    /// C ← C − (g/τ) c_b, s ← s − g²/τ, t ← t − g t_b/τ.
    pub fn take_in(&mut self, data: &Data<'_>, feature: usize, pending: &PendingUpdate<'_>) {
        if let Some(step) = self.scalars_after(data, feature, pending) {
            axpy(data.level, -step, pending.c, &mut self.c);
        }
    }

    /// Updates the scalars and returns the step of C along c_b; `None` if the update was already applied.
    fn scalars_after(&mut self, data: &Data<'_>, feature: usize, pending: &PendingUpdate<'_>) -> Option<f64> {
        let is_open = pending.place >= self.until;
        is_open.then(|| self.scalars_by(pending.product(data, feature, &self.c), pending))
    }

    /// Updates the scalars given g and returns the step.
    pub fn scalars_by(&mut self, g: f64, pending: &PendingUpdate<'_>) -> f64 {
        self.until = pending.place + 1;
        let step = g / pending.tau;
        self.s -= g * step;
        self.t.iter_mut().zip(pending.t).for_each(|(t, tb)| *t -= step * tb);
        step
    }

    /// Applies the last update and tries the column.
    pub fn visit(
        &mut self,
        basis: &RidgeState<'_>,
        scorer: &Scorer,
        feature: usize,
        last: Option<&PendingUpdate<'_>>,
    ) -> Trial {
        let step = last.and_then(|p| Some((self.scalars_after(&basis.data, feature, p)?, p.c)));
        self.visit_by(basis, scorer, feature, step)
    }

    pub fn visit_by(
        &mut self,
        basis: &RidgeState<'_>,
        scorer: &Scorer,
        feature: usize,
        step: Option<(f64, &[f64])>,
    ) -> Trial {
        let kept = is_cancelled(self.s, basis.data.squares(feature)).then(|| (self.s, self.t.clone()));
        let step = self.settle(basis, feature, step);
        let trial = self.tried(basis, scorer, feature, step);
        if let Some(kept) = kept {
            // A trial changes no state, so later results do not depend on which candidates were tried.
            (self.s, self.t) = kept;
        }
        trial
    }

    fn tried(&mut self, basis: &RidgeState<'_>, scorer: &Scorer, feature: usize, step: Option<(f64, &[f64])>) -> Trial {
        let level = basis.data.level;
        let (inverse, left) = self.judgement(basis, feature);
        if let Some(pass) = scorer.pass() {
            let moving = self.moving(0..basis.d.len(), step.map_or(0.0, |(step, _)| step), inverse);
            let (a, d) = (&basis.a[0][..], &basis.d[..]);
            let shared = PassVectors { b: step.map_or(a, |(_, c)| c), a, d };
            let found = alone(level, moving, shared, step.is_some(), pass);
            return judged(scorer.trial(found), left);
        }
        if let Some((step, c)) = step {
            axpy(level, -step, c, &mut self.c);
        }
        judged(trial(basis, scorer, &self.c, &self.t, inverse), left)
    }

    /// 1/(λ + s), and the remaining share of the columns after adding this candidate.
    pub fn judgement(&self, basis: &RidgeState<'_>, feature: usize) -> (f64, f64) {
        let tau = basis.lambda + self.s;
        (1.0 / tau, basis.left_with(feature, tau))
    }

    /// If s is nearly cancelled, applies the step and recomputes s and t; otherwise returns the step, still to be
    /// applied.
    fn settle<'k>(
        &mut self,
        basis: &RidgeState<'_>,
        feature: usize,
        step: Option<(f64, &'k [f64])>,
    ) -> Option<(f64, &'k [f64])> {
        if !is_cancelled(self.s, basis.data.squares(feature)) {
            return step;
        }
        if let Some((step, c)) = step {
            axpy(basis.data.level, -step, c, &mut self.c);
        }
        (self.s, self.t) = basis.scalars(feature, &self.c);
        None
    }

    /// The candidate's part of a pass over some rows.
    pub fn moving(&mut self, rows: Range<usize>, step: f64, inverse: f64) -> PassCandidate<'_> {
        PassCandidate { step, f: self.t[0] * inverse, inverse, c: &mut self.c[rows] }
    }
}
