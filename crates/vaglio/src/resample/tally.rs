//! Losses of rows held out, kept so that those of several folds can be pooled.

use ndarray::{Array2, ArrayView2, Axis, concatenate};
use serde::{Deserialize, Serialize};
use vaglio_core::{Error, Loss, Result};

/// What is kept of the predictions of some rows for one loss.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Tally {
    /// Of a loss that is a mean over units: their number, weight, mean loss, and weighted squares about the mean.
    Mean {
        units: f64,
        weight: f64,
        #[serde(with = "vaglio_core::exact")]
        mean: f64,
        #[serde(with = "vaglio_core::exact")]
        squares: f64,
    },
    /// Of a loss of all rows together: targets and predictions, outputs × rows, and the weights of rows.
    Rows { targets: Array2<f64>, predictions: Array2<f64>, weights: Vec<f64> },
}

/// Predictions of rows with what they are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    /// Outputs × rows.
    pub targets: ArrayView2<'a, f64>,
    /// Outputs × rows.
    pub predictions: ArrayView2<'a, f64>,
    /// How much each row counts; all alike when absent.
    pub weights: Option<&'a [f64]>,
    /// The unit of each row, where rows are not judged one by one; rows of one stand together.
    pub units: Option<&'a [u32]>,
}

/// The loss of a row, or of rows that are judged together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// The first of its rows.
    pub row: usize,
    pub weight: f64,
    pub loss: f64,
}

impl Compared<'_> {
    /// Calls `then` with every unit that counts, in order, for a loss that is a mean over rows.
    pub fn each_unit(&self, loss: &dyn Loss, mut then: impl FnMut(Unit)) {
        let Compared { targets, predictions, weights, units } = *self;
        let (mut target, mut prediction) = (vec![0.0; targets.nrows()], vec![0.0; targets.nrows()]);
        let alone = match targets.nrows() {
            1 => targets.as_slice().zip(predictions.as_slice()),
            _ => None,
        };
        let mut of_row = |row: usize| {
            if let Some((targets, predictions)) = alone {
                return loss.of_row(&targets[row..=row], &predictions[row..=row]);
            }
            target.iter_mut().zip(targets.column(row)).for_each(|(to, from)| *to = *from);
            prediction.iter_mut().zip(predictions.column(row)).for_each(|(to, from)| *to = *from);
            loss.of_row(&target, &prediction)
        };
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let (mut row, rows) = (0, targets.ncols());
        while row < rows {
            let end = match units {
                None => row + 1,
                Some(units) => row + units[row..].iter().take_while(|unit| **unit == units[row]).count(),
            };
            let total: f64 = (row..end).map(weight).sum();
            if total > 0.0 {
                let mean = (row..end).map(|row| weight(row) * of_row(row)).sum::<f64>() / total;
                then(Unit { row, weight: total, loss: mean });
            }
            row = end;
        }
    }
}

impl Tally {
    /// Cost O(rows · outputs).
    pub fn new(loss: &dyn Loss, of: Compared<'_>) -> Self {
        let Compared { targets, predictions, weights, .. } = of;
        if !loss.measure().is_of_rows() {
            let weights = weights.map_or_else(|| vec![1.0; targets.ncols()], <[f64]>::to_vec);
            return Tally::Rows { targets: targets.to_owned(), predictions: predictions.to_owned(), weights };
        }
        let mut units = Vec::with_capacity(targets.ncols());
        of.each_unit(loss, |unit| units.push((unit.weight, unit.loss)));
        let weight: f64 = units.iter().map(|(weight, _)| weight).sum();
        let sum: f64 = units.iter().map(|(weight, loss)| weight * loss).sum();
        let mean = if units.is_empty() { 0.0 } else { sum / weight };
        let squares = units.iter().map(|(weight, loss)| weight * (loss - mean).powi(2)).sum();
        Tally::Mean { units: units.len() as f64, weight, mean, squares }
    }

    /// Pooled with others of the same loss.
    fn with(self, units: f64, weight: f64, mean: f64, squares: f64) -> Self {
        let Tally::Mean { units: u, weight: w, mean: m, squares: s } = self else { return self };
        if weight == 0.0 {
            return Tally::Mean { units: u, weight: w, mean: m, squares: s };
        }
        let (total, apart) = (w + weight, mean - m);
        Tally::Mean {
            units: u + units,
            weight: total,
            mean: m + apart * weight / total,
            squares: s + squares + apart * apart * w * weight / total,
        }
    }

    /// The mean loss of all rows of several tallies, with its standard error.
    ///
    /// # Errors
    /// [`Error::Shape`] when no row counts.
    pub fn pooled(loss: &dyn Loss, parts: &[&Tally]) -> Result<(f64, Option<f64>)> {
        let nothing = || Error::Shape("no row that was held out counts".into());
        let Some((first, rest)) = parts.split_first() else { return Err(nothing()) };
        match first {
            Tally::Mean { .. } => {
                let mut all = (*first).clone();
                for part in rest {
                    let Tally::Mean { units, weight, mean, squares } = part else { continue };
                    all = all.with(*units, *weight, *mean, *squares);
                }
                let Tally::Mean { units, weight, mean, squares } = all else { return Err(nothing()) };
                if weight == 0.0 {
                    return Err(nothing());
                }
                Ok((mean, (units > 1.0).then(|| (squares / weight / units).sqrt())))
            }
            Tally::Rows { .. } => {
                let (mut targets, mut predictions, mut weights) = (Vec::new(), Vec::new(), Vec::new());
                for part in parts {
                    let Tally::Rows { targets: t, predictions: p, weights: w } = part else { continue };
                    targets.push(t.view());
                    predictions.push(p.view());
                    weights.extend_from_slice(w);
                }
                let joined = |parts: &[ArrayView2<'_, f64>]| {
                    concatenate(Axis(1), parts).map_err(|e| Error::Shape(format!("outputs differ: {e}")))
                };
                let (targets, predictions) = (joined(&targets)?, joined(&predictions)?);
                let value = loss.mean(targets.view(), predictions.view(), Some(&weights));
                if value.is_nan() {
                    return Err(nothing());
                }
                Ok((value, loss.standard_error(targets.view(), predictions.view(), Some(&weights))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, s};
    use vaglio_core::{Absolute, AnyLoss, Auc, BalancedError, Squared, ZeroOne};

    #[test]
    fn tallies_of_parts_pool_to_the_loss_of_all_rows() {
        let value = |o: usize, j: usize| ((31 * j + 17 * o) % 23) as f64 / 7.0 - 1.4;
        let predictions = Array2::from_shape_fn((1, 40), |(o, j)| value(o, j));
        let targets = Array2::from_shape_fn((1, 40), |(_, j)| if (j * j) % 5 < 2 { 1.0 } else { -1.0 });
        let weights: Vec<f64> = (0..40).map(|j| 0.5 + (j % 3) as f64).collect();
        for loss in [AnyLoss::from(Squared), Absolute.into(), ZeroOne.into(), BalancedError.into(), Auc.into()] {
            let loss = &*loss;
            let part = |from: usize, to: usize| {
                Tally::new(
                    loss,
                    Compared {
                        targets: targets.slice(s![.., from..to]),
                        predictions: predictions.slice(s![.., from..to]),
                        weights: Some(&weights[from..to]),
                        units: None,
                    },
                )
            };
            let parts = [part(0, 13), part(13, 14), part(14, 40)];
            let (mean, error) = Tally::pooled(loss, &parts.iter().collect::<Vec<_>>()).unwrap();
            let expected = loss.mean(targets.view(), predictions.view(), Some(&weights));
            assert!((mean - expected).abs() < 1e-13, "{loss:?}: {mean} {expected}");
            let whole = loss.standard_error(targets.view(), predictions.view(), Some(&weights));
            assert!((error.unwrap() - whole.unwrap()).abs() < 1e-13, "{loss:?}: {error:?} {whole:?}");
        }
    }

    #[test]
    fn rows_of_a_unit_are_one_observation() {
        let targets = Array2::zeros((1, 6));
        let predictions = Array2::from_shape_vec((1, 6), vec![1.0, 3.0, 2.0, 2.0, 5.0, 5.0]).unwrap();
        let units = [0, 0, 1, 1, 2, 2];
        let of =
            Compared { targets: targets.view(), predictions: predictions.view(), weights: None, units: Some(&units) };
        let tally = Tally::new(&Absolute, of);
        let (mean, error) = Tally::pooled(&Absolute, &[&tally]).unwrap();
        assert!((mean - 3.0).abs() < 1e-15);
        assert!((error.unwrap() - (2.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }
}
