//! Nested cross-validation: repeats the whole selection in outer folds.

use super::{Evaluation, RepetitionInput, Repetitions, Run};
use std::collections::{BTreeMap, HashSet};
use vaglio_core::{Loss, Result};
use vaglio_pipeline::maps::original_weights;
use vaglio_pipeline::resampling::{FoldLosses, Jobs, LossSums, OuterFoldFit, PooledPredictions, StageMonitor, outer};
use vaglio_report::LEVEL;
use vaglio_report::comparison::jaccard;
use vaglio_report::record::{
    ComparisonColumns, Figures, LossDifference, NestedEvaluation, OuterFold, PairedLosses, PerOutput, SelectedRecord,
    WeightSpread,
};

/// Nested cross-validation, which prediction intervals need as well.
pub const EVALUATION: Evaluation = Evaluation {
    plan: |plan| Ok(plan.split_sentence(plan.evaluate.outer_folds())),
    repetitions: Some(Repetitions {
        prefix: Jobs::NESTED,
        units: "outer folds",
        planned: "the same in N outer folds",
        is_one_search: false,
        count: |input| {
            let how = input.evaluate.outer_folds();
            let splits = how.map(|how| input.sample.outer_splits(input.selector, &how)).transpose()?;
            Ok(splits.map_or(0, |splits| splits.count()))
        },
        repeat: |input, _, watcher| outer_folds(input, watcher).map(drop),
    }),
    ..Evaluation::new("nested", |run, found, watcher| {
        let Some(folds) = outer_folds(&run.input, watcher)? else { return Ok(()) };
        record_spreads(&folds, &mut found.record.selected);
        found.record.nested = Some(nested_record(run, &folds)?);
        found.outer = folds;
        Ok(())
    })
};

fn outer_folds(input: &RepetitionInput<'_>, watcher: &StageMonitor<'_>) -> Result<Option<Vec<OuterFoldFit>>> {
    match input.evaluate.outer_folds() {
        Some(how) => outer(input.selector, input.sample, &how, watcher),
        None => Ok(None),
    }
}

/// Record of the outer folds.
fn nested_record(run: Run<'_>, outer: &[OuterFoldFit]) -> Result<NestedEvaluation> {
    let sample = &run.prepared.sample;
    let how = run.input.evaluate.outer_folds().unwrap_or_default();
    let selector = run.input.selector;
    let splits = sample.outer_splitter(selector, &how).resampling().map(|splits| splits.sentence());
    let loss = &*selector.loss(sample.task());
    let sums: Vec<LossSums> = outer.iter().map(|fold| fold.loss_sums(loss)).collect();
    let empties: Vec<LossSums> = outer.iter().map(|fold| fold.empty_loss_sums(loss)).collect();
    let repeats = outer.iter().map(|fold| fold.repeat + 1).max().unwrap_or(0);
    let judged = FoldLosses::new(&sums, repeats);
    let none = FoldLosses::new(&empties, repeats);
    let (value, standard_error) = judged.pooled_mean(loss)?;
    let empty_loss = none.mean(loss)?;
    let level = how.interval.unwrap_or(LEVEL);
    let bounded = judged.mean_with_interval(loss, None, 0.0, level);
    let less = judged.mean_with_interval(loss, Some(&none), 0.0, level);
    let difference = |(mean, interval)| LossDifference { against: ComparisonColumns::Empty, size: 0, mean, interval };
    let pooled = PooledPredictions::new(outer.iter().map(|fold| &fold.held))?;
    let figures = pooled.figures(sample.class_order().as_ref(), loss, repeats).with_output_names(sample.target_names());
    let per_fold = outer.iter().zip(sums.iter().zip(&empties)).map(|(fold, (own, empty))| OuterFold {
        fold: fold.fold + 1,
        repeat: fold.repeat + 1,
        rows: fold.held.targets.ncols(),
        loss: own.mean(loss),
        empty_loss: empty.mean(loss),
        size: fold.selected.len(),
        lambda: fold.model.lambda(),
        score: fold.score,
        cross_validated: fold.cross_validated.map(|cell| cell.loss),
        selected: fold.selected.clone(),
    });
    let sets: Vec<HashSet<String>> = outer.iter().map(|fold| fold.selected.iter().cloned().collect()).collect();
    Ok(NestedEvaluation {
        folds: outer.iter().map(|fold| fold.fold + 1).max().unwrap_or(0),
        repeats,
        loss: value,
        standard_error,
        empty_loss,
        figures: Figures { loss: value, standard_error, empty_loss: Some(empty_loss), ..figures },
        per_fold: per_fold.collect(),
        frequency: run.frequency(&sets),
        by_source: run.source_frequency(&sets),
        jaccard: mean_jaccard(&sets),
        intervals: None,
        paired: Some(paired_losses(outer, loss)),
        splits,
        interval: bounded.map(|(_, interval)| interval),
        level: bounded.map(|_| level),
        difference: less.map(difference),
    })
}

/// Mean Jaccard index over pairs.
fn mean_jaccard(sets: &[HashSet<String>]) -> Option<f64> {
    let pairs = sets.iter().enumerate().flat_map(|(k, a)| sets[..k].iter().map(move |b| jaccard(a, b)));
    let (sum, count) = pairs.fold((0.0, 0usize), |(sum, count), index| (sum + index, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// Maximum number of rows whose losses a record holds.
const MOST: usize = 2000;

/// Digest of rows and folds, and the row losses if there are few.
fn paired_losses(outer: &[OuterFoldFit], loss: &dyn Loss) -> PairedLosses {
    let mut hasher = blake3::Hasher::new();
    for fold in outer {
        for number in [fold.repeat, fold.fold, fold.rows.len()].iter().chain(&fold.rows) {
            hasher.update(&(*number as u64).to_le_bytes());
        }
        for number in fold.held.targets.iter().chain(&fold.held.weights) {
            hasher.update(&number.to_le_bytes());
        }
    }
    let digest = hasher.finalize().to_string();
    let few = loss.traits().measure.is_of_rows()
        && outer.iter().filter(|fold| fold.repeat == 0).map(|f| f.rows.len()).sum::<usize>() <= MOST;
    let units = if few { by_row(outer, loss) } else { None };
    let Some(units) = units else { return PairedLosses { digest, losses: None, weights: None, clusters: None } };
    let is_weighted = units.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let clusters: HashSet<u32> = units.iter().map(|unit| unit.2).collect();
    PairedLosses {
        digest,
        losses: Some(units.iter().map(|unit| unit.0).collect()),
        weights: is_weighted.then(|| units.iter().map(|unit| unit.1).collect()),
        clusters: (clusters.len() < units.len()).then(|| units.iter().map(|unit| unit.2).collect()),
    }
}

/// Loss of each row or unit of positive weight, averaged over repeats, with its weight and cluster; `None` if maps
/// dropped rows.
fn by_row(outer: &[OuterFoldFit], loss: &dyn Loss) -> Option<Vec<(f64, f64, u32)>> {
    let mut rows: BTreeMap<usize, (f64, f64, f64, u32)> = BTreeMap::new();
    for fold in outer {
        // Positions are unknown if maps dropped rows.
        if fold.rows.len() != fold.held.targets.ncols() {
            return None;
        }
        for (row, own, lost) in fold.held.targets_and_predictions().units(loss) {
            let (sum, count, weight, _) =
                rows.entry(fold.rows[row]).or_insert((0.0, 0.0, own, fold.held.clusters[row]));
            (*sum, *count, *weight) = (*sum + lost, *count + 1.0, own);
        }
    }
    Some(rows.into_values().map(|(sum, count, weight, cluster)| (sum / count, weight, cluster)).collect())
}

/// Fills in the range of each column's weights in the models of the outer folds.
pub fn record_spreads(outer: &[OuterFoldFit], selected: &mut [SelectedRecord]) {
    for column in selected {
        let own = column.weight.as_ref();
        column.over_folds = own.and_then(|own| spread(outer, &column.name, own));
    }
}

/// Range of a column's weights over folds, compared with its own in the result; `None` if no fold chose it.
fn spread(outer: &[OuterFoldFit], name: &str, own: &PerOutput) -> Option<WeightSpread> {
    let known: Vec<(Vec<f64>, Option<Vec<f64>>)> = outer.iter().filter_map(|fold| weights_in(fold, name)).collect();
    let outputs = own.values().len();
    if known.is_empty() || known.iter().any(|(weights, _)| weights.len() != outputs) {
        return None;
    }
    let ends = |per_fold: &[&Vec<f64>]| {
        let end = |fold: fn(f64, f64) -> f64| {
            let output_end = |o: usize| per_fold.iter().map(|weights| weights[o]).reduce(fold).unwrap_or(f64::NAN);
            PerOutput::new((0..outputs).map(output_end).collect())
        };
        (end(f64::min), end(f64::max))
    };
    let (low, high) = ends(&known.iter().map(|(weights, _)| weights).collect::<Vec<_>>());
    let original: Option<Vec<&Vec<f64>>> = known.iter().map(|(_, original)| original.as_ref()).collect();
    let original = original.map(|per_fold| ends(&per_fold));
    let changes = |o: usize| low.values()[o].min(own.values()[o]) < 0.0 && high.values()[o].max(own.values()[o]) > 0.0;
    let changes_sign = (0..outputs).any(changes);
    let (original_low, original_high) = original.unzip();
    Some(WeightSpread { folds: known.len(), low, high, original_low, original_high, changes_sign })
}

/// Weights of a column in a fold's model, per output: on the learner's scale, and per unit of the original column if
/// available. `None` if the fold did not choose the column, or its model is not linear in the columns.
fn weights_in(fold: &OuterFoldFit, name: &str) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let readout = fold.model.coefficients()?;
    let selected = &fold.selected;
    if readout.weights.nrows() != selected.len() {
        return None;
    }
    let weights = readout.weights.row(selected.iter().position(|column| column == name)?).to_vec();
    // A feature that the learner made is not an output of the maps.
    let is_own = fold.columns.iter().any(|column| column == name);
    let units = fold.target_units.as_deref();
    let original = if is_own { original_weights(&fold.maps, name, &weights, units) } else { None };
    Some((weights, original))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> HashSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn likeness_is_the_mean_over_pairs() {
        assert_eq!(
            mean_jaccard(&[set(&["a", "b"]), set(&["b", "c"]), set(&["a", "b"])]),
            Some((1.0 / 3.0 + 1.0 + 1.0 / 3.0) / 3.0)
        );
        assert_eq!(mean_jaccard(&[set(&[]), set(&[])]), Some(1.0));
        assert_eq!(mean_jaccard(&[set(&["a"])]), None);
    }
}
