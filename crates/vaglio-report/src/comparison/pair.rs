//! Paired differences of the outer losses of two runs, row by row or fold by fold.

use crate::names::clause;
use crate::record::{NestedEvaluation, OuterFold, Record, interval_text};
use crate::{ClusterSum, LEVEL, MeanVariances, StandardizedMoments};
use vaglio_core::{pluralize, short};

/// A run with its name.
#[derive(Debug)]
pub struct NamedRun {
    /// Name of the folder, or its path as given if several folders have that name.
    pub name: String,
    /// Result.
    pub record: Record,
}

/// Difference of the outer losses of two runs, the first minus the second.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Mean.
    pub mean: f64,
    /// 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// Number and kind of the pairs: `60 rows`, `3 outer folds`.
    pub pairs: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let interval = clause(" ({})", self.interval.map(|ends| interval_text((ends, LEVEL))));
        let sign = if self.mean > 0.0 { "+" } else { "" };
        write!(f, "nested {sign}{}{interval}, paired by {}", short(self.mean), self.pairs)
    }
}

/// Paired difference, if both runs held out the same rows in the same folds, or why there is none.
pub fn difference(a: &NamedRun, b: &NamedRun) -> Result<Difference, String> {
    let [first, second] = matching(a, b)?;
    let by_fold = fold_differences(first, second);
    let folds: Vec<&[ClusterSum]> = by_fold.iter().map(std::slice::from_ref).collect();
    let folds = MeanVariances::from_folds(&folds, first.repeats).folds;
    let by_row = row_differences(first, second).and_then(|pairs| {
        let clusters = MeanVariances::from_folds(&[&pairs], 1).clusters;
        let count = clusters.map_or(pairs.len(), |(_, count)| count);
        let words = match first.paired.as_ref()?.clusters {
            Some(_) => format!("{} of rows", pluralize(count, "cluster")),
            None => pluralize(count, "row"),
        };
        mean_difference(&pairs, MeanVariances { clusters, folds }, words)
    });
    let by_fold =
        || mean_difference(&by_fold, MeanVariances { clusters: None, folds }, pluralize(by_fold.len(), "outer fold"));
    by_row.or_else(by_fold).ok_or_else(|| "a fold has no finite loss".into())
}

/// Outer folds of both runs, or the reason why they do not match.
fn matching<'r>(a: &'r NamedRun, b: &'r NamedRun) -> Result<[&'r NestedEvaluation; 2], String> {
    let nested = |run: &'r NamedRun| {
        let lacks = || format!("{} has no outer folds; run it with `--nested 5`", run.name);
        run.record.nested.as_ref().ok_or_else(lacks)
    };
    let (first, second) = (nested(a)?, nested(b)?);
    if a.record.data.digest != b.record.data.digest {
        return Err("the training data are not the same".into());
    }
    if (&a.record.data.targets, &a.record.data.classes) != (&b.record.data.targets, &b.record.data.classes) {
        return Err("the targets are not the same".into());
    }
    if a.record.loss() != b.record.loss() {
        return Err(format!(
            "one loss is `{}`, the other `{}`",
            a.record.loss().result_name(),
            b.record.loss().result_name()
        ));
    }
    let folds =
        |nested: &NestedEvaluation| nested.per_fold.iter().map(|f| (f.repeat, f.fold, f.rows)).collect::<Vec<_>>();
    let weighs = |nested: &NestedEvaluation| nested.paired.as_ref().is_some_and(|paired| paired.weights.is_some());
    if weighs(first) != weighs(second) {
        return Err("one run weighs its rows and the other does not".into());
    }
    match (&first.paired, &second.paired) {
        (Some(p), Some(q)) if p.digest == q.digest && folds(first) == folds(second) => Ok([first, second]),
        _ => Err("the outer folds do not hold out the same rows; give both runs the same seed and folds".into()),
    }
}

/// Differences of the losses of each row with a cluster and a weight, if both runs recorded the losses of rows.
fn row_differences(first: &NestedEvaluation, second: &NestedEvaluation) -> Option<Vec<ClusterSum>> {
    let (p, q) = (first.paired.as_ref()?, second.paired.as_ref()?);
    let (a, b) = (p.losses.as_ref()?, q.losses.as_ref()?);
    if a.len() != b.len() || p.weights != q.weights || p.clusters != q.clusters {
        return None;
    }
    let pair = |(row, (a, b)): (usize, (&f64, &f64))| {
        let weight = p.weights.as_ref().and_then(|weights| weights.get(row)).copied().unwrap_or(1.0);
        let cluster = p.clusters.as_ref().and_then(|clusters| clusters.get(row)).copied().unwrap_or(row as u32);
        ClusterSum { cluster, weight, sum: weight * (a - b) }
    };
    Some(a.iter().zip(b).enumerate().map(pair).collect())
}

/// Difference of the losses of each fold.
fn fold_differences(first: &NestedEvaluation, second: &NestedEvaluation) -> Vec<ClusterSum> {
    let pair = |(fold, (a, b)): (u32, (&OuterFold, &OuterFold))| {
        let weight = a.rows as f64;
        ClusterSum { cluster: fold, weight, sum: weight * (a.loss - b.loss) }
    };
    (0..).zip(first.per_fold.iter().zip(&second.per_fold)).map(pair).collect()
}

/// Weighted mean of the differences, with its interval; `words` describe the pairs.
fn mean_difference(pairs: &[ClusterSum], spread: MeanVariances, words: String) -> Option<Difference> {
    let (weight, sum) = ClusterSum::total(pairs);
    let mean = sum / weight;
    let shape = StandardizedMoments::from_deviations(pairs.iter().map(|pair| pair.sum - pair.weight * mean));
    let interval = spread.root().map(|error| shape.interval(mean, spread.model_factor() * error, LEVEL));
    let interval = interval.filter(|bounds| bounds.iter().all(|bound| bound.is_finite()));
    mean.is_finite().then_some(Difference { mean, interval, pairs: words })
}
