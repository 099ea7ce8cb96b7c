//! Nested cross-validation and permutation tests.

use super::origins::Origins;
use super::paired_losses::paired;
use std::collections::{HashMap, HashSet};
use vaglio_core::Result;
use vaglio_pipeline::pipeline::OuterFolds;
use vaglio_pipeline::resample::fold_losses::difference;
use vaglio_pipeline::resample::procedure::FoldSelection;
use vaglio_pipeline::resample::walks::said_of;
use vaglio_pipeline::resample::{
    Jobs, LEVEL, LossSums, OuterFoldFit, OuterFoldLosses, Pooled, Procedure, Sample, StageMonitor,
};
use vaglio_pipeline::selector::Selection;
use vaglio_report::record::{
    ComparisonColumns, Figures, Frequency, NestedEvaluation, NullFigure, OuterFold, Permutations,
};
use vaglio_search::shuffle::stream;

const SHUFFLE: u64 = 3;

/// Figures of the outer folds.
///
/// # Errors
/// [`vaglio_core::Error::Shape`] if no held-out row has positive weight.
pub(super) fn nested(
    whole: Procedure<'_>,
    sample: &Sample,
    how: &OuterFolds,
    outer: &[OuterFoldFit],
    origins: &Origins<'_>,
) -> Result<NestedEvaluation> {
    let splits = how.parting(whole.selector, sample)?.splits().map(|splits| splits.sentence());
    let loss = &*whole.selector.loss(sample.task());
    let tallies: Vec<LossSums> = outer.iter().map(|fold| fold.held.tally(loss)).collect();
    let empties: Vec<LossSums> = outer.iter().map(|fold| fold.held.empty_tally(loss)).collect();
    let repeats = outer.iter().map(|fold| fold.repeat + 1).max().unwrap_or(0);
    let (value, standard_error) = LossSums::pooled(loss, &tallies.iter().collect::<Vec<_>>(), repeats)?;
    let empty_loss = LossSums::mean(loss, &empties.iter().collect::<Vec<_>>())?;
    let (judged, none) = (OuterFoldLosses::new(&tallies, repeats), OuterFoldLosses::new(&empties, repeats));
    let level = how.interval.unwrap_or(LEVEL);
    let bounded = judged.bounded(loss, None, 0.0, level);
    let less = judged.bounded(loss, Some(&none), 0.0, level);
    let less = less.map(|found| difference(ComparisonColumns::Empty, 0, found));
    let pooled = Pooled::new(outer.iter().map(|fold| fold.held.compared()))?;
    let figures = pooled.figures(sample.class_order().as_ref(), loss, repeats).with_output_names(sample.target_names());
    let per_fold = outer.iter().zip(tallies.iter().zip(&empties)).map(|(fold, (tally, empty))| {
        // AUC and balanced error are undefined on a fold without one of the classes.
        let of = |tally: &LossSums| LossSums::mean(loss, &[tally]).unwrap_or(f64::INFINITY);
        OuterFold {
            fold: fold.fold + 1,
            repeat: fold.repeat + 1,
            rows: fold.held.targets.ncols(),
            loss: of(tally),
            empty_loss: of(empty),
            size: fold.taken.size,
            lambda: fold.model.lambda(),
            score: fold.taken.score,
            cross_validated: fold.taken.cross_validated.map(|cell| cell.loss),
            selected: fold.taken.selected.clone(),
        }
    });
    let sets: Vec<HashSet<String>> = outer.iter().map(|fold| fold.taken.selected.iter().cloned().collect()).collect();
    Ok(NestedEvaluation {
        folds: outer.iter().map(|fold| fold.fold + 1).max().unwrap_or(0),
        repeats,
        loss: value,
        standard_error,
        empty_loss,
        figures: Figures { loss: value, standard_error, empty_loss: Some(empty_loss), ..figures },
        per_fold: per_fold.collect(),
        frequency: frequency(&sets, origins.names),
        by_source: origins.frequency(&sets),
        jaccard: jaccard(&sets),
        intervals: None,
        paired: Some(paired(outer, loss)),
        splits,
        interval: bounded.map(|bounded| bounded.interval),
        level: bounded.map(|_| level),
        difference: less,
    })
}

/// Selection frequency of each name over the sets, most frequent first, then in candidate order.
pub(super) fn frequency(sets: &[HashSet<String>], names: &[String]) -> Vec<Frequency> {
    let places: HashMap<&String, usize> = names.iter().enumerate().map(|(place, name)| (name, place)).collect();
    let mut counts: HashMap<&String, usize> = HashMap::new();
    sets.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counted: Vec<(usize, Option<usize>, &String)> =
        counts.into_iter().map(|(name, count)| (count, places.get(name).copied(), name)).collect();
    counted.sort_by(|a, b| {
        b.0.cmp(&a.0).then(a.1.unwrap_or(usize::MAX).cmp(&b.1.unwrap_or(usize::MAX))).then(a.2.cmp(b.2))
    });
    let frequency = |(count, index, name): (usize, Option<usize>, &String)| Frequency {
        index,
        name: name.clone(),
        share: count as f64 / sets.len() as f64,
    };
    counted.into_iter().map(frequency).collect()
}

/// Mean Jaccard index |A ∩ B| / |A ∪ B| over pairs; two empty sets are equal.
fn jaccard(sets: &[HashSet<String>]) -> Option<f64> {
    let pairs = sets.iter().enumerate().flat_map(|(k, a)| sets[..k].iter().map(move |b| (a, b)));
    let likeness = pairs.map(|(a, b)| {
        let either = a.union(b).count();
        if either == 0 { 1.0 } else { a.intersection(b).count() as f64 / either as f64 }
    });
    let (sum, count) = likeness.fold((0.0, 0usize), |(sum, count), likeness| (sum + likeness, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// Selections on shuffled targets; `None` if stopped, or if some belong to another process.
///
/// # Errors
/// Returns the errors of the selection.
pub(super) fn shuffles(
    whole: Procedure<'_>,
    sample: &Sample,
    count: usize,
    watcher: &StageMonitor<'_>,
) -> Result<Option<Vec<FoldSelection>>> {
    let selector = whole.selector;
    Jobs::new(Jobs::SHUFFLES, count).run("permutations", selector.room(), watcher, |number, member| {
        let _shuffle = tracing::debug_span!("shuffle", number = number + 1).entered();
        let seed = stream(selector.seed(), SHUFFLE, number as u64);
        let repeated = whole.on(&sample.shuffled(selector.goes_forward(), seed)?, member);
        let repeated = repeated.map_err(|e| said_of(e, &format!("shuffle {}", number + 1)))?;
        Ok(repeated.map(|repeated| FoldSelection::from_selection(&repeated.selection)))
    })
}

/// Compares the selection with those on [shuffled targets](shuffles); `None` if stopped.
///
/// # Errors
/// Returns the errors of the selection.
pub(super) fn permutations(
    whole: Procedure<'_>,
    sample: &Sample,
    selection: &Selection,
    count: usize,
    watcher: &StageMonitor<'_>,
) -> Result<Option<Permutations>> {
    let Some(nulls) = shuffles(whole, sample, count, watcher)? else { return Ok(None) };
    let figure = |observed: f64, values: Vec<f64>| {
        let values: Vec<f64> = values.into_iter().map(|value| value.min(f64::MAX)).collect();
        let (count, below) = (values.len() as f64, values.iter().filter(|value| **value <= observed).count() as f64);
        NullFigure { mean: values.iter().sum::<f64>() / count, p: (below + 1.0) / (count + 1.0), values }
    };
    let FoldSelection { score, cross_validated, .. } = FoldSelection::from_selection(selection);
    let of_folds: Vec<f64> = nulls.iter().filter_map(|null| null.cross_validated).map(|cell| cell.loss).collect();
    Ok(Some(Permutations {
        count,
        score: figure(score, nulls.iter().map(|null| null.score).collect()),
        cross_validated: cross_validated.filter(|_| of_folds.len() == count).map(|cell| figure(cell.loss, of_folds)),
    }))
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
            jaccard(&[set(&["a", "b"]), set(&["b", "c"]), set(&["a", "b"])]),
            Some((1.0 / 3.0 + 1.0 + 1.0 / 3.0) / 3.0)
        );
        assert_eq!(jaccard(&[set(&[]), set(&[])]), Some(1.0));
        assert_eq!(jaccard(&[set(&["a"])]), None);
    }

    #[test]
    fn columns_are_counted_the_most_frequent_first() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let counted = frequency(&[set(&["c", "b"]), set(&["b", "a"])], &names);
        let told: Vec<(&str, f64)> = counted.iter().map(|f| (f.name.as_str(), f.share)).collect();
        assert_eq!(told, [("b", 1.0), ("a", 0.5), ("c", 0.5)]);
        assert_eq!(counted[0].index, Some(1));
    }
}
