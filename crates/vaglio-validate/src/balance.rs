//! Training weights of balanced readouts, which depend on the held-out rows.

use super::kernel::kernel_data;
use std::collections::HashMap;
use vaglio_core::{Classes, Design, Result, row_weights};
use vaglio_kernels::Folds;
use vaglio_kernels::kfold::FoldedRows;

/// Classes of a design; `None` unless the readout balances them.
pub(super) fn classes_of(design: &Design) -> Option<Classes> {
    design.problem().classes().filter(|_| design.readout().is_some_and(|readout| readout.balanced))
}

/// The rows of a design in folds, weighted as in training of its readout.
pub(super) fn rows_of<'d>(design: &'d Design, folds: Folds) -> Result<FoldedRows<'d>> {
    let in_folds = design.problem().in_folds();
    let data = kernel_data(design, design.readout().is_some_and(|readout| readout.intercept))?;
    let mut rows = FoldedRows::new(data, folds, in_folds.is_standardized());
    let missing = in_folds.missing().into_iter();
    let masks = missing.flat_map(|all| all.features().iter().filter_map(|&f| Some((f, all.mask(f)?))));
    rows.missing = masks.collect();
    rows.classes = classes_of(design).map(|classes| classes.per_row);
    Ok(rows)
}

/// Training weight of every row if a fold is held out; `None` without balanced classes, when it is the row weight. Cost
/// O(m).
pub(super) fn fold_weights(design: &Design, folds: &Folds, fold: usize) -> Option<Vec<f64>> {
    let classes = classes_of(design)?;
    let (totals, weight) = (training_totals(design, &classes, folds, fold), row_weights(design.weights()));
    Some(classes.per_row.iter().enumerate().map(|(row, &class)| weight(row) / totals[class]).collect())
}

/// The total weight of each class among the rows that a fold does not hold out.
fn training_totals(design: &Design, classes: &Classes, folds: &Folds, fold: usize) -> Vec<f64> {
    let is_held_out = folds.is_held_out_in(&[fold]);
    totals(design, Some(classes), (0..design.rows()).filter(|&row| !is_held_out[row]))
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

/// The total weight of each class among some rows; without classes, a single total.
pub(super) fn totals(design: &Design, classes: Option<&Classes>, rows: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut totals = vec![0.0; classes.map_or(1, |classes| classes.names.len())];
    let weight = row_weights(design.weights());
    rows.for_each(|row| totals[classes.map_or(0, |classes| classes.per_row[row])] += weight(row));
    totals
}
