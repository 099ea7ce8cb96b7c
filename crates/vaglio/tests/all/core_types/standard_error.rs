use ndarray::Array2;
use ndarray::Axis;
use vaglio_core::{Absolute, Auc, BalancedError, BalancedSquared, Concordance, Huber, Loss, Part, Squared, ZeroOne};

fn losses() -> [Part<dyn Loss>; 6] {
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

/// The jackknife √((n − 1)/n · Σ_k (θ_k − θ̄)²) of losses without each row.
fn jackknife(without: &[f64]) -> f64 {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    ((count - 1.0) / count * without.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>()).sqrt()
}

#[test]
fn pooled_losses_have_the_jackknife_over_rows() {
    for (m, outputs, loss) in [
        (23, 1, Part::<dyn Loss>::from(Auc)),
        (23, 1, Concordance.into()),
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
            let found = loss.standard_error(targets.view(), predictions.view(), weights, None).unwrap();
            assert!(found > 0.0 && (found - expected).abs() <= 1e-12 * expected, "{loss:?}: {found} is not {expected}");
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
    let found = Part::<dyn Loss>::from(ZeroOne).standard_error(targets.view(), predictions.view(), None, None).unwrap();
    assert!(rate > 0.0 && (found - (variance / 40.0).sqrt()).abs() < 1e-15);
}

#[test]
fn nothing_is_wrong_without_variation() {
    let (targets, ..) = rows(20, 1);
    for loss in losses() {
        assert_eq!(loss.standard_error(targets.view(), targets.view(), None, None), Some(0.0), "{loss:?}");
    }
}

#[test]
fn there_is_none_for_one_row_and_for_one_class() {
    let one = Array2::from_elem((1, 1), 1.0);
    assert!(losses().iter().all(|loss| loss.standard_error(one.view(), one.view(), None, None).is_none()));
    let class = Array2::from_elem((1, 9), 1.0);
    for loss in [Part::<dyn Loss>::from(Auc), BalancedError.into(), BalancedSquared.into()] {
        assert_eq!(loss.standard_error(class.view(), class.view(), None, None), None);
    }
}
