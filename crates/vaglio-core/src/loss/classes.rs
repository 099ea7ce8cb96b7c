//! Losses of classes, coded ±1; with several classes each has its own output.

use super::decision::{class_of, error, tie_groups};
use super::standard_error::visit_rows;
use super::{Loss, LossTasks, LossTraits, Measure, Squared};
use crate::{part, row_weights};
use ndarray::ArrayView2;

/// Share of misclassified rows: y·p < 0; with several classes, another class than the row's has the largest prediction.
///
/// A tie counts as a guess: ½ for p within 10⁻¹² of 0, and 1 − 1/t if t classes with the row's own share the largest
/// prediction.
#[part(
    Loss,
    "zero_one",
    summary = "share of rows on the wrong side, a tie as half (several classes: not the largest output)",
    title = "error rate"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct ZeroOne;

/// Mean over the classes of the share of their rows that [`ZeroOne`] counts.
#[part(
    Loss,
    "balanced_error",
    summary = "mean over classes of each class's share of errors",
    title = "balanced error rate"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct BalancedError;

/// Mean over the classes of the mean of (y − p)² over their rows and all outputs.
///
/// The loss is Σ_j r_j/(C·m_c(j))·(y_j − p_j)², averaged over outputs. Here m_c is the weight of the held-out rows of class
/// c, and C the number of their classes. Rare classes count like others in scores, not in training: the learner `crrr`
/// balances that.
///
/// # Reference
/// P. Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter search for large datasets of the
/// regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013, section 4.
#[part(
    Loss,
    "balanced_squared",
    summary = "mean over classes of each class's mean squared error",
    title = "balanced squared error"
)]
#[derive(Copy, PartialEq, Eq)]
pub struct BalancedSquared;

/// 1 − area under the ROC curve, for two classes.
#[part(Loss, "auc", summary = "1 - area under the ROC curve (two classes)", title = "1 − AUC")]
#[derive(Copy, PartialEq, Eq)]
pub struct Auc;

impl Loss for ZeroOne {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        error(targets, predictions)
    }

    fn traits(&self) -> LossTraits {
        LossTraits { measure: Measure::ZeroOne, tasks: LossTasks::Classes, ..LossTraits::share() }
    }
}

impl Loss for BalancedError {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        error(targets, predictions)
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        over_classes(self, targets, predictions, weights)
    }

    fn traits(&self) -> LossTraits {
        LossTraits { measure: Measure::BalancedError, tasks: LossTasks::Classes, ..LossTraits::share() }
    }
}

impl Loss for BalancedSquared {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        Squared.row_loss(targets, predictions)
    }

    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        over_classes(self, targets, predictions, weights)
    }

    fn traits(&self) -> LossTraits {
        let (measure, degree) = (Measure::BalancedSquared, Some(2));
        LossTraits { measure, degree, tasks: LossTasks::Classes, ..LossTraits::non_negative() }
    }
}

impl Loss for Auc {
    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let weight = row_weights(weights);
        wrong_pairs(&targets.row(0).to_vec(), &predictions.row(0).to_vec(), weight)
    }

    fn traits(&self) -> LossTraits {
        let (measure, label) = (Measure::Auc, Some("1 - auc"));
        LossTraits { measure, label, tasks: LossTasks::TwoClasses, ..LossTraits::share() }
    }
}

/// The mean over the classes present of the mean loss over their rows.
fn over_classes(
    loss: &dyn Loss,
    targets: ArrayView2<f64>,
    predictions: ArrayView2<f64>,
    weights: Option<&[f64]>,
) -> f64 {
    let classes = targets.nrows().max(2);
    let (mut losses, mut all) = (vec![0.0; classes], vec![0.0; classes]);
    visit_rows(targets, predictions, weights, |y, p, weight| {
        let class = class_of(y);
        all[class] += weight;
        losses[class] += weight * loss.row_loss(y, p);
    });
    let present = all.iter().filter(|&&a| a > 0.0).count() as f64;
    losses.iter().zip(&all).filter(|(_, a)| **a > 0.0).map(|(l, a)| l / a).sum::<f64>() / present
}

/// One minus the area under the ROC curve: the share of (positive, negative) pairs in the wrong order, ties counted half.
fn wrong_pairs(targets: &[f64], predictions: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let (mut pairs, mut positives_below, mut negatives) = (0.0, 0.0, 0.0);
    let (order, starts) = tie_groups(predictions, 1.0);
    for group in starts.windows(2) {
        let (mut plus, mut minus) = (0.0, 0.0);
        for &row in &order[group[0]..group[1]] {
            if targets[row] > 0.0 { plus += weight(row) } else { minus += weight(row) }
        }
        pairs += minus * (positives_below + 0.5 * plus);
        positives_below += plus;
        negatives += minus;
    }
    pairs / (positives_below * negatives)
}
