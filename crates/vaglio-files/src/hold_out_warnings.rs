//! Warnings about how the criterion holds rows out.

use super::evaluations::Run;
use vaglio_core::{Criterion, Design, HeldOut};
use vaglio_report::record::{Warning, WarningKind};

/// Warns of forward chaining without a gap. If all target lags are at h steps or more, targets of the h − 1 steps
/// before a block are unknown at prediction time.
pub fn without_gap(Run { pipeline, prepared, design, .. }: Run<'_>) -> Option<Warning> {
    let targets = pipeline.data.as_ref()?.target.names();
    let gap = pipeline.criterion.traits().splits.and_then(|splits| splits.traits().gap);
    if let Some(warning) = overlapping(&*pipeline.criterion, design, &prepared.horizons).filter(|_| gap.is_none()) {
        return Some(warning);
    }
    let map = pipeline.preprocess.first()?.traits();
    let lags = targets.iter().filter_map(|name| map.lags.get(name).copied());
    let ahead = lags.filter(|_| map.horizons.is_empty()).min()?;
    let wanted = ahead - 1;
    (gap? < wanted).then(|| {
        let message = format!(
            "all lags of the target are {ahead} steps or more; if it is predicted so far ahead, forward chaining needs \
             `gap: {wanted}`, since the targets just before a block are not known by then"
        );
        Warning::new(WarningKind::NoGap, message)
    })
}

/// Warns of held-out single rows: the mean of the others leans away from the target, which ranking and classification
/// losses count as error.
pub fn single_rows(criterion: &dyn Criterion, design: &Design) -> Option<Warning> {
    let loss = criterion.traits().loss.filter(|loss| loss.traits().degree == Some(0))?;
    let is_single = match criterion.folds(design).ok()? {
        HeldOut::Nothing => false,
        HeldOut::EachRow => true,
        HeldOut::Folds(rounds) => rounds.iter().all(|round| round.sizes().iter().all(|size| *size <= 1)),
    };
    is_single.then(|| {
        let (word, label) = (loss.kind(), loss.label());
        let stratified = if loss.traits().needs_classes() { ", stratified: true" } else { "" };
        let message = format!(
            "leaving one row out biases `{word}`: without a row, the mean of the others moves away from its target, so `{label}` \
             of weak models is worse than that of guessing, and λ comes out too small; `criterion: {{kind: kfold, folds: 10, \
             shuffle: true{stratified}, loss: {word}}}` has no such bias"
        );
        Warning::new(WarningKind::SingleRowsHeldOut, message)
    })
}

/// Warns of targets several steps ahead: neighboring rows share them, so held-out rows or blocks are not independent.
fn overlapping(criterion: &dyn Criterion, design: &Design, horizons: &[usize]) -> Option<Warning> {
    let steps = horizons.last().filter(|most| **most > 1)?;
    let groups = design.problem().groups();
    let is_one = |row: usize| groups.is_none_or(|groups| groups[row] == groups[row + 1]);
    let parts = |folds: &[Option<u32>]| (1..folds.len()).any(|row| folds[row - 1] != folds[row] && is_one(row - 1));
    let is_parted = match criterion.folds(design).ok()? {
        HeldOut::Nothing => false,
        HeldOut::EachRow => true,
        HeldOut::Folds(rounds) => rounds.iter().any(|round| parts(round.fold_of_rows())),
    };
    is_parted.then(|| {
        let message = format!(
            "targets {steps} steps ahead of neighboring rows overlap, and the criterion holds rows out next to rows that it \
             trains on, so its losses are too low; `splits: {{kind: forward}}` of `kfold` trains on what is known by then"
        );
        Warning::new(WarningKind::NoGap, message)
    })
}
