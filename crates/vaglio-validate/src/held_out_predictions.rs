//! Held-out predictions by the readout of one subset.

use super::fits::RoundFits;
use super::fold_groups::{decomposed_groups, single_row_groups};
use super::round::{retrain, to_folds};
use ndarray::{Array2, Axis};
use vaglio_core::{Design, Feature, HeldOut, Result, Squared, row_weights};

/// Held-out rows, and the prediction of each by a model trained without it, outputs × rows.
pub struct HeldOutPredictions {
    /// The rows, in increasing order.
    pub rows: Vec<usize>,
    /// The predictions, with a column for each of `rows`.
    pub predictions: Array2<f64>,
}

/// Predicts a criterion's held-out rows by models of a subset trained without them. Of several rounds, uses the first.
/// Returns `None` if: nothing is held out; single rows are held out and there is no readout.
///
/// Cost: one decomposition of the subset for single rows, at most a fit for each fold.
///
/// # Errors
/// Returns [`vaglio_core::Error::Numerical`] when entries overflow, or an error of the learner.
pub fn predicted_held_out(
    design: &Design,
    held_out: &HeldOut,
    subset: &[Feature],
    lambda: Option<f64>,
) -> Result<Option<HeldOutPredictions>> {
    let lambda = lambda.or(design.readout().map(|readout| readout.lambdas[0]));
    let fits = match held_out {
        HeldOut::Nothing => return Ok(None),
        HeldOut::EachRow if design.readout().is_none() => return Ok(None),
        HeldOut::EachRow => {
            let groups = single_row_groups(design).unwrap_or_default();
            RoundFits::from_rows(design, &Squared.into(), groups, true, false)?
        }
        HeldOut::Folds(rounds) => {
            let Some(folds) = rounds.first().map(to_folds) else { return Ok(None) };
            if design.readout().is_none() || design.problem().in_folds().is_by_maps() {
                let (rows, all) = (folds.rows_held_out(), retrain(design, &folds, subset, lambda)?);
                return Ok(Some(HeldOutPredictions { predictions: all.select(Axis(1), &rows), rows }));
            }
            let groups = decomposed_groups(design, &folds);
            RoundFits::from_folds(design, &Squared.into(), folds, groups)?
        }
    };
    let (_, residuals) = fits.fit(subset).loss_and_residuals(lambda.unwrap_or_default(), f64::INFINITY)?;
    let root = |row: usize| row_weights(design.weights())(row).sqrt();
    let (targets, rows) = (design.targets(), fits.rows.folds.rows_held_out());
    let predicted =
        |(output, at): (usize, usize)| targets[[output, rows[at]]] - residuals[output][rows[at]] / root(rows[at]);
    let predictions = Array2::from_shape_fn((targets.nrows(), rows.len()), predicted);
    Ok(Some(HeldOutPredictions { rows, predictions }))
}
