//! K-fold losses of every one-column change from one state, for any partition of the rows and any loss.
//!
//! Rows are scaled by the root of their weight and, with an intercept, centered. U is a fold and T the rows of all
//! others; with an intercept, everything in U is centered on the means of T. Let x_i be a column that is not selected.
//! E_i, in block U, is its held-out residual after a fit by the selected columns to T. Per fold let σ = λ + ‖training
//! residual‖² and q = x_{i,T}ᵀ(training residual of y). After adding the column, held-out residuals are r_U − E_{i,U}
//! q/σ. So one vector per column predicts all rows, and a trial costs O(m) for every loss. The book, *Cross-validation
//! without refitting*, "Rows held out".

mod chain;
mod fold_products;
mod removal;
mod rows;

use crate::kfold::FoldedRows;
use crate::parallel;
use crate::{Scorer, Trial};
use chain::{HeldOutColumn, UpdateChain};
use removal::FoldRemovals;
use rows::HoldOutRows;
use std::sync::Arc;

/// A subset for one λ, with trials of adding each other column and of removing each of its own.
///
/// Candidates are created when first tried and keep E, 8·m bytes each, 8·m·n in all, with 8·K·(2 + outputs) for the
/// folds. Candidates of sparse columns, which would need many times the columns' memory, are computed for each trial.
/// Each selected column keeps two vectors of m with 8·K·s, and once removals were tried a third with as much again. The
/// update of one step and the trials of the next are fused: E is read and written once, and X is read once.
///
/// If folds standardize columns by their training rows, λ stands for λ·s² in each fold, with s the column's deviation
/// there (1 if constant); an update then keeps K vectors of m, and a trial reads these. Trials of removal and the score
/// are unreliable while held-out rows of a selected column are hundreds of deviations off.
///
/// Otherwise, sums of a selected column over a fold's training rows are those over all rows less the fold's.
/// [`Trial::conditioning`] tells how many digits this may have cost. Let a column's share be the smallest σ/(λ + ‖x‖²)
/// over folds, with ‖x‖² over all rows about the training mean. The conditioning is the share of the tried column times
/// the smallest share of a selected one at its addition; relative errors are about 1e-15/conditioning. Trials of
/// removal and the score use the columns in order of addition while the conditioning is at least 1e-3. Below that they
/// are computed from the rows by an orthogonal decomposition, and their conditioning is 1.
#[derive(Debug, Clone)]
pub struct HoldOut<'d> {
    selected: Vec<usize>,
    /// Updates, brought up to `selected` when needed.
    chain: UpdateChain<'d>,
    candidates: Vec<Option<HeldOutColumn>>,
    /// Whether additions were tried, if no candidates are cached to show it.
    has_tried: bool,
    /// Created at the first trials of removal, then updated; dropped if cancellation makes it unreliable.
    removals: Option<FoldRemovals>,
}

impl<'d> HoldOut<'d> {
    /// Copies the active columns, for the empty subset without a penalty.
    pub fn new(rows: Arc<FoldedRows<'d>>) -> Self {
        HoldOut::from_copies(Arc::new(HoldOutRows::new(rows)), 0.0, &[])
    }

    /// The state of a subset and λ that shares the copies of the columns; inactive or repeated columns are ignored.
    #[must_use]
    pub fn with_subset(&self, lambda: f64, subset: &[usize]) -> Self {
        HoldOut::from_copies(Arc::clone(&self.chain.rows), lambda, subset)
    }

    fn from_copies(rows: Arc<HoldOutRows<'d>>, lambda: f64, subset: &[usize]) -> Self {
        let mut selected: Vec<usize> = Vec::new();
        for &feature in subset {
            if rows.folded.data.is_active(feature) && !selected.contains(&feature) {
                selected.push(feature);
            }
        }
        let candidates = vec![None; rows.folded.data.columns()];
        let chain = UpdateChain::new(rows, lambda);
        HoldOut { selected, chain, candidates, has_tried: false, removals: None }
    }

    /// The selected columns, in order of entry.
    pub fn selected(&self) -> &[usize] {
        &self.selected
    }

    /// Loss of the subset. Residuals are in fold order: permute the scorer, or the targets that it is created from, by
    /// [`Folds::order`](crate::Folds::order). Cost O(m · outputs).
    pub fn score(&mut self, scorer: &Scorer) -> Trial {
        let (residuals, conditioning) = self.residuals_in_fold_order();
        scorer.trial(residuals, conditioning)
    }

    /// Held-out residuals, scaled by √r_j: outputs × rows in original order.
    pub fn residuals(&mut self) -> Vec<Vec<f64>> {
        let rows = Arc::clone(&self.chain.rows);
        let order = rows.folded.folds.order();
        let as_given = |r: &Vec<f64>| {
            let mut out = vec![0.0; r.len()];
            order.iter().zip(r).for_each(|(&row, r)| out[row] = *r);
            out
        };
        self.residuals_in_fold_order().0.iter().map(as_given).collect()
    }

    /// Trials of adding each wanted column; inactive or selected columns get an infinite loss.
    ///
    /// Cost O(m · (1 + updates since a column was last tried + outputs)) per column, or all updates if candidates are
    /// not cached.
    pub fn additions(&mut self, scorer: &Scorer, wanted: &[usize]) -> Vec<Trial> {
        self.update_chain();
        let mut is_wanted = vec![false; self.candidates.len()];
        self.has_tried = true;
        let (rows, chain) = (&*self.chain.rows, &self.chain);
        wanted.iter().for_each(|&i| is_wanted[i] = rows.folded.data.is_active(i) && !self.selected.contains(&i));
        let visit = |feature: usize, slot: &mut Option<HeldOutColumn>| {
            if !is_wanted[feature] {
                return Trial::IMPOSSIBLE;
            }
            let x = rows.column(feature);
            let candidate = slot.get_or_insert_with(|| rows.candidate(chain.lambda, feature, &x));
            let trial = candidate.trial(chain, scorer, &x);
            if !rows.caches_columns() {
                *slot = None;
            }
            trial
        };
        let all: Vec<Trial> = parallel::map_mut(&mut self.candidates, visit);
        wanted.iter().map(|&i| all[i].clone()).collect()
    }

    /// Trials of removing each wanted column; columns that are not selected get an infinite loss.
    ///
    /// The first trials cost O(K·m·s²), then O(m · outputs) per column. If the decomposition
    /// does not converge, the loss is NaN and the conditioning 0.
    pub fn removals(&mut self, scorer: &Scorer, wanted: &[usize]) -> Vec<Trial> {
        self.prepare_removals();
        let trial = |feature: &usize| match (self.selected.iter().position(|i| i == feature), &self.removals) {
            (Some(place), Some(state)) => state.trial(&self.chain.rows, scorer, place),
            (Some(_), None) => Trial::new(f64::NAN, 0.0),
            (None, _) => Trial::IMPOSSIBLE,
        };
        parallel::map_slice(wanted, trial)
    }

    /// Adds a column, unless it is selected or inactive. Cost O(m·s), and O(K·s²) once removals were tried.
    pub fn add(&mut self, feature: usize) {
        if self.selected.contains(&feature) || !self.chain.rows.folded.data.is_active(feature) {
            return;
        }
        self.selected.push(feature);
        self.update_chain();
        self.candidates[feature] = None;
        if let Some(state) = &mut self.removals {
            state.add(&self.chain, self.chain.updates.len());
        }
        if !self.chain.is_sound() {
            self.removals = None;
        }
    }

    /// Removes a column, if it is selected; candidates are recomputed when next tried.
    ///
    /// Cost O((m + K·s)·s), and O(m·s) for each candidate tried again.
    pub fn remove(&mut self, feature: usize) {
        let Some(place) = self.selected.iter().position(|&i| i == feature) else { return };
        self.selected.remove(place);
        if let Some(state) = &mut self.removals
            && !state.remove(&self.chain.rows, place)
        {
            self.removals = None;
        }
    }

    /// A copy that keeps the cached residuals of `columns` only. Cost O(m · (columns + s)).
    #[must_use]
    pub fn fork(&self, columns: &[usize]) -> Self {
        let mut candidates = vec![None; self.candidates.len()];
        columns.iter().for_each(|&column| candidates[column].clone_from(&self.candidates[column]));
        HoldOut {
            selected: self.selected.clone(),
            candidates,
            chain: self.chain.clone(),
            has_tried: self.has_tried,
            removals: self.removals.clone(),
        }
    }

    /// Whether the score needs no decomposition of the rows.
    pub fn is_settled(&mut self) -> bool {
        let has_tried = match self.chain.rows.caches_columns() {
            true => self.candidates.iter().any(Option::is_some),
            false => self.has_tried,
        };
        if self.removals.is_none() && has_tried {
            self.update_chain();
        }
        self.removals.is_some() || self.is_chain_current() && self.chain.is_sound()
    }

    /// Residuals in fold order, and their conditioning.
    fn residuals_in_fold_order(&mut self) -> (&[Vec<f64>], f64) {
        if !self.is_settled() {
            self.prepare_removals();
            if self.removals.is_none() {
                self.update_chain();
            }
        }
        match &self.removals {
            Some(state) => (&state.residuals, state.conditioning),
            None => (&self.chain.residuals, self.chain.conditioning),
        }
    }

    fn is_chain_current(&self) -> bool {
        self.chain.updates.iter().map(|update| &update.column.feature).eq(&self.selected)
    }

    /// Brings the updates up to the selected columns, and drops candidates with more of them applied. Cost O(m·s) for
    /// each column from the first difference on.
    fn update_chain(&mut self) {
        let pairs = self.chain.updates.iter().zip(&self.selected);
        let common = pairs.take_while(|(update, feature)| update.column.feature == **feature).count();
        if common < self.chain.updates.len() {
            self.chain.truncate(common);
            for slot in &mut self.candidates {
                slot.take_if(|candidate| candidate.applied > common);
            }
        }
        for &feature in &self.selected[common..] {
            self.chain.push(feature);
        }
    }

    /// Creates the state for trials of removal, unless present.
    fn prepare_removals(&mut self) {
        if self.removals.is_some() {
            return;
        }
        self.removals = if self.is_chain_current() && self.chain.is_sound() {
            Some(FoldRemovals::from_chain(&self.chain))
        } else {
            FoldRemovals::from_rows(&self.chain.rows, self.chain.lambda, &self.selected).ok()
        };
    }
}
