//! What the outer losses of two runs differ by, row by row or fold by fold.

use super::Run;
use crate::record::{Nested, OuterFold, Paired};

/// What the outer losses of two runs differ by.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// The loss of the first less that of the second.
    Of {
        /// Its mean.
        mean: f64,
        /// The standard error of the mean, over pairs.
        standard_error: Option<f64>,
        /// What was paired.
        by: PairedBy,
        /// How many pairs.
        pairs: usize,
    },
    /// The runs are not comparable, because of this.
    None(String),
}

/// What two runs are paired by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedBy {
    /// Rows that were held out.
    Rows,
    /// Outer folds, weighted by their rows.
    Folds,
}

impl Difference {
    /// How many of what were paired, or why there is no difference.
    pub fn how(&self) -> String {
        match self {
            Difference::None(why) => why.clone(),
            Difference::Of { by: PairedBy::Rows, pairs, .. } => format!("{pairs} rows"),
            Difference::Of { by: PairedBy::Folds, pairs, .. } => format!("{pairs} outer folds"),
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Difference::None(why) => write!(f, "not compared: {why}"),
            Difference::Of { mean, standard_error, .. } => {
                let error = standard_error.map(|error| format!(" ± {error:.6}")).unwrap_or_default();
                write!(f, "nested {mean:+.6}{error}, paired by {}", self.how())
            }
        }
    }
}

/// The paired difference, where both runs held out the same rows in the same folds.
pub(super) fn difference(a: &Run, b: &Run) -> Difference {
    match matching(a, b) {
        Err(why) => Difference::None(why),
        Ok((first, second, p, q)) => by_rows(p, q)
            .or_else(|| by_folds(&first.per_fold, &second.per_fold))
            .unwrap_or_else(|| Difference::None("a fold has no finite loss".into())),
    }
}

type Matched<'r> = (&'r Nested, &'r Nested, &'r Paired, &'r Paired);

/// The outer figures of both, or why they are of other things.
fn matching<'r>(a: &'r Run, b: &'r Run) -> Result<Matched<'r>, String> {
    let nested = |run: &'r Run| {
        let lacks = || format!("{} has no outer folds; run it with `--nested 5`", run.name);
        run.record.nested.as_ref().ok_or_else(lacks)
    };
    let (first, second) = (nested(a)?, nested(b)?);
    if a.record.data.sha256 != b.record.data.sha256 {
        return Err("the training data are not the same".into());
    }
    if (&a.record.data.targets, &a.record.data.classes) != (&b.record.data.targets, &b.record.data.classes) {
        return Err("the targets are not the same".into());
    }
    if a.loss() != b.loss() {
        return Err(format!("one loss is `{}`, the other `{}`", a.loss().told(), b.loss().told()));
    }
    let folds = |nested: &Nested| nested.per_fold.iter().map(|f| (f.repeat, f.fold, f.rows)).collect::<Vec<_>>();
    match (&first.paired, &second.paired) {
        (Some(p), Some(q)) if p.sha256 == q.sha256 && folds(first) == folds(second) => Ok((first, second, p, q)),
        _ => Err("the outer folds do not hold out the same rows; give both runs the same seed and folds".into()),
    }
}

fn by_rows(a: &Paired, b: &Paired) -> Option<Difference> {
    let (first, second) = (a.losses.as_ref()?, b.losses.as_ref()?);
    if first.len() != second.len() || a.weights != b.weights {
        return None;
    }
    let weight = |row: usize| a.weights.as_ref().and_then(|weights| weights.get(row)).copied().unwrap_or(1.0);
    let pairs = first.iter().zip(second).enumerate().map(|(row, (a, b))| (a - b, weight(row)));
    of(pairs.collect(), PairedBy::Rows)
}

fn by_folds(a: &[OuterFold], b: &[OuterFold]) -> Option<Difference> {
    of(a.iter().zip(b).map(|(a, b)| (a.loss - b.loss, a.rows as f64)).collect(), PairedBy::Folds)
}

/// The weighted mean of differences, with its standard error.
fn of(pairs: Vec<(f64, f64)>, by: PairedBy) -> Option<Difference> {
    let (count, total) = (pairs.len(), pairs.iter().map(|(_, weight)| weight).sum::<f64>());
    let mean = pairs.iter().map(|(d, weight)| weight * d).sum::<f64>() / total;
    let squares = pairs.iter().map(|(d, weight)| weight * (d - mean) * (d - mean)).sum::<f64>();
    // Of few folds the spread is that of a sample, of rows that of the losses in every other figure.
    let free = if by == PairedBy::Rows { count as f64 } else { count as f64 - 1.0 };
    let standard_error = (count > 1).then(|| (squares / total / free).sqrt());
    mean.is_finite().then_some(Difference::Of { mean, standard_error, by, pairs: count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_means_over_pairs() {
        let paired = |losses: &[f64], weights: Option<Vec<f64>>| Paired {
            sha256: String::new(),
            losses: Some(losses.to_vec()),
            weights,
        };
        let found = by_rows(&paired(&[1.0, 2.0, 4.0], None), &paired(&[1.0, 1.0, 2.0], None));
        let error = (2.0_f64 / 9.0).sqrt();
        let expected = Difference::Of { mean: 1.0, standard_error: Some(error), by: PairedBy::Rows, pairs: 3 };
        assert_eq!(found, Some(expected.clone()));
        assert_eq!(expected.to_string(), "nested +1.000000 ± 0.471405, paired by 3 rows");
        // A row of weight 2 counts as two.
        let weighted = by_rows(&paired(&[1.0, 2.0], Some(vec![1.0, 3.0])), &paired(&[1.0, 1.0], Some(vec![1.0, 3.0])));
        assert!(matches!(weighted, Some(Difference::Of { mean, .. }) if mean == 0.75));
        assert_eq!(by_rows(&paired(&[1.0], None), &paired(&[1.0, 2.0], None)), None);
    }

    #[test]
    fn folds_have_the_spread_of_a_sample() {
        let fold = |loss: f64, rows: usize| OuterFold {
            fold: 1,
            repeat: 1,
            rows,
            loss,
            empty_loss: 1.0,
            size: 0,
            lambda: None,
            score: 1.0,
            cross_validated: None,
            selected: Vec::new(),
        };
        let (a, b) = ([fold(1.0, 10), fold(3.0, 10)], [fold(1.0, 10), fold(1.0, 10)]);
        let expected = Difference::Of { mean: 1.0, standard_error: Some(1.0), by: PairedBy::Folds, pairs: 2 };
        assert_eq!(by_folds(&a, &b), Some(expected));
        assert_eq!(by_folds(&[fold(f64::INFINITY, 3)], &b[..1]), None);
    }
}
