//! Units of several rows with one averaged prediction.

use crate::{Error, Result, number_labels, row_weights, rows_by_label};
use ndarray::{Array2, ArrayView2, Axis};
use std::collections::HashMap;

/// Units of rows, such as the steps of a series. Predictions are averaged over the rows of each unit, and losses are
/// means over units.
///
/// Within its unit a row has its weight r_j. A unit has the mean weight of its rows.
#[derive(Debug, Clone)]
pub struct PredictionUnits {
    /// The unit of each row, numbered from 0 in order of appearance.
    pub per_row: Vec<usize>,
    /// The share of each row in its unit's prediction; the shares in a unit add up to 1.
    pub shares: Vec<f64>,
    /// Targets, outputs × units.
    pub targets: Array2<f64>,
    /// Mean row weight of each unit; `None` if rows have no weights.
    pub weights: Option<Vec<f64>>,
}

impl PredictionUnits {
    /// Refuses rows of one unit with different targets.
    pub(crate) fn check(units: Option<&[u32]>, targets: &Array2<f64>) -> Result<()> {
        let mut firsts = HashMap::new();
        for (row, unit) in units.into_iter().flatten().enumerate() {
            let first = *firsts.entry(unit).or_insert(row);
            if targets.column(row) != targets.column(first) {
                return Err(Error::Shape(format!(
                    "row {} has another target than row {}, and the two are decided as one",
                    row + 1,
                    first + 1
                )));
            }
        }
        Ok(())
    }

    /// Creates the units from a label for each row. Rows of a unit have equal targets.
    pub(crate) fn new(units: &[u32], targets: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Self {
        let (units, _) = number_labels(units);
        let rows = rows_by_label(&units);
        let first: Vec<usize> = rows.iter().map(|rows| rows[0]).collect();
        let per_row: Vec<usize> = units.into_iter().map(|unit| unit as usize).collect();
        let weight = row_weights(weights);
        let totals: Vec<f64> = rows.iter().map(|rows| rows.iter().map(|&row| weight(row)).sum()).collect();
        let shares = per_row.iter().enumerate().map(|(row, &unit)| weight(row) / totals[unit]).collect();
        let weights =
            weights.map(|_| totals.iter().zip(&rows).map(|(total, rows)| total / rows.len() as f64).collect());
        PredictionUnits { shares, targets: targets.select(Axis(1), &first), weights, per_row }
    }

    /// Averages predictions of rows to predictions of units, outputs × units.
    pub(crate) fn average(&self, predictions: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut decided = Array2::zeros(self.targets.dim());
        for ((row, column), &share) in predictions.columns().into_iter().enumerate().zip(&self.shares) {
            decided.column_mut(self.per_row[row]).scaled_add(share, &column);
        }
        decided
    }
}
