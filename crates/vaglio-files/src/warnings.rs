//! Warnings about a result: steps and settings, memory, and how the criterion holds rows out.

use super::evaluations::Run;
use super::series::count_codes;
use vaglio_core::{Criterion, Design, HeldOut, Round, pluralize};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_report::record::{Record, StepRecord, Warning, WarningKind};
use vaglio_tables::budget::shown;

/// Warnings of steps and settings.
pub fn warnings(run: Run<'_>, steps: &[StepRecord]) -> Vec<Warning> {
    let Run { pipeline, design, selection, .. } = run;
    let once = [
        (WarningKind::ImputedOnce, &design.run().imputed_once),
        (WarningKind::StandardizedOnce, &design.run().standardized_once),
    ];
    let once = once.into_iter().filter_map(|(kind, why)| Some(Warning::new(kind, why.clone()?)));
    let mut warnings: Vec<Warning> = once.collect();
    warnings.extend(without_gap(run));
    warnings.extend(single_rows(&*pipeline.criterion, design));
    warnings.extend(separated_groups(pipeline, design));
    warnings.extend(more_than_there_are(pipeline, design.features()));
    // Last step that lowered the lowest loss; later columns differ by index only.
    if pipeline.criterion.traits().loss.is_some() && run.loss().traits().needs_classes() {
        let mut lowest = selection.path.empty.loss;
        let mut last = 0;
        for step in steps {
            if step.score < lowest {
                (lowest, last) = (step.score, step.step);
            }
        }
        if let Some(first) = steps.iter().find(|step| step.step > last && !step.tied.is_empty()) {
            let message = format!(
                "from step {} on no column lowered the score: {} columns tied, and the one with the lowest index was taken",
                first.step,
                first.tied.len() + 1
            );
            warnings.push(Warning::new(WarningKind::Indistinguishable, message));
        }
    }
    let is_tuned = pipeline.tune.as_ref().is_some_and(|tune| !tune.parameters.is_empty());
    if is_tuned && selection.chosen.cell.is_some() {
        let message = "the settings were tuned on all rows, so the cross-validated loss has seen them; `evaluate.nested` \
                       repeats tuning in every outer fold";
        warnings.push(Warning::new(WarningKind::Tuned, message));
    }
    warnings
}

/// Warns if the memory limit ended the run.
pub fn over_memory(record: &Record, pipeline: &ValidPipeline) -> Option<Warning> {
    let peak = record.peak_memory_bytes?;
    let budget = pipeline.limits.budget();
    let is_over = record.stop_reason.is_partial() && peak > budget.memory();
    is_over.then(|| {
        let message = format!(
            "the run held {} of memory and was stopped, since the limit is {budget}; raise `limits.memory`, or take fewer columns, \
             rows, folds or threads",
            shown(peak as f64)
        );
        Warning::new(WarningKind::Interrupted, message)
    })
}

/// Warns if more columns are allowed than there are candidates.
fn more_than_there_are(pipeline: &ValidPipeline, candidates: usize) -> Option<Warning> {
    let search = &pipeline.search;
    let stages = search.stages().iter().chain([search]);
    let most = stages.filter_map(|stage| stage.settings.max_features).max()?;
    (most > candidates).then(|| {
        let there = pluralize(candidates, "candidate column");
        let message = format!("`search.max_features` is {most}, and the data have {there}: all of them may be taken");
        Warning::new(WarningKind::MaxFeatures, message)
    })
}

/// Warns of forward chaining without a gap. If all target lags are at h steps or more, targets of the h − 1 steps
/// before a block are unknown at prediction time.
fn without_gap(Run { pipeline, prepared, design, .. }: Run<'_>) -> Option<Warning> {
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
    let is_single = |round: &Round| round.sizes().iter().all(|size| *size <= 1);
    separates(criterion, design, |rounds| rounds.iter().all(is_single))?.then(|| {
        let word = loss.kind();
        let label = loss.label();
        let stratified = if loss.traits().needs_classes() { ", stratified: true" } else { "" };
        let message = format!(
            "leaving one row out biases `{word}`: without a row, the mean of the others moves away from its target, so `{label}` \
             of weak models is worse than that of guessing, and λ comes out too small; `criterion: {{kind: kfold, folds: 10, \
             shuffle: true{stratified}, loss: {word}}}` has no such bias"
        );
        Warning::new(WarningKind::SingleRowsHeldOut, message)
    })
}

/// Warns of groups that the criterion's folds do not keep together.
pub fn separated_groups(pipeline: &ValidPipeline, design: &Design) -> Option<Warning> {
    pipeline.data.as_ref()?.groups.as_ref()?;
    let groups = design.problem().groups()?;
    let sizes = count_codes(groups);
    let parts = |folds: &[Option<u32>]| {
        let mut fold_of_group = vec![None; sizes.len()];
        let mut rows = groups.iter().zip(folds);
        rows.any(|(&group, fold)| fold_of_group[group as usize].replace(fold).is_some_and(|other| other != fold))
    };
    let part_any = |rounds: &[Round]| rounds.iter().any(|round| parts(round.fold_of_rows()));
    let has_several = sizes.iter().any(|size| *size > 1);
    (has_several && separates(&*pipeline.criterion, design, part_any)?).then(|| {
        let message = "rows of one group are in several folds of the criterion; `criterion: {kind: kfold, by: groups}` keeps them \
                       in one";
        Warning::new(WarningKind::GroupsOnBothSides, message)
    })
}

/// Warns of targets several steps ahead: neighboring rows share them, so held-out rows or blocks are not independent.
fn overlapping(criterion: &dyn Criterion, design: &Design, horizons: &[usize]) -> Option<Warning> {
    let steps = horizons.last().filter(|most| **most > 1)?;
    let groups = design.problem().groups();
    let is_one = |row: usize| groups.is_none_or(|groups| groups[row] == groups[row + 1]);
    let parts = |folds: &[Option<u32>]| (1..folds.len()).any(|row| folds[row - 1] != folds[row] && is_one(row - 1));
    separates(criterion, design, |rounds| rounds.iter().any(|round| parts(round.fold_of_rows())))?.then(|| {
        let message = format!(
            "targets {steps} steps ahead of neighboring rows overlap, and the criterion holds rows out next to rows that it \
             trains on, so its losses are too low; `splits: {{kind: forward}}` of `kfold` trains on what is known by then"
        );
        Warning::new(WarningKind::NoGap, message)
    })
}

/// Whether the criterion holds out every row alone, or folds for which `are_separate` is true.
fn separates(criterion: &dyn Criterion, design: &Design, are_separate: impl Fn(&[Round]) -> bool) -> Option<bool> {
    Some(match criterion.folds(design).ok()? {
        HeldOut::Nothing => false,
        HeldOut::EachRow => true,
        HeldOut::Folds(rounds) => are_separate(&rounds),
    })
}
