//! Losses of predictions, as means over rows; lower is better.

mod spread;

use crate::{Error, Result, Task};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// A loss of predictions against targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Mean of (y − p)² over rows and outputs.
    #[default]
    Squared,
    /// Share of rows on the wrong side: y·p ≤ 0; with several classes, the own class is not the only largest.
    ZeroOne,
    /// Mean over the classes of the share of their rows that `zero_one` counts.
    BalancedError,
    /// Mean of |y − p| over rows and outputs.
    Absolute,
    /// 1 − area under the ROC curve, for two classes.
    Auc,
}

impl Loss {
    /// The losses and one line on each, in the order in which they are listed.
    pub const ALL: [(Loss, &'static str, &'static str); 5] = [
        (Loss::Squared, "squared", "mean squared error over rows and outputs"),
        (Loss::ZeroOne, "zero_one", "share of rows on the wrong side (several classes: not the largest output)"),
        (Loss::BalancedError, "balanced_error", "mean over classes of each class's share of errors"),
        (Loss::Absolute, "absolute", "mean absolute error over rows and outputs"),
        (Loss::Auc, "auc", "1 - area under the ROC curve (two classes)"),
    ];

    /// Its identifier in pipeline files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(loss, ..)| *loss == self).map_or("", |(_, name, _)| name)
    }

    /// What it is called beside figures: AUC is a figure, and its loss `1 - auc`.
    pub fn told(self) -> &'static str {
        if self == Loss::Auc { "1 - auc" } else { self.name() }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Loss::Squared => "squared error",
            Loss::ZeroOne => "error rate",
            Loss::BalancedError => "balanced error rate",
            Loss::Absolute => "absolute error",
            Loss::Auc => "1 − AUC",
        }
    }

    /// Whether the loss counts errors of classes.
    pub fn needs_classes(self) -> bool {
        matches!(self, Loss::ZeroOne | Loss::BalancedError | Loss::Auc)
    }

    /// Refuses a loss that has no meaning for the task.
    ///
    /// # Errors
    /// [`Error::Setting`] on `loss`.
    pub fn check(self, task: &Task) -> Result<()> {
        if self.needs_classes() && matches!(task, Task::Regression) {
            return Err(Error::setting(
                "loss",
                format!(
                    "`{}` counts errors of classes and the task is regression; use `squared` or `absolute`",
                    self.name()
                ),
            ));
        }
        if self == Loss::Auc && !matches!(task, Task::Binary { .. }) {
            return Err(Error::setting("loss", "`auc` is for two classes; use `zero_one` or `balanced_error`"));
        }
        Ok(())
    }

    /// The mean loss of predictions: the definition that every shortcut is tested against.
    ///
    /// `targets` and `predictions` are outputs × rows, `weights` one per row (all 1 when absent). Classes are coded ±1;
    /// with several classes each has its own output. Cost O(rows · outputs), `auc` O(rows · log rows).
    pub fn mean(self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let (outputs, rows) = targets.dim();
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let total: f64 = (0..rows).map(weight).sum();
        match self {
            Loss::Squared | Loss::Absolute => {
                let mut sum = 0.0;
                for row in 0..rows {
                    for output in 0..outputs {
                        let error = targets[[output, row]] - predictions[[output, row]];
                        sum += weight(row) * if self == Loss::Squared { error * error } else { error.abs() };
                    }
                }
                sum / (total * outputs as f64)
            }
            Loss::ZeroOne => {
                let wrong = |row: &usize| is_wrong(targets.column(*row), predictions.column(*row));
                // The sum of nothing is −0.
                (0..rows).filter(wrong).map(weight).fold(0.0, |sum, w| sum + w) / total
            }
            Loss::BalancedError => {
                let classes = if outputs == 1 { 2 } else { outputs };
                let (mut wrong, mut all) = (vec![0.0; classes], vec![0.0; classes]);
                for row in 0..rows {
                    let class = class_of(targets.column(row));
                    all[class] += weight(row);
                    if is_wrong(targets.column(row), predictions.column(row)) {
                        wrong[class] += weight(row);
                    }
                }
                let present = all.iter().filter(|&&a| a > 0.0).count() as f64;
                wrong.iter().zip(&all).filter(|(_, a)| **a > 0.0).map(|(w, a)| w / a).sum::<f64>() / present
            }
            Loss::Auc => wrong_pairs(&targets.row(0).to_vec(), &predictions.row(0).to_vec(), weight),
        }
    }
}

/// The class of a row's targets: with one output 1 for the positive class and 0 for the other.
fn class_of(targets: ndarray::ArrayView1<f64>) -> usize {
    if targets.len() == 1 { usize::from(targets[0] > 0.0) } else { targets.iter().position(|&y| y > 0.0).unwrap_or(0) }
}

/// Predictions of classes, coded ±1, that are closer than this are equal but for rounding.
const TIE: f64 = 1e-12;

/// Whether a row is on the wrong side; a tie is wrong.
fn is_wrong(targets: ndarray::ArrayView1<f64>, predictions: ndarray::ArrayView1<f64>) -> bool {
    if targets.len() == 1 {
        return targets[0] * predictions[0] <= TIE;
    }
    let own = class_of(targets);
    (0..predictions.len()).any(|k| k != own && predictions[k] >= predictions[own] - TIE)
}

/// Area under the ROC curve: the share of (positive, negative) pairs in the right order, ties counted half.
fn wrong_pairs(targets: &[f64], predictions: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let (mut pairs, mut positives_below, mut negatives) = (0.0, 0.0, 0.0);
    let (order, starts) = tied(predictions);
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

/// The rows from the lowest prediction to the highest, and where those that tie begin and end.
fn tied(predictions: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..predictions.len()).collect();
    order.sort_by(|&a, &b| predictions[a].total_cmp(&predictions[b]));
    let mut starts = vec![0];
    let mut rest = &order[..];
    while let Some(&first) = rest.first() {
        let tie = rest.iter().take_while(|&&row| predictions[row] <= predictions[first] + TIE).count().max(1);
        rest = &rest[tie..];
        starts.push(order.len() - rest.len());
    }
    (order, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn auc_is_the_same_for_targets_in_any_layout() {
        let every_second = array![[1.0, 9.0, -1.0, 9.0, 1.0]];
        let targets = every_second.slice(ndarray::s![.., ..;2]);
        let predictions = array![[0.9, 0.5, 0.1]];
        assert_eq!(Loss::Auc.mean(targets, predictions.view(), None), 0.5);
    }
}
