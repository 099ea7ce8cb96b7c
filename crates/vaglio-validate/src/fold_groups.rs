//! Folds that train with the same weights share states and decompositions.
//!
//! Without balanced classes all folds are one group. A balanced readout divides weights by the totals of classes, which
//! depend on the held-out rows.

use super::kernel::{classes_of, weighing};
use std::collections::HashMap;
use std::sync::Arc;
use vaglio_core::{Classes, Design, Result, row_weights};
use vaglio_kernels::kfold::FoldedRows;
use vaglio_kernels::tolerance::LIGHT_TRAINING;
use vaglio_kernels::{Folds, Scorer};

/// Folds with the same training weights, and the rows under these weights.
pub(super) struct FoldGroup<'d> {
    /// Rows with the training weights of these folds.
    pub rows: Arc<FoldedRows<'d>>,
    /// Scorer of the rows of these folds alone, for residuals scaled as in `rows`.
    pub scorer: Scorer,
    pub folds: Vec<usize>,
}

/// Smallest number of folds per group for which groups are decomposed. Refitting one fold costs about a quarter of a
/// decomposition.
const FOLDS_A_GROUP: usize = 4;

/// Largest number of row groups with states of their own.
pub(super) const MOST_GROUPS: usize = 32;
/// Largest number of doubles of weights for decomposing groups; beyond, every row is refitted.
const MOST: usize = 1 << 23;

impl<'d> FoldGroup<'d> {
    /// Weighs the rows as in training without one of `folds`; all of these have the same training weights. `scorer`
    /// covers all held-out rows. Cost O(m·(n + outputs)) if a readout balances classes.
    pub fn new(design: &'d Design, rows: &Arc<FoldedRows<'d>>, scorer: &Scorer, folds: &[usize]) -> Result<Self> {
        let weights = folds.first().and_then(|&fold| fold_weights(design, &rows.folds, fold));
        let Some(weights) = weights else {
            return Ok(FoldGroup { rows: Arc::clone(rows), scorer: scorer.clone(), folds: folds.to_vec() });
        };
        let data = weighing(design, &weights, design.has_intercept())?;
        let is_held_out = rows.folds.is_held_out_in(folds);
        let scorer = scorer.restrict(&data.targets, |row| is_held_out[row]);
        let rows = Arc::new(FoldedRows::new(data, rows.folds.clone(), false));
        Ok(FoldGroup { rows, scorer, folds: folds.to_vec() })
    }
}

/// Groups the folds by their training weights, [`fold_weights`]; one group without balanced classes. Returns `None` if:
/// there are more than `most` groups; the training rows of a fold lack a class of the data.
///
/// Leave-one-out has a group for each class and weight of a row. Cost O(m), and O(m) for each group.
pub(super) fn fold_groups(design: &Design, folds: &Folds, most: usize) -> Option<Vec<Vec<usize>>> {
    let held_out = folds.count_held_out();
    let Some(classes) = classes_of(design) else { return Some(vec![(0..held_out).collect()]) };
    let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for fold in 0..held_out {
        let own = totals(design, Some(&classes), folds.held_out(fold).iter().copied());
        let key = own.iter().map(|total| total.to_bits()).collect();
        let at = *places.entry(key).or_insert(groups.len());
        if at == most {
            return None;
        }
        if at == groups.len() {
            let totals = training_totals(design, &classes, folds, fold);
            if classes.per_row.iter().any(|&class| totals[class] <= 0.0) {
                return None;
            }
            groups.push(Vec::new());
        }
        groups[at].push(fold);
    }
    Some(groups)
}

/// The rows grouped by training weights, if there are few enough groups for states or decompositions.
pub(super) fn single_row_groups(design: &Design) -> Option<Vec<Vec<usize>>> {
    let rows = design.rows().max(1);
    let decomposed = (rows / FOLDS_A_GROUP).min(MOST / rows);
    fold_groups(design, &Folds::single(design.rows()), decomposed.max(MOST_GROUPS))
}

/// Whether decomposing groups costs less than refitting their folds.
pub(super) fn are_decomposed(groups: usize, folds: usize) -> bool {
    groups == 1 || groups * FOLDS_A_GROUP <= folds
}

/// Whether decomposing a subset for groups of folds is reliable and costs less than refitting each fold.
pub(super) fn can_decompose(design: &Design, folds: &Folds, groups: Option<usize>) -> bool {
    !design.problem().in_folds().is_by_formula()
        && folds.train_on_all_others()
        && groups.is_some_and(|groups| are_decomposed(groups, folds.count_held_out()))
        && !is_light(design, folds)
}

/// The folds grouped by training weights for the fit of one subset; empty if every fold is refitted.
pub(super) fn decomposed_groups(design: &Design, folds: &Folds) -> Vec<Vec<usize>> {
    let groups = fold_groups(design, folds, folds.count_held_out());
    let serves = can_decompose(design, folds, groups.as_ref().map(Vec::len));
    groups.filter(|_| serves).unwrap_or_default()
}

/// Whether a fold's training rows have almost none of the weight.
pub(super) fn is_light(design: &Design, folds: &Folds) -> bool {
    if design.weights().is_none() {
        return false;
    }
    let classes = classes_of(design);
    let all = totals(design, classes.as_ref(), 0..design.rows());
    (0..folds.count_held_out()).any(|fold| {
        let is_of_others = folds.train_on_all_others();
        let some = if is_of_others { folds.held_out(fold).to_vec() } else { folds.training(fold) };
        let some = totals(design, classes.as_ref(), some.into_iter());
        let left = |all: f64, some: f64| if is_of_others { all - some } else { some };
        all.iter().zip(some).any(|(all, some)| left(*all, some) < LIGHT_TRAINING * all)
    })
}

/// Training weight of every row if a fold is held out; `None` without balanced classes, when it is the row weight. Cost
/// O(m).
fn fold_weights(design: &Design, folds: &Folds, fold: usize) -> Option<Vec<f64>> {
    let classes = classes_of(design)?;
    let (totals, weight) = (training_totals(design, &classes, folds, fold), row_weights(design.weights()));
    Some(classes.per_row.iter().enumerate().map(|(row, &class)| weight(row) / totals[class]).collect())
}

/// The total weight of each class among the rows that a fold does not hold out.
fn training_totals(design: &Design, classes: &Classes, folds: &Folds, fold: usize) -> Vec<f64> {
    let is_held_out = folds.is_held_out_in(&[fold]);
    totals(design, Some(classes), (0..design.rows()).filter(|&row| !is_held_out[row]))
}

/// The total weight of each class among some rows; without classes, a single total.
fn totals(design: &Design, classes: Option<&Classes>, rows: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut totals = vec![0.0; classes.map_or(1, |classes| classes.names.len())];
    let weight = row_weights(design.weights());
    rows.for_each(|row| totals[classes.map_or(0, |classes| classes.per_row[row])] += weight(row));
    totals
}
