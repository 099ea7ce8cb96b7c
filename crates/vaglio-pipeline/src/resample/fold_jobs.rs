//! Folds of a cross-validated choice that processes share; each fold is searched independently to the first checkpoint.

use super::choice::cross_validation;
use super::full_model;
use super::lockstep::{FIRST, FoldStart, Lockstep, TrainingRows};
use super::loss_sums::LossSums;
use super::pool::{Watcher, repeated};
use super::sample::Sample;
use super::split_rule::Part;
use super::validated::{ChoiceParts, FoldTraining, Made, Validation, deals, parted_choice, parting, start_key};
use crate::selector::ValidSelector;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, ExitClass, Result};

/// Number of folds, over all repeats, that [`start`] can search; 0 for a race of searches.
///
/// # Errors
/// [`vaglio_core::Error::Setting`] for invalid folds.
pub fn count_starts(selector: &ValidSelector, sample: &Sample) -> Result<usize> {
    let alone = cross_validation(selector);
    let Some((how, is_written)) = alone else { return Ok(0) };
    let parting = parting(selector, sample, &how, is_written)?;
    let deals = deals(selector, sample, &parting, how.repeats);
    Ok(deals.map_or(0, |deals| deals.iter().map(Vec::len).sum()))
}

/// Searches some folds, given by index over all repeats, to the first checkpoint and records their state, from which
/// [`super::select`] continues. Returns `false` if the score makes the choice, which is the default if folds fail.
///
/// # Errors
/// Returns the errors of [`super::select`].
pub fn start(
    selector: &ValidSelector,
    sample: &Sample,
    design: &Design,
    wanted: &[usize],
    watcher: &Watcher<'_>,
) -> Result<bool> {
    let Some((how, is_written)) = cross_validation(selector) else { return Ok(false) };
    let ChoiceParts { how, lambdas, deals, design } = parted_choice(selector, sample, design, (how, is_written))?;
    let fitted = selector.at_penalties(&design)?;
    let selector = fitted.as_ref().unwrap_or(selector);
    let all = full_model::lambdas(selector, &design, how.folds * how.repeats);
    let done = deals.and_then(|deals| {
        selector.opened(&design.at_lambda(lambdas[0]))?;
        let made: Vec<Made> = deals.iter().flatten().map(|_| Made::default()).collect();
        let validation = Validation {
            selector,
            competing: selector,
            sample,
            whole: &design,
            deals: &deals,
            everything: selector.search().outline(&design).map_err(|error| error.under("search"))?.largest,
            patience: how.patience,
            watcher,
            journal: watcher.journal(),
            made: &made,
            path: None,
        };
        validation.start((&lambdas, &all), wanted)
    });
    match done {
        Err(error) if !is_written && fitted.is_none() && error.class() != ExitClass::Numerical => Ok(false),
        done => done.map(|()| true),
    }
}

impl Validation<'_, '_> {
    /// Searches some folds, given by index over all repeats, to the first checkpoint and records the state from which
    /// [`Validation::at`] with the same λ continues.
    ///
    /// # Errors
    /// Returns the errors of [`Validation::at`].
    pub(super) fn start(&self, (lambdas, all): (&[Option<f64>], &[Option<f64>]), wanted: &[usize]) -> Result<()> {
        let Validation { selector, sample, deals, watcher, journal, .. } = *self;
        let loss = &*selector.loss(sample.task());
        let parts: Vec<(usize, &Part)> = deals.iter().flat_map(|parts| parts.iter().enumerate()).collect();
        watcher.stage("choose", wanted.len());
        let anew = |job: usize| self.anew((job, parts[job]), lambdas).map(|(training, _)| training);
        let folds = TrainingRows::Anew(parts.len(), &anew);
        let (patience, of) = (self.patience, (self.everything, deals.len()));
        let (extent, pieces) = (self.extent()?.0, &[][..]);
        let lockstep = Lockstep { selector, folds, loss, patience, of, starts: None, watcher, journal, extent, pieces };
        let extent = lockstep.extent(lambdas)?;
        repeated(&selector.room, wanted.len(), |k| {
            let job = wanted[k];
            let done = journal.once(start_key(job), || {
                let (training, design) = self.anew((job, parts[job]), lambdas)?;
                let full = training.fold.judged(|held| super::full_model::full(&design, all, held, loss))?;
                lockstep.start(lambdas, (job, &training), full, extent)
            });
            watcher.piece();
            done
        })?;
        Ok(())
    }
}

impl Lockstep<'_, '_> {
    /// Searches a fold, given by index, up to the first checkpoint. Returns `None` if stopped.
    ///
    /// # Errors
    /// Returns the errors of [`Lockstep::walks`].
    pub fn start(
        &self,
        lambdas: &[Option<f64>],
        (fold, of): (usize, &FoldTraining),
        full: Vec<LossSums>,
        extent: (usize, u32),
    ) -> Result<Option<FoldStart>> {
        let (together, most) = extent;
        let mut walks = Vec::with_capacity(lambdas.len());
        for first in (0..lambdas.len()).step_by(together) {
            let places: Vec<usize> = (first..lambdas.len().min(first + together)).collect();
            let active: Vec<usize> = (0..places.len()).collect();
            let before = active.iter().map(|_| None).collect();
            let until = self.patience.map(|_| FIRST);
            let found = self.fold_anew((fold, of), (lambdas, &places), (&active, before), until, most)?;
            let Some((trails, paused)) = found else { return Ok(None) };
            walks.extend(trails.into_iter().zip(paused));
        }
        Ok(Some(FoldStart { full, extent, walks }))
    }
}
