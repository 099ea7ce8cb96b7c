//! Selected columns in order of addition, and candidates updated by them.
//!
//! Gram–Schmidt in each fold; the book, *Cross-validation without refitting*, "Rows held out".

use super::HoldOutRows;
use super::fold_products::{PendingColumnUpdate, squares, subtract, take_in};
use super::fold_scaling::{centered_by_fold, products};
use crate::sums::{TILE, axpy, dot};
use crate::tolerance::AS_ENTERED;
use crate::trial::worse;
use crate::{Scorer, Trial};
use std::sync::Arc;

/// State of a column at its addition.
#[derive(Debug)]
pub(super) struct ColumnUpdate {
    pub feature: usize,
    pub residual: Residual,
    /// Held-out residual of x in each fold.
    pub e: Vec<f64>,
    /// Penalty + squared training residual of each fold.
    pub sigma: Vec<f64>,
    /// xᵀ(residual of y) over each fold's training rows: folds × outputs.
    pub q: Vec<f64>,
    /// Coefficient of each earlier update for x: updates × folds.
    pub steps: Vec<f64>,
    /// Smallest share of the column, over folds, that remained in the training rows at its addition.
    part: f64,
    /// Conditioning of its trial, with earlier additions.
    conditioning: f64,
}

/// Residual of a column after a fit by the columns before it.
#[derive(Debug)]
pub(super) enum Residual {
    /// c, of a fit to all rows, and λ + xᵀc.
    OfAll { c: Vec<f64>, tau: f64 },
    /// Residuals of fits to each fold's training rows, if penalties differ by fold: folds × rows.
    OfFolds(Vec<f64>),
}

/// Selected columns in order of addition; only additions, so that errors do not accumulate.
#[derive(Debug, Clone)]
pub(super) struct UpdateChain {
    pub updates: Vec<Arc<ColumnUpdate>>,
    /// Held-out residuals of each output.
    pub residuals: Vec<Vec<f64>>,
}

/// A candidate column with some updates applied; at first for the empty subset.
#[derive(Debug, Clone)]
pub(super) struct HeldOutCandidate {
    /// Held-out residual of x in each fold.
    pub e: Vec<f64>,
    /// Penalty + squared training residual of each fold.
    pub sigma: Vec<f64>,
    /// xᵀ(residual of y) over each fold's training rows: folds × outputs.
    pub q: Vec<f64>,
    /// Penalty + ‖x‖² about each fold's training mean, over all rows.
    pub base: Vec<f64>,
    pub applied: usize,
}

impl UpdateChain {
    pub fn new(rows: &HoldOutRows<'_>) -> Self {
        UpdateChain { updates: Vec::new(), residuals: rows.residuals.clone() }
    }

    /// Conditioning of the residuals; 1 for the empty subset.
    pub fn conditioning(&self) -> f64 {
        self.updates.iter().map(|update| update.conditioning).fold(1.0, worse)
    }

    /// Whether the updates are accurate enough for the score and trials of removal. Otherwise these are computed from the
    /// rows.
    pub fn is_sound(&self) -> bool {
        self.conditioning() >= AS_ENTERED
    }

    /// Conditioning with one more column, which keeps the share `part`; errors of this and the smallest share multiply.
    fn low_with(&self, part: f64) -> f64 {
        let smallest = self.updates.iter().map(|update| update.part).fold(1.0, worse);
        worse(smallest * part, self.conditioning())
    }

    /// Drops all updates but the first ones. Cost O(m · outputs) for each kept one.
    pub fn truncate(&mut self, rows: &HoldOutRows<'_>, length: usize) {
        self.updates.truncate(length);
        self.residuals.clone_from(&rows.residuals);
        self.updates.iter().for_each(|update| update.leave_residuals(rows, &mut self.residuals));
    }

    /// Adds a column. Cost O(m·s), and K times that if folds standardize.
    pub fn push(&mut self, rows: &HoldOutRows<'_>, lambda: f64, feature: usize) {
        let x = rows.column(feature);
        let mut residual = Residual::new(rows, feature, &x);
        let mut candidate = rows.candidate(lambda, feature, &x);
        let mut steps = vec![0.0; self.updates.len() * rows.folds()];
        let by_update = steps.chunks_mut(rows.folds().max(1));
        for (update, steps) in self.updates.iter().zip(by_update) {
            candidate.take_in(rows, feature, &x, update, Some(steps));
            residual.take_in(rows, update, steps);
        }
        if let Residual::OfAll { c, tau } = &mut residual {
            *tau = lambda + dot(&x, c);
        }
        let part = candidate.part();
        let conditioning = self.low_with(part);
        let HeldOutCandidate { e, sigma, q, .. } = candidate;
        let update = ColumnUpdate { feature, residual, e, sigma, q, steps, part, conditioning };
        update.leave_residuals(rows, &mut self.residuals);
        self.updates.push(Arc::new(update));
    }
}

impl Residual {
    /// Residual for the empty subset.
    fn new(rows: &HoldOutRows<'_>, feature: usize, x: &[f64]) -> Self {
        match rows.rows.standardize {
            true => Residual::OfFolds(centered_by_fold(rows, feature, x)),
            false => Residual::OfAll { c: x.to_vec(), tau: 0.0 },
        }
    }

    /// Subtracts an update from the residual; `steps` are the coefficients in each fold.
    fn take_in(&mut self, rows: &HoldOutRows<'_>, update: &ColumnUpdate, steps: &[f64]) {
        match (self, &update.residual) {
            (Residual::OfAll { c, .. }, Residual::OfAll { c: before, tau }) => {
                let g = dot(&rows.column(update.feature), c);
                axpy(-g / tau, before, c);
            }
            (Residual::OfFolds(own), Residual::OfFolds(before)) => {
                let fold_length = rows.root.len().max(1);
                for ((own, before), step) in own.chunks_mut(fold_length).zip(before.chunks(fold_length)).zip(steps) {
                    axpy(-step, before, own);
                }
            }
            // All updates of a chain are of one kind.
            _ => {}
        }
    }
}

impl ColumnUpdate {
    /// r_U ← r_U − E_U q_U/σ_U.
    pub fn leave_residuals(&self, rows: &HoldOutRows<'_>, residuals: &mut [Vec<f64>]) {
        let outputs = residuals.len();
        for (o, r) in residuals.iter_mut().enumerate() {
            let step = |k: usize| self.q[k * outputs + o] / self.sigma[k];
            subtract(&rows.starts, 0, step, &self.e, r);
        }
    }

    /// The update, to apply to a column.
    fn pending(&self, rows: &HoldOutRows<'_>, feature: usize, x: &[f64]) -> PendingColumnUpdate<'_> {
        let products = match &self.residual {
            Residual::OfAll { c, .. } => vec![dot(x, c)],
            Residual::OfFolds(all) => products(rows, feature, x, all),
        };
        PendingColumnUpdate { update: self, products }
    }
}

impl HeldOutCandidate {
    /// Smallest remaining share of the column, over folds, in the training rows.
    fn part(&self) -> f64 {
        self.sigma.iter().zip(&self.base).map(|(sigma, base)| sigma / base).fold(1.0, worse)
    }

    fn take_in(
        &mut self,
        rows: &HoldOutRows<'_>,
        feature: usize,
        x: &[f64],
        update: &ColumnUpdate,
        steps: Option<&mut [f64]>,
    ) {
        take_in(&rows.starts, self, &update.pending(rows, feature, x), steps);
        self.applied += 1;
    }

    /// Applies pending updates and tries the column. Cost O(m · (pending updates + outputs)).
    pub fn visit(
        &mut self,
        rows: &HoldOutRows<'_>,
        chain: &UpdateChain,
        scorer: &Scorer,
        feature: usize,
        x: &[f64],
    ) -> Trial {
        let fused = scorer.is_of_squares() && chain.residuals.len() == 1;
        let alone = chain.updates.len() - usize::from(fused && self.applied < chain.updates.len());
        while self.applied < alone {
            self.take_in(rows, feature, x, &chain.updates[self.applied], None);
        }
        if fused {
            let pending = chain.updates.get(self.applied).map(|last| last.pending(rows, feature, x));
            self.applied = chain.updates.len();
            let sum = squares(&rows.starts, self, pending.as_ref(), &chain.residuals[0]);
            return Trial::new(scorer.mean_of(sum), chain.low_with(self.part()));
        }
        let outputs = chain.residuals.len();
        let step = |o: usize, k: usize| self.q[k * outputs + o] / self.sigma[k];
        trial_after(rows, scorer, step, &self.e, &chain.residuals, chain.low_with(self.part()))
    }
}

/// Trial of the residuals r − step_k E, tile by tile. Cost O(m · outputs).
pub(super) fn trial_after(
    rows: &HoldOutRows<'_>,
    scorer: &Scorer,
    step: impl Fn(usize, usize) -> f64,
    e: &[f64],
    residuals: &[Vec<f64>],
    conditioning: f64,
) -> Trial {
    let mut parts = vec![vec![0.0; TILE.min(e.len())]; residuals.len()];
    let mut tally = scorer.start();
    for start in (0..e.len()).step_by(TILE) {
        let end = e.len().min(start + TILE);
        for (o, (part, r)) in parts.iter_mut().zip(residuals).enumerate() {
            let part = &mut part[..end - start];
            part.copy_from_slice(&r[start..end]);
            subtract(&rows.starts, start, |k| step(o, k), e, part);
        }
        scorer.add(&mut tally, start, &parts, end - start);
    }
    scorer.finish(tally, conditioning)
}
