//! Folds as separate rounds, for maps that are refitted on each fold's training rows.

use crate::fits::SubsetFits;
use crate::round::RepeatFolds;
use vaglio_core::{AnyLoss, Design, Result};

/// Rounds with their designs; if each is a single fold, also the fits of the rounds of these folds.
pub(super) type DesignRounds<'d> = (Vec<(&'d Design, RepeatFolds)>, Option<Vec<SubsetFits<'d>>>);

/// Every round of the design, or every fold of each with its refitted design. `None` if refitted designs differ in
/// their columns.
///
/// # Errors
/// Returns an error of the maps, or [`vaglio_core::Error::Numerical`] when squares over- or underflow.
pub(super) fn for_designs<'d>(
    loss: &AnyLoss,
    design: &'d Design,
    rounds: Vec<RepeatFolds>,
) -> Result<Option<DesignRounds<'d>>> {
    if !design.problem().in_folds().is_by_maps() {
        return Ok(Some((rounds.into_iter().map(|round| (design, round)).collect(), None)));
    }
    let trainings: Vec<Vec<usize>> = rounds.iter().flat_map(RepeatFolds::trainings).collect();
    let Some(designs) = design.refit_each(&trainings)? else { return Ok(None) };
    let each = designs.iter().zip(rounds.iter().flat_map(RepeatFolds::each_fold)).collect();
    let whole = |round: RepeatFolds| SubsetFits::from_folds(design, loss, round, Vec::new());
    Ok(Some((each, Some(rounds.into_iter().map(whole).collect::<Result<_>>()?))))
}
