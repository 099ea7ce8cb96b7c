//! Searches of folds that do not fit in memory together.

use super::ends::LambdaGroup;
use super::{CheckpointState, FoldTraining, Lockstep, PendingSearch, said_of_fold, taken};
use crate::resample::pool::repeated;
use crate::resample::walks::FoldPath;
use std::sync::Mutex;
use vaglio_core::{Error, Result};

impl Lockstep<'_, '_> {
    /// Rebuilds each fold, searches it from the start to a size at one λ after the other, and evaluates new entries.
    /// Returns `None` if stopped.
    pub(super) fn rebuild_to(
        &self,
        group: &mut LambdaGroup<'_>,
        until: Option<usize>,
    ) -> Result<Option<CheckpointState>> {
        let (count, active) = (self.folds.count(), group.active());
        let begin = |fold: usize| Mutex::new(Some(active.iter().map(|&at| group.trails[at][fold].take()).collect()));
        let before: Vec<Mutex<Option<Vec<Option<FoldPath>>>>> = (0..count).map(begin).collect();
        let reached = repeated(&self.selector.room, count, |fold| {
            let before = taken(&before[fold]).unwrap_or_default();
            self.folds.with(fold, |of| self.rebuild_fold(fold, of, group, before, until))
        })?;
        let Some(reached) = reached.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (trails, paused): (Vec<_>, Vec<Vec<bool>>) = reached.into_iter().unzip();
        let is_paused = |k: usize| paused.iter().any(|of_fold| of_fold[k]);
        Ok(Some(CheckpointState { trails, paused: (0..active.len()).map(is_paused).collect() }))
    }

    /// The losses of one such fold, and which of its searches can continue.
    fn rebuild_fold(
        &self,
        fold: usize,
        of: &FoldTraining,
        group: &LambdaGroup<'_>,
        before: Vec<Option<FoldPath>>,
        until: Option<usize>,
    ) -> Result<Option<(Vec<FoldPath>, Vec<bool>)>> {
        let (LambdaGroup { lambdas, places, most, .. }, active) = (group, group.active());
        let (mut designs, mut gone, mut paused) = (Vec::new(), Vec::new(), Vec::new());
        for (&at, before) in active.iter().zip(before) {
            let walked = || {
                let design = self.design(of, lambdas[places[at]])?;
                let mut member = self.member(fold, places[at]);
                let held = Mutex::new(Some(PendingSearch::Unopened(member.monitor())));
                let path = self.advance(of.number, &held, &design, until)?;
                drop(held);
                Ok(path.map(|path| (design, path)))
            };
            let (design, (path, is_paused)) = match walked() {
                Ok(Some(walked)) => walked,
                Ok(None) | Err(Error::Stopped(_)) => return Ok(None),
                Err(error) => return Err(said_of_fold(error, of.number)),
            };
            designs.push(design);
            gone.push((path, before));
            paused.push(is_paused);
        }
        let pieces: Vec<_> = active.iter().map(|&at| self.piece(fold, places[at])).collect();
        let trails = self.follow(of, &designs.iter().collect::<Vec<_>>(), gone, &pieces, *most)?;
        Ok(Some((trails, paused)))
    }
}
