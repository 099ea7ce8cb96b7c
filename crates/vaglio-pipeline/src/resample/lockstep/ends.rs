//! Early stopping of searches at checkpoints.

use super::{CheckpointState, LambdaPaths, Lockstep};
use crate::resample::table::PooledFolds;
use crate::resample::walks::FoldPath;
use vaglio_core::{Loss, Result};

/// Standard errors above the lowest loss at which a λ is abandoned.
const HOPELESS: f64 = 5.0;
pub(super) fn next(checkpoint: usize) -> usize {
    checkpoint + (checkpoint / 10).max(5)
}

/// Searches of all folds at some λ that run together.
pub(super) struct LambdaGroup<'g> {
    /// Losses of the active searches, by λ and fold.
    pub trails: Vec<Vec<Option<FoldPath>>>,
    pub done: Vec<Option<LambdaPaths>>,
    /// Index of each λ among `lambdas`.
    pub places: &'g [usize],
    pub lambdas: &'g [Option<f64>],
    /// Number of clusters kept per loss sum.
    pub most: u32,
}

impl LambdaGroup<'_> {
    pub fn active(&self) -> Vec<usize> {
        (0..self.done.len()).filter(|&at| self.done[at].is_none()).collect()
    }
}

impl Lockstep<'_, '_> {
    /// Ends the active searches that stop at a checkpoint, and returns their indices.
    pub(super) fn settle(
        &self,
        group: &mut LambdaGroup<'_>,
        reached: CheckpointState,
        checkpoint: usize,
        others: &[&LambdaPaths],
    ) -> Result<Vec<usize>> {
        let CheckpointState { trails: of_folds, paused } = reached;
        let active = group.active();
        let LambdaGroup { trails, done, places: among, .. } = group;
        for (fold, own) in of_folds.into_iter().enumerate() {
            active.iter().zip(own).for_each(|(&at, trail)| trails[at][fold] = Some(trail));
        }
        let taken = |&at: &usize| std::mem::take(&mut trails[at]).into_iter().flatten().collect();
        let whole: Vec<Vec<FoldPath>> = active.iter().map(taken).collect();
        let matched = |trails| PooledFolds::new(trails, self.pooling);
        let own: Vec<_> = whole.iter().zip(&paused).map(|(own, is_paused)| (matched(own), *is_paused)).collect();
        let ended = others.iter().copied().chain(done.iter().flatten()).map(|walks| walks.matched(self.pooling));
        let ends = ends(self.loss, self.patience, &own, &ended.collect::<Vec<_>>(), checkpoint)?;
        let mut places = Vec::new();
        for (((&at, own), is_paused), ends) in active.iter().zip(whole).zip(paused).zip(ends) {
            if !ends {
                trails[at] = own.into_iter().map(Some).collect();
                continue;
            }
            done[at] = Some(LambdaPaths { trails: own, end: is_paused.then_some(checkpoint), whole: None });
            (0..self.folds.count()).for_each(|fold| self.end(fold, among[at]));
            places.push(at);
        }
        Ok(places)
    }
}

/// Whether the searches of each active λ end at a checkpoint; `ended` are those that have ended before.
pub(super) fn ends(
    loss: &dyn Loss,
    patience: Option<usize>,
    active: &[(PooledFolds<'_>, bool)],
    ended: &[PooledFolds<'_>],
    checkpoint: usize,
) -> Result<Vec<bool>> {
    let Some(patience) = patience else { return Ok(vec![true; active.len()]) };
    let all: Vec<&PooledFolds<'_>> = active.iter().map(|(matched, _)| matched).chain(ended).collect();
    let lowest = all.iter().map(|matched| matched.lowest(loss, checkpoint));
    let lowest: Vec<Option<(usize, f64)>> = lowest.collect::<Result<_>>()?;
    let known = lowest.iter().zip(&all).filter_map(|(lowest, matched)| lowest.map(|lowest| (lowest, *matched)));
    let best = known.min_by(|((_, a), _), ((_, b), _)| a.total_cmp(b));
    let ends = |((matched, is_paused), lowest): (&(PooledFolds<'_>, bool), &Option<(usize, f64)>)| {
        let (Some((size, own)), Some(((of_best, least), best))) = (*lowest, best) else { return !is_paused };
        let is_hopeless = || {
            let error = matched.difference(loss, size, best, of_best);
            error.is_some_and(|error| own - least > HOPELESS * error)
        };
        !is_paused || size.saturating_add(patience) <= checkpoint || (own > least && is_hopeless())
    };
    Ok(active.iter().zip(&lowest).map(ends).collect())
}
