//! Decisions of classes from targets and predictions, coded ±1.

use vaglio_columns::{TIED_PREDICTION, argsort_by, error_of_guess, tied_classes};

/// The class of a row's targets. With one output, 1 is the positive class and 0 the other.
pub(super) fn class_of(targets: &[f64]) -> usize {
    if targets.len() == 1 { usize::from(targets[0] > 0.0) } else { targets.iter().position(|&y| y > 0.0).unwrap_or(0) }
}

/// Error of a row: 0 if its class has the largest prediction, 1 if another has. 1 − 1/t if its class ties with others,
/// t in all.
pub(super) fn error(targets: &[f64], predictions: &[f64]) -> f64 {
    error_of_guess(class_of(targets), tied_classes(predictions.len(), |k| predictions[k], 1.0))
}

/// Rows from the lowest prediction to the highest, and the starts of the groups of ties. Predictions tie within
/// [`TIED_PREDICTION`] times `unit` of the lowest of a group.
pub(super) fn tie_groups(predictions: &[f64], unit: f64) -> (Vec<usize>, Vec<usize>) {
    let distance = TIED_PREDICTION * unit;
    let order = argsort_by(predictions.len(), |a, b| predictions[a].total_cmp(&predictions[b]));
    let mut starts = vec![0];
    let mut rest = &order[..];
    while let Some(&first) = rest.first() {
        let tie = rest.iter().take_while(|&&row| predictions[row] <= predictions[first] + distance).count().max(1);
        rest = &rest[tie..];
        starts.push(order.len() - rest.len());
    }
    (order, starts)
}
