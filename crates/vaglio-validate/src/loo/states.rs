//! States of leave-one-out, and the scores of their trials.

use crate::fits::Residuals;
use crate::rounds::Rounds;
use crate::subset_score::{SubsetScore, lowest_conditioning, score_trials, scores};
use std::sync::Arc;
use vaglio_core::{Diagnostics, Result, Score, gather};
use vaglio_kernels::loo::{ColumnChange, LooState};
use vaglio_kernels::{Data, Scorer, Trial};

/// Leave-one-out is one round, with a state for each λ and group of rows.
impl<'d> Rounds<'d> {
    /// New states of a subset, one for each λ and group.
    pub fn states(&self, subset: &[usize]) -> Vec<LooState<'d>> {
        self.each(|data, lambda| LooState::new(data, lambda, subset.iter().copied()))
    }

    /// Calls `make` with the data of each group and each λ; groups vary fastest.
    pub fn each<T>(&self, make: impl Fn(Arc<Data<'d>>, f64) -> T) -> Vec<T> {
        let groups = self.first().groups();
        let lambda_groups = |&lambda: &f64| groups.iter().map(move |group| (Arc::clone(&group.rows.data), lambda));
        self.lambdas().iter().flat_map(lambda_groups).map(|(data, lambda)| make(data, lambda)).collect()
    }

    /// The columns and targets, under the weights of the first group.
    pub fn data(&self) -> &Arc<Data<'d>> {
        &self.first().groups()[0].rows.data
    }

    /// The scorer of every state, in order.
    pub fn scorers(&self) -> impl Iterator<Item = &Scorer> {
        self.first().groups().iter().map(|group| &group.scorer).cycle()
    }

    /// Scores changes of a subset from the trials of each state, with groups innermost. Unreliable trials are
    /// recomputed from exact residuals. Also returns the diagnostics, to be recorded.
    pub fn score_changes(
        &self,
        states: &[LooState<'_>],
        trials: &[Vec<Trial>],
        changes: &[ColumnChange],
    ) -> Result<(Vec<SubsetScore>, Diagnostics)> {
        let groups = self.first().groups().len();
        let mut trials: Vec<Vec<Trial>> =
            trials.chunks(groups).map(|trials| self.first().scorer.join(trials)).collect();
        let mut diagnostics = Diagnostics::default();
        for (lambda_trials, states) in trials.iter_mut().zip(states.chunks(groups)) {
            let unreliable: Vec<usize> = (0..changes.len()).filter(|&k| lambda_trials[k].is_unreliable).collect();
            if unreliable.is_empty() {
                continue;
            }
            let (residuals, rows_kept_out) = self.residuals_after(states, &gather(changes, &unreliable));
            diagnostics.remade += unreliable.len() as u64;
            diagnostics.rows_kept_out = diagnostics.rows_kept_out.max(rows_kept_out as u64);
            for (place, residuals) in unreliable.into_iter().zip(&residuals) {
                lambda_trials[place].loss = self.first().scorer.loss(residuals);
            }
        }
        let scored = score_trials(self.lambdas(), &trials)?;
        diagnostics.conditioning = lowest_conditioning(&scored);
        Ok((scored, diagnostics))
    }

    /// Like [`Rounds::score_changes`], but returns the scores alone and records the diagnostics.
    pub fn scores_of_changes(
        &self,
        states: &[LooState<'_>],
        trials: &[Vec<Trial>],
        changes: &[ColumnChange],
    ) -> Result<Vec<Score>> {
        let (scored, diagnostics) = self.score_changes(states, trials, changes)?;
        self.recorder.note(diagnostics);
        Ok(scores(&scored))
    }

    /// Returns the held-out residuals after every change, outputs × rows: each row by its group's state, scaled by
    /// √r_j. Also returns the largest number of rows that a change excluded from its fit.
    pub fn residuals_after(&self, states: &[LooState<'_>], changes: &[ColumnChange]) -> (Vec<Residuals>, usize) {
        let (mut all, mut most) = (Vec::new(), 0);
        for (state, group) in states.iter().zip(self.first().groups()) {
            let (group_residuals, kept_out) = state.residuals_after(changes);
            most = most.max(kept_out);
            if all.is_empty() {
                all.clone_from(&group_residuals);
            }
            all.iter_mut().zip(&group_residuals).for_each(|(all, own)| group.scorer.place(own, all));
        }
        (all, most)
    }
}
