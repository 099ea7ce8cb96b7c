//! Target encoding of text columns.

use super::{Scope, columns};
use crate::folds::FoldAssignment;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Error, Map, Result, prelude::*, row_weights};

/// Replaces every level of text columns by the mean target of its training rows, shrunk towards the overall mean: (Σ w
/// y + s ȳ) / (Σ w + s), with smoothing s and weights w divided by their mean.
///
/// Encoding is out of fold: a training row is encoded from the rows of other folds, so that its own target does not
/// leak; other rows are encoded from all training rows. With several outputs or classes, column `x` becomes one column
/// for each, `x_class`. An unknown level becomes the overall mean; a missing cell stays missing. Cost O(rows · folds ·
/// outputs) per column.
///
/// # Errors
/// Fewer than two rows, or groups, to split into folds.
///
/// # Reference
/// D. Micci-Barreca, *A preprocessing scheme for high-cardinality categorical attributes in classification and
/// prediction problems*, ACM SIGKDD Explorations 3(1), 2001.
#[part(
    Map,
    "target_encode",
    summary = "the mean of the target in each level of a text column, out of fold",
    example = "preprocess: [{kind: target_encode, smoothing: 10.0, folds: 5, columns: [size]}]"
)]
#[derive(PartialEq)]
pub struct TargetEncode {
    /// Smoothing: number of rows at the overall mean that are added to each level.
    #[default(10.0)]
    pub smoothing: f64,
    /// Number of folds of the training rows. Groups and series stay together; fewer groups than this make fewer folds.
    #[default(5)]
    pub folds: usize,
    /// Seed of the folds; by default the pipeline's.
    pub seed: Option<u64>,
    /// Columns to encode; by default all text columns. Named columns may also hold numbers, whose values are levels.
    pub columns: Option<Vec<String>>,
    /// Rows on which the encoding is learned during cross-validation.
    #[default(Scope::Train)]
    pub scope: Scope,
}

/// Means of one column by level, and overall, with one value per output.
#[setting]
pub struct LevelMeans {
    levels: BTreeMap<String, Vec<f64>>,
    all: Vec<f64>,
}

impl Map for TargetEncode {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let folds = self.folds_of(rows)?;
        let chosen = columns::levels(rows.table, self.columns.as_deref())?;
        let chosen: BTreeSet<&str> = chosen.into_iter().map(|(name, _)| name).collect();
        let outputs = if rows.targets.nrows() > 1 { rows.outputs.to_vec() } else { Vec::new() };
        let (mut columns, mut encoded, mut training) = (BTreeMap::new(), Vec::new(), rows.table.clone());
        for (name, cells) in training.take_columns() {
            if !chosen.contains(name.as_str()) {
                encoded.push((name, cells));
                continue;
            }
            let (levels, level_of) = levels_of_rows(&cells);
            let (means, all) = level_means(rows, &level_of, levels.len(), self.smoothing, |_| true);
            let mut own = vec![vec![f64::NAN; cells.len()]; rows.targets.nrows()];
            for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
                let (others, _) = level_means(rows, &level_of, levels.len(), self.smoothing, |row| folds[row] != fold);
                for row in (0..cells.len()).filter(|&row| folds[row] == fold) {
                    let Some(level) = level_of[row] else { continue };
                    own.iter_mut().zip(&others[level]).for_each(|(column, mean)| column[row] = *mean);
                }
            }
            let own = own.into_iter().map(|values| Cells::Numbers(Numbers::from(values)));
            encoded.extend(names(&name, &outputs).into_iter().zip(own));
            let levels = levels.into_iter().map(Cow::into_owned).zip(means).collect();
            columns.insert(name, LevelMeans { levels, all });
        }
        let mut fitted = formulas(&columns, &outputs);
        fitted.training = Some(training.with_columns(encoded)?);
        Ok(fitted)
    }

    fn traits(&self) -> MapTraits {
        self.scope.traits(None)
    }

    fn check_settings(&self) -> Result<()> {
        if !(self.smoothing.is_finite() && self.smoothing >= 0.0) {
            return Err(Error::setting("smoothing", format!("{} is no number from 0 on", self.smoothing)));
        }
        if self.folds < 2 {
            return Err(Error::setting("folds", format!("{} is too few; 2 is the least", self.folds)));
        }
        columns::check(self.columns.as_deref())
    }
}

impl TargetEncode {
    /// Fold number of each row.
    fn folds_of(&self, rows: &TrainingRows<'_>) -> Result<Vec<u32>> {
        let several = |series: &&[u32]| series.iter().any(|label| *label != series[0]);
        let series = rows.table.series().filter(several);
        let labels: Vec<&[u32]> = rows.groups.into_iter().chain(series).collect();
        let fold_assignment = FoldAssignment::from_labels(&labels, rows.table.rows(), None);
        let (most, folds) = (fold_assignment.count, self.folds.min(fold_assignment.count));
        if folds < 2 {
            let what = if labels.is_empty() { "rows" } else { "groups of rows" };
            return Err(Error::setting("folds", format!("{most} {what} cannot be split into folds")));
        }
        fold_assignment.folds(folds, self.seed.unwrap_or(rows.seed))
    }
}

/// Distinct levels of a column, sorted, and the place of each row's level; `None` for a missing cell.
fn levels_of_rows(cells: &Cells) -> (Vec<Cow<'_, str>>, Vec<Option<usize>>) {
    let there = |row: usize| (!cells.is_missing(row)).then(|| cells.text(row));
    let names: BTreeSet<Cow<'_, str>> = (0..cells.len()).filter_map(there).collect();
    let names: Vec<Cow<'_, str>> = names.into_iter().collect();
    let places = (0..cells.len()).map(|row| names.binary_search(&there(row)?).ok()).collect();
    (names, places)
}

/// Mean of every output in each level, and overall, over the rows with `trains`.
fn level_means(
    rows: &TrainingRows<'_>,
    level_of: &[Option<usize>],
    levels: usize,
    smoothing: f64,
    trains: impl Fn(usize) -> bool,
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let outputs = rows.targets.nrows();
    let mut sums = vec![vec![0.0; outputs + 1]; levels];
    let (mut whole, mut count) = (vec![0.0; outputs + 1], 0);
    for row in (0..level_of.len()).filter(|&row| trains(row)) {
        let weight = row_weights(rows.weights)(row);
        let add = |sums: &mut [f64]| {
            sums.iter_mut().zip(rows.targets.column(row)).for_each(|(sum, y)| *sum += weight * y);
            sums[outputs] += weight;
        };
        add(&mut whole);
        count += usize::from(weight > 0.0);
        if let Some(level) = level_of[row] {
            add(&mut sums[level]);
        }
    }
    let all: Vec<f64> =
        whole[..outputs].iter().map(|sum| if whole[outputs] > 0.0 { sum / whole[outputs] } else { 0.0 }).collect();
    // Smoothing counts rows of mean weight.
    let smoothing = if count > 0 { smoothing * whole[outputs] / count as f64 } else { smoothing };
    let mean = |sums: &Vec<f64>| {
        let count = sums[outputs] + smoothing;
        let one = |(sum, all): (&f64, &f64)| if count > 0.0 { (sum + smoothing * all) / count } else { *all };
        sums[..outputs].iter().zip(&all).map(one).collect()
    };
    (sums.iter().map(mean).collect(), all)
}

pub fn formulas(columns: &BTreeMap<String, LevelMeans>, outputs: &[String]) -> MapFormulas {
    let formulas = columns.iter().flat_map(|(column, means)| {
        names(column, outputs).into_iter().enumerate().map(move |(output, name)| {
            // A damaged model may lack outputs.
            let mean = |means: &[f64]| means.get(output).copied().unwrap_or(f64::NAN);
            let levels = means.levels.iter().map(|(level, means)| (level.clone(), mean(means))).collect();
            Expression::levels(column, levels, mean(&means.all)).named(name).in_block()
        })
    });
    let formulas = formulas.collect::<MapFormulas>().named_by("columns");
    columns.iter().fold(formulas, |all, (column, means)| all.with_levels(column, means.levels.keys().cloned(), None))
}

/// Output columns of a column; `outputs` are the suffixes of several outputs.
fn names(column: &str, outputs: &[String]) -> Vec<String> {
    if outputs.is_empty() {
        return vec![column.to_owned()];
    }
    outputs.iter().map(|output| format!("{column}_{output}")).collect()
}
