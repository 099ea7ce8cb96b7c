//! Scores from trials.

use super::common::Common;
use crate::kernel::lowest;
use rayon::prelude::*;
use vaglio_core::{Result, Score};
use vaglio_kernels::Trial;
use vaglio_kernels::loo::{self, Basis, Change};

/// Scores, and what rounding asked of them.
pub(super) struct Settled {
    pub scores: Vec<Score>,
    /// The least conditioning of each change.
    pub conditioning: Vec<f64>,
    /// Trials that were made again from the rows, and the rows that one of them kept out, at most.
    pub remade: usize,
    pub rows_kept_out: usize,
}

/// The scores of changes of a subset from their trials, as of [`settled`], with what rounding asked of them noted.
pub(super) fn settle(
    common: &Common<'_>,
    bases: &[&Basis<'_>],
    trials: &[Vec<Trial>],
    changes: &[Change],
) -> Result<Vec<Score>> {
    let settled = settled(common, bases, trials, changes)?;
    settled.conditioning.iter().for_each(|conditioning| common.recorder.met(*conditioning));
    common.recorder.remade(settled.remade, settled.rows_kept_out);
    Ok(settled.scores)
}

/// The scores of changes of a subset from their trials, one list for each state, the parts of the rows innermost:
/// unreliable ones are computed from exact residuals, then the lowest over λ is taken.
pub(super) fn settled(
    common: &Common<'_>,
    bases: &[&Basis<'_>],
    trials: &[Vec<Trial>],
    changes: &[Change],
) -> Result<Settled> {
    let (mut remade, mut kept_out) = (0, 0);
    let parts = common.parts.len();
    let mut losses: Vec<(f64, Vec<f64>)> = Vec::new();
    for (bases, trials) in bases.chunks(parts).zip(trials.chunks(parts)) {
        let joined = |k: usize| common.scorer.join(trials.iter().map(|of_part| (of_part[k].loss, &*of_part[k].whole)));
        let mut joint: Vec<f64> = match trials {
            [only] if common.is_whole => only.iter().map(|trial| trial.loss).collect(),
            _ => (0..changes.len()).into_par_iter().map(joined).collect(),
        };
        let is_concerned = |k: &usize| trials.iter().any(|of_part| of_part[*k].is_unreliable());
        let unreliable: Vec<usize> = (0..changes.len()).filter(is_concerned).collect();
        let concerned: Vec<Change> = unreliable.iter().map(|&k| changes[k]).collect();
        if !concerned.is_empty() {
            let (residuals, rows_kept_out) = residuals_after(common, bases, &concerned);
            (remade, kept_out) = (remade + concerned.len(), kept_out.max(rows_kept_out));
            for (k, residuals) in unreliable.into_iter().zip(residuals) {
                joint[k] = common.scorer.loss(&residuals);
            }
        }
        losses.push((bases.first().map_or(0.0, |basis| basis.lambda()), joint));
    }
    let score = |k: usize| lowest(losses.iter().map(|(lambda, joint)| (*lambda, joint[k])));
    // What is not a number has no digits.
    let known = |trial: &Trial| if trial.conditioning > 0.0 { trial.conditioning } else { 0.0 };
    let least = |k: usize| trials.iter().map(|of_state| known(&of_state[k])).fold(1.0, f64::min);
    Ok(Settled {
        scores: (0..changes.len()).map(score).collect::<Result<_>>()?,
        conditioning: (0..changes.len()).map(least).collect(),
        remade,
        rows_kept_out: kept_out,
    })
}

/// The residuals left out of every change, each row from the state of its part, scaled by √r_j: outputs × rows; and the
/// rows that a change kept out of its fit, at most.
pub(super) fn residuals_after(
    common: &Common<'_>,
    bases: &[&Basis<'_>],
    changes: &[Change],
) -> (Vec<Vec<Vec<f64>>>, usize) {
    let (mut all, mut most) = (Vec::new(), 0);
    for (basis, part) in bases.iter().zip(&common.parts) {
        let (of_part, kept_out) = loo::residuals_after(basis, changes);
        most = most.max(kept_out);
        if all.is_empty() {
            all.clone_from(&of_part);
        }
        all.iter_mut().zip(&of_part).for_each(|(all, own)| part.scorer.place(own, all));
    }
    (all, most)
}
