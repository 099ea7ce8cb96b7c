//! Rounds of held-out rows, as folds of the kernels.
//!
//! A round is a partition of all rows into folds, some of which may never be held out. A validation set is one round
//! with a fold for training alone. Repeated folds are several rounds whose results are averaged trial by trial. Folds
//! with their own training rows record the blocks of rows that these are unions of. Their moments are sums of the
//! products of blocks, so forward chaining is scored like k-fold. Engines based on G = I − H of all rows (held-out
//! rows, decompositions) do not support them. So other losses refit each fold.

use ndarray::Array2;
use vaglio_core::{Design, Feature, Result, Round};
use vaglio_kernels::Folds;

/// The folds of a round. Rows that no fold holds out are a further fold.
pub(super) fn to_folds(round: &Round) -> Folds {
    let held_out = round.count();
    let labels: Vec<u32> = round.fold_of_rows().iter().map(|fold| fold.unwrap_or(held_out as u32)).collect();
    let folds = Folds::new(&labels);
    match round.trainings() {
        Some(training) => folds.training_on(training),
        None => folds.holding_out(held_out),
    }
}

/// Predicts the held-out rows by training each fold: outputs × rows, 0 for other rows.
pub(super) fn retrain(design: &Design, folds: &Folds, subset: &[Feature], lambda: Option<f64>) -> Result<Array2<f64>> {
    let mut predictions = Array2::zeros(design.targets().dim());
    for (fold, training) in folds.trainings().enumerate() {
        let held_out = folds.held_out(fold);
        let predicted = design.retrain(&training, held_out, subset, lambda)?;
        for (&row, column) in held_out.iter().zip(predicted.columns()) {
            predictions.column_mut(row).assign(&column);
        }
    }
    Ok(predictions)
}
