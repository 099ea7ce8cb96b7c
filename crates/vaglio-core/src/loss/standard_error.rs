//! Standard errors of mean losses over rows.

use super::decision::{class_of, tied};
use super::each_row;
use ndarray::{ArrayView2, Axis};

/// Largest number of parts that the jackknife leaves out in turn.
const PARTS: usize = 100;

/// Standard error of a mean over rows: √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows).
pub(super) fn of_rows(
    of_row: impl Fn(&[f64], &[f64]) -> f64,
    targets: ArrayView2<f64>,
    predictions: ArrayView2<f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    let losses: Vec<f64> = each_row(targets, predictions, weights).map(|(y, p, _)| of_row(&y, &p)).collect();
    if losses.len() < 2 {
        return None;
    }
    finite(of_mean(losses.len(), |row| weights.map_or(1.0, |w| w[row]), |row| losses[row]))
}

/// Standard error of a loss of all rows together: the jackknife over interleaved parts of the rows. Cost O(parts)
/// evaluations of the mean.
pub(super) fn of_parts(
    mean: impl Fn(ArrayView2<f64>, ArrayView2<f64>, Option<&[f64]>) -> f64,
    targets: ArrayView2<f64>,
    predictions: ArrayView2<f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    let (rows, parts) = (targets.ncols(), targets.ncols().min(PARTS));
    if rows < 2 {
        return None;
    }
    let without = |part: usize| {
        let left: Vec<usize> = (0..rows).filter(|row| row % parts != part).collect();
        let weights: Option<Vec<f64>> = weights.map(|w| left.iter().map(|&row| w[row]).collect());
        let (targets, predictions) = (targets.select(Axis(1), &left), predictions.select(Axis(1), &left));
        mean(targets.view(), predictions.view(), weights.as_deref())
    };
    finite(jackknife(&(0..parts).map(without).collect::<Vec<_>>()))
}

/// Standard error of a mean over classes: the jackknife over rows. Without its only row, a class drops out of the mean.
pub(super) fn of_classes(
    of_row: impl Fn(&[f64], &[f64]) -> f64,
    y: ArrayView2<f64>,
    p: ArrayView2<f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    let rows = each_row(y, p, weights).map(|(y, p, _)| (class_of(&y), of_row(&y, &p)));
    let (classes, losses): (Vec<usize>, Vec<f64>) = rows.unzip();
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    finite(jackknife(&without_each(&classes, y.nrows().max(2), weight, |row| losses[row])?))
}

/// Standard error of AUC: the jackknife over rows. Each class needs two or more rows.
pub(super) fn of_pairs(y: ArrayView2<f64>, p: ArrayView2<f64>, weights: Option<&[f64]>) -> Option<f64> {
    let positive: Vec<bool> = y.row(0).iter().map(|&y| y > 0.0).collect();
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    finite(jackknife(&pairs_without_each(&positive, &p.row(0).to_vec(), weight)?))
}

fn finite(error: f64) -> Option<f64> {
    error.is_finite().then_some(error)
}

/// Standard error of a weighted mean: √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows).
fn of_mean(rows: usize, weight: impl Fn(usize) -> f64, loss: impl Fn(usize) -> f64) -> f64 {
    let total: f64 = (0..rows).map(&weight).sum();
    let mean = (0..rows).map(|row| weight(row) * loss(row)).sum::<f64>() / total;
    let squares = (0..rows).map(|row| weight(row) * (loss(row) - mean).powi(2)).sum::<f64>();
    (squares / total / rows as f64).sqrt()
}

/// The jackknife: √((n − 1)/n · Σ (θ_j − θ̄)²).
fn jackknife(without: &[f64]) -> f64 {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|theta| (theta - mean).powi(2)).sum();
    ((count - 1.0) / count * squares).sqrt()
}

/// The mean over classes without each row; `None` if all rows are of one class.
fn without_each(
    of_row: &[usize],
    classes: usize,
    weight: impl Fn(usize) -> f64,
    loss: impl Fn(usize) -> f64,
) -> Option<Vec<f64>> {
    let (mut errors, mut all, mut count) = (vec![0.0; classes], vec![0.0; classes], vec![0usize; classes]);
    for (row, &class) in of_row.iter().enumerate() {
        errors[class] += weight(row) * loss(row);
        all[class] += weight(row);
        count[class] += 1;
    }
    let shares: Vec<f64> = errors.iter().zip(&all).map(|(e, a)| if *a > 0.0 { e / a } else { 0.0 }).collect();
    let present = all.iter().filter(|a| **a > 0.0).count();
    if present < 2 {
        return None;
    }
    let without = |(row, &class): (usize, &usize)| {
        let others: f64 = (0..classes).filter(|&c| c != class).map(|c| shares[c]).sum();
        if count[class] == 1 {
            return others / (present - 1) as f64;
        }
        let own = (errors[class] - weight(row) * loss(row)) / (all[class] - weight(row));
        (others + own) / present as f64
    };
    Some(of_row.iter().enumerate().map(without).collect())
}

/// 1 − AUC without each row: all wrong pairs minus the row's own, over the remaining pairs.
fn pairs_without_each(positive: &[bool], predictions: &[f64], weight: impl Fn(usize) -> f64) -> Option<Vec<f64>> {
    if [true, false].iter().any(|class| positive.iter().filter(|p| *p == class).count() < 2) {
        return None;
    }
    let (order, starts) = tied(predictions);
    let groups = || starts.windows(2).map(|at| &order[at[0]..at[1]]);
    let mut wrong = vec![0.0; positive.len()];
    // The positives below each negative, then the negatives above each positive.
    let positives = place(groups(), positive, true, &weight, &mut wrong);
    let negatives = place(groups().rev(), positive, false, &weight, &mut wrong);
    let all: f64 = (0..positive.len()).filter(|&row| positive[row]).map(|row| weight(row) * wrong[row]).sum();
    let without = |row: usize| {
        let left = |class: bool, total: f64| if positive[row] == class { total - weight(row) } else { total };
        (all - weight(row) * wrong[row]) / (left(true, positives) * left(false, negatives))
    };
    Some((0..positive.len()).map(without).collect())
}

/// Sets `wrong` of each row outside of the class: the class's weight in earlier groups, plus half of it in the row's
/// own group. Returns the total weight of the class.
fn place<'g>(
    groups: impl Iterator<Item = &'g [usize]>,
    positive: &[bool],
    class: bool,
    weight: impl Fn(usize) -> f64,
    wrong: &mut [f64],
) -> f64 {
    let mut before = 0.0;
    for group in groups {
        let tied: f64 = group.iter().filter(|&&row| positive[row] == class).map(|&row| weight(row)).sum();
        for &row in group.iter().filter(|&&row| positive[row] != class) {
            wrong[row] = before + 0.5 * tied;
        }
        before += tied;
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absolute, AnyLoss, Auc, BalancedError, BalancedSquared, Huber, Loss, Squared, ZeroOne};
    use ndarray::Array2;

    fn losses() -> [AnyLoss; 6] {
        [Squared.into(), Absolute.into(), Huber::default().into(), ZeroOne.into(), BalancedError.into(), Auc.into()]
    }

    /// Rows with ties, weights, and predictions that are wrong in places: outputs × rows.
    fn rows(rows: usize, outputs: usize) -> (Array2<f64>, Array2<f64>, Vec<f64>) {
        let class = |row: usize| (row * row + row / 3) % outputs.max(2);
        let sign = |is: bool| if is { 1.0 } else { -1.0 };
        let targets = Array2::from_shape_fn((outputs, rows), |(output, row)| {
            sign(if outputs == 1 { class(row) == 1 } else { class(row) == output })
        });
        let noise = |output: usize, row: usize| (((7 * row + 3 * output) % 11) as f64 - 5.0) / 4.0;
        let predictions =
            Array2::from_shape_fn((outputs, rows), |(output, row)| 0.5 * targets[[output, row]] + noise(output, row));
        (targets, predictions, (0..rows).map(|row| 1.0 + (row % 4) as f64 / 2.0).collect())
    }

    #[test]
    fn pooled_losses_have_the_jackknife_over_rows() {
        for (m, outputs, loss) in [
            (23, 1, AnyLoss::from(Auc)),
            (6, 1, Auc.into()),
            (23, 1, BalancedError.into()),
            (31, 4, BalancedError.into()),
            (5, 3, BalancedError.into()),
            (23, 1, BalancedSquared.into()),
            (31, 4, BalancedSquared.into()),
            (5, 3, BalancedSquared.into()),
        ] {
            let (targets, predictions, weights) = rows(m, outputs);
            for weights in [None, Some(&weights[..])] {
                let mean = |of: &[usize]| {
                    let weights: Option<Vec<f64>> = weights.map(|w| of.iter().map(|&row| w[row]).collect());
                    let (targets, predictions) = (targets.select(Axis(1), of), predictions.select(Axis(1), of));
                    loss.mean(targets.view(), predictions.view(), weights.as_deref())
                };
                let without = |row: usize| mean(&(0..m).filter(|&other| other != row).collect::<Vec<_>>());
                let expected = jackknife(&(0..m).map(without).collect::<Vec<_>>());
                let found = loss.standard_error(targets.view(), predictions.view(), weights).unwrap();
                let in_parts = of_parts(|y, p, w| loss.mean(y, p, w), targets.view(), predictions.view(), weights);
                assert!((in_parts.unwrap() - expected).abs() <= 1e-12 * expected, "{loss:?}: {in_parts:?}");
                assert!(
                    found > 0.0 && (found - expected).abs() <= 1e-12 * expected,
                    "{loss:?}: {found} is not {expected}"
                );
            }
        }
    }

    #[test]
    fn means_have_the_standard_error_of_their_rows() {
        let (targets, predictions, _) = rows(40, 1);
        let loss = |rows: &[usize]| {
            ZeroOne.mean(targets.select(Axis(1), rows).view(), predictions.select(Axis(1), rows).view(), None)
        };
        let rate = loss(&(0..40).collect::<Vec<_>>());
        let variance = (0..40).map(|row| (loss(&[row]) - rate).powi(2)).sum::<f64>() / 40.0;
        let found = ZeroOne.standard_error(targets.view(), predictions.view(), None).unwrap();
        assert!(rate > 0.0 && (found - (variance / 40.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn nothing_is_wrong_without_variation() {
        let (targets, ..) = rows(20, 1);
        for loss in losses() {
            assert_eq!(loss.standard_error(targets.view(), targets.view(), None), Some(0.0), "{loss:?}");
        }
    }

    #[test]
    fn there_is_none_for_one_row_and_for_one_class() {
        let one = Array2::from_elem((1, 1), 1.0);
        assert!(losses().iter().all(|loss| loss.standard_error(one.view(), one.view(), None).is_none()));
        let class = Array2::from_elem((1, 9), 1.0);
        for loss in [AnyLoss::from(Auc), BalancedError.into(), BalancedSquared.into()] {
            assert_eq!(loss.standard_error(class.view(), class.view(), None), None);
        }
    }
}
