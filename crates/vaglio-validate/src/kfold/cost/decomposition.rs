//! Tests for folds that one decomposition can serve, and for folds that hold out almost all weight.

use crate::balance;
use crate::fits::are_decomposed;
use vaglio_core::Design;
use vaglio_kernels::Folds;
use vaglio_kernels::tolerance::LIGHT_TRAINING;

/// Whether decomposing a subset for groups of folds is reliable and costs less than refitting each fold.
pub(super) fn can_decompose(design: &Design, folds: &Folds, groups: Option<usize>) -> bool {
    !design.problem().in_folds().is_by_formula()
        && folds.train_on_all_others()
        && groups.is_some_and(|groups| are_decomposed(groups, folds.count_held_out()))
        && !is_light(design, folds)
}

/// The folds grouped by training weights for the fit of one subset; empty if every fold is refitted.
pub(crate) fn decomposed_groups(design: &Design, folds: &Folds) -> Vec<Vec<usize>> {
    let groups = balance::fold_groups(design, folds, folds.count_held_out());
    let serves = can_decompose(design, folds, groups.as_ref().map(Vec::len));
    groups.filter(|_| serves).unwrap_or_default()
}

/// Whether a fold's training rows have almost none of the weight.
pub(super) fn is_light(design: &Design, folds: &Folds) -> bool {
    if design.weights().is_none() {
        return false;
    }
    let classes = balance::classes_of(design);
    let all = balance::totals(design, classes.as_ref(), 0..design.rows());
    (0..folds.count_held_out()).any(|fold| {
        let is_of_others = folds.train_on_all_others();
        let some = if is_of_others { folds.held_out(fold).to_vec() } else { folds.training(fold) };
        let some = balance::totals(design, classes.as_ref(), some.into_iter());
        let left = |all: f64, some: f64| if is_of_others { all - some } else { some };
        all.iter().zip(some).any(|(all, some)| left(*all, some) < LIGHT_TRAINING * all)
    })
}
