//! Selected columns in order of addition, and candidates updated by them.
//!
//! Gram–Schmidt in each fold; the book, *Cross-validation without refitting*, "Rows held out".

use super::HoldOutRows;
use super::fold_products::{apply_update, squares, subtract};
use crate::data::slice_products;
use crate::score::Tally;
use crate::sums::{TILE, axpy, dot};
use crate::tolerance::AS_ENTERED;
use crate::trial::worse;
use crate::{Scorer, Trial};
use std::sync::Arc;

/// A selected column, as it was at its addition.
#[derive(Debug)]
pub(super) struct ColumnUpdate {
    /// The column after all earlier updates.
    pub column: HeldOutColumn,
    /// Residual c of x after a fit by the columns before it. If penalties differ by fold, the residuals of fits to each
    /// fold's training rows: folds × rows.
    pub residual: Vec<f64>,
    /// λ + xᵀc; `None` if penalties differ by fold.
    pub tau: Option<f64>,
    /// Coefficient of each earlier update for x: updates × folds.
    pub steps: Vec<f64>,
}

/// Selected columns in order of addition, for one λ; only additions, so that errors do not accumulate.
#[derive(Debug, Clone)]
pub(super) struct UpdateChain<'d> {
    pub rows: Arc<HoldOutRows<'d>>,
    pub lambda: f64,
    pub updates: Vec<Arc<ColumnUpdate>>,
    /// Held-out residuals of each output.
    pub residuals: Vec<Vec<f64>>,
    /// Conditioning of the residuals; 1 for the empty subset.
    pub conditioning: f64,
    /// Smallest share of a selected column, over folds, that remained in the training rows at its addition.
    share: f64,
}

/// A column with some updates applied; at first for the empty subset.
#[derive(Debug, Clone)]
pub(super) struct HeldOutColumn {
    pub feature: usize,
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

impl<'d> UpdateChain<'d> {
    pub fn new(rows: Arc<HoldOutRows<'d>>, lambda: f64) -> Self {
        let residuals = rows.residuals.clone();
        UpdateChain { rows, lambda, updates: Vec::new(), residuals, conditioning: 1.0, share: 1.0 }
    }

    /// Whether the updates are accurate enough for the score and trials of removal. Otherwise these are computed from the
    /// rows.
    pub fn is_sound(&self) -> bool {
        self.conditioning >= AS_ENTERED
    }

    /// Conditioning with one more column, which keeps this `share`; errors of this and the smallest share multiply.
    fn conditioning_with(&self, share: f64) -> f64 {
        worse(self.share * share, self.conditioning)
    }

    /// Drops all updates but the first ones. Cost O(m · outputs) for each kept one.
    pub fn truncate(&mut self, length: usize) {
        let mut kept = std::mem::take(&mut self.updates);
        kept.truncate(length);
        *self = UpdateChain::new(Arc::clone(&self.rows), self.lambda);
        kept.into_iter().for_each(|update| self.append(update));
    }

    /// Appends an update. Cost O(m · outputs).
    fn append(&mut self, update: Arc<ColumnUpdate>) {
        let share = update.column.share();
        self.conditioning = self.conditioning_with(share);
        self.share = worse(self.share, share);
        update.subtract_from_residuals(&self.rows, &mut self.residuals);
        self.updates.push(update);
    }

    /// Adds a column. Cost O(m·s), and K times that if folds standardize.
    pub fn push(&mut self, feature: usize) {
        let (shared, lambda) = (Arc::clone(&self.rows), self.lambda);
        let rows = &*shared;
        let x = rows.column(feature);
        let mut residual = if rows.folded.standardize { centered_by_fold(rows, feature, &x) } else { x.to_vec() };
        let mut candidate = rows.candidate(lambda, feature, &x);
        let mut steps = Vec::with_capacity(self.updates.len() * rows.folds());
        for update in &self.updates {
            let fold_steps = candidate.apply(rows, &x, update);
            update.subtract_from_column(rows, &fold_steps, &mut residual);
            steps.extend(fold_steps);
        }
        let tau = (!rows.folded.standardize).then(|| lambda + dot(&x, &residual));
        self.append(Arc::new(ColumnUpdate { column: candidate, residual, tau, steps }));
    }
}

impl ColumnUpdate {
    /// r_U ← r_U − E_U q_U/σ_U.
    pub fn subtract_from_residuals(&self, rows: &HoldOutRows<'_>, residuals: &mut [Vec<f64>]) {
        let (outputs, HeldOutColumn { e, sigma, q, .. }) = (residuals.len(), &self.column);
        for (o, r) in residuals.iter_mut().enumerate() {
            subtract(&rows.starts, 0, |k| q[k * outputs + o] / sigma[k], e, r);
        }
    }

    /// Subtracts the update from the residual of a later column; `steps` are the coefficients in each fold.
    fn subtract_from_column(&self, rows: &HoldOutRows<'_>, steps: &[f64], residual: &mut [f64]) {
        if let Some(tau) = self.tau {
            let g = dot(&rows.column(self.column.feature), residual);
            return axpy(-g / tau, &self.residual, residual);
        }
        let fold_length = rows.root.len().max(1);
        let folds = residual.chunks_mut(fold_length).zip(self.residual.chunks(fold_length)).zip(steps);
        folds.for_each(|((own, before), step)| axpy(-step, before, own));
    }

    /// Product h of a column with the residual over each fold's training rows. With τ it is g = xᵀc over all rows, for
    /// every fold, from which h = g − c_UᵀE_U. Cost O(m), or O(K·m) without τ.
    fn products(&self, rows: &HoldOutRows<'_>, feature: usize, x: &[f64]) -> Vec<f64> {
        if self.tau.is_some() {
            return vec![dot(x, &self.residual); rows.folds()];
        }
        let each: Vec<&[f64]> = self.residual.chunks_exact(x.len().max(1)).collect();
        let mut products = slice_products(&each, &[x]);
        rows.flat[feature].iter().for_each(|&fold| products[fold] = 0.0);
        products
    }
}

impl HeldOutColumn {
    /// Smallest remaining share of the column, over folds, in the training rows.
    fn share(&self) -> f64 {
        self.sigma.iter().zip(&self.base).map(|(sigma, base)| sigma / base).fold(1.0, worse)
    }

    /// Applies an update and returns its coefficient in each fold.
    fn apply(&mut self, rows: &HoldOutRows<'_>, x: &[f64], update: &ColumnUpdate) -> Vec<f64> {
        let mut products = update.products(rows, self.feature, x);
        apply_update(&rows.starts, self, update, &mut products);
        self.applied += 1;
        products
    }

    /// Applies pending updates and tries the column. Cost O(m · (pending updates + outputs)).
    pub fn trial(&mut self, chain: &UpdateChain<'_>, scorer: &Scorer, x: &[f64]) -> Trial {
        let rows = &*chain.rows;
        let fused = scorer.is_of_squares() && chain.residuals.len() == 1;
        let alone = chain.updates.len() - usize::from(fused && self.applied < chain.updates.len());
        while self.applied < alone {
            self.apply(rows, x, &chain.updates[self.applied]);
        }
        if fused {
            let update = chain.updates.get(self.applied).map(|last| &**last);
            let mut products = update.map_or_else(Vec::new, |last| last.products(rows, self.feature, x));
            self.applied = chain.updates.len();
            let sum = squares(&rows.starts, self, update, &mut products, &chain.residuals[0]);
            return Trial::new(scorer.mean_of(sum), chain.conditioning_with(self.share()));
        }
        let outputs = chain.residuals.len();
        let step = |o: usize, k: usize| self.q[k * outputs + o] / self.sigma[k];
        let tally = tally(rows, scorer, step, &self.e, &chain.residuals);
        scorer.finish(tally, chain.conditioning_with(self.share()))
    }
}

/// Loss of the residuals r − step_k E, tile by tile. Cost O(m · outputs).
pub(super) fn tally(
    rows: &HoldOutRows<'_>,
    scorer: &Scorer,
    step: impl Fn(usize, usize) -> f64,
    e: &[f64],
    residuals: &[Vec<f64>],
) -> Tally {
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
    tally
}

/// Column over each fold's training rows, about its mean there, and 0 in the fold: folds × rows. Cost O(K·m).
///
/// A column divided by its deviation s in a fold's training rows is the column itself with the penalty λ·s². Penalties
/// then differ by fold, so products over training rows are not differences from a product over all rows.
fn centered_by_fold(rows: &HoldOutRows<'_>, feature: usize, x: &[f64]) -> Vec<f64> {
    let means = rows.training_means(x);
    let mut out = Vec::with_capacity(x.len() * means.len());
    for (fold, mean) in means.iter().enumerate() {
        if rows.flat[feature].contains(&fold) {
            out.resize(out.len() + x.len(), 0.0);
            continue;
        }
        let start = out.len();
        out.extend(x.iter().zip(&rows.root).map(|(x, root)| x - mean * root));
        out[start + rows.starts[fold]..start + rows.starts[fold + 1]].fill(0.0);
    }
    out
}
