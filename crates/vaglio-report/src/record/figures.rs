//! Figures of predictions on rows that the model had not seen.

use super::LossName;
use crate::infinity;
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use vaglio_core::{AnyLoss, Auc, BalancedError, Loss, Squared, Task, ZeroOne, shown};

/// How a model does on rows; what has no meaning for the task is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Number of rows.
    pub rows: usize,
    /// The criterion's loss; of a criterion without one the squared error, or the error rate of classes.
    #[serde(with = "infinity")]
    pub loss: f64,
    /// The loss without any column.
    #[serde(default, with = "infinity::optional")]
    pub empty_loss: Option<f64>,
    /// Mean squared error over rows and outputs, in the units of the target (±1 for classes).
    #[serde(with = "infinity")]
    pub mse: f64,
    /// 1 − mean squared error / variance of the targets.
    pub r2: Option<f64>,
    /// √(mean squared error / variance of the targets).
    pub nrmse: Option<f64>,
    /// Share of rows given the wrong class.
    pub error_rate: Option<f64>,
    /// Mean over classes of the share of their rows given the wrong class.
    pub balanced_error_rate: Option<f64>,
    /// Area under the ROC curve, for two classes.
    pub auc: Option<f64>,
    /// The standard error of the loss over rows.
    pub standard_error: Option<f64>,
    /// Rows of each class (first index) that were given each class (second), in the order of `data.classes`.
    pub confusion: Option<Vec<Vec<usize>>>,
}

impl Figures {
    /// The figures of predictions, outputs × rows, in the units of `targets`.
    pub fn of(
        task: &Task,
        loss: &dyn Loss,
        targets: ArrayView2<f64>,
        predictions: ArrayView2<f64>,
        weights: Option<&[f64]>,
    ) -> Self {
        let mean = |loss: &dyn Loss| loss.mean(targets, predictions, weights);
        let mse = mean(&Squared);
        let classes = *task != Task::Regression;
        let binary = matches!(task, Task::Binary { .. });
        let finite = |value: f64| value.is_finite().then_some(value);
        let variance = variance(targets, weights);
        Figures {
            rows: targets.ncols(),
            loss: mean(loss),
            empty_loss: None,
            mse,
            r2: finite(1.0 - mse / variance),
            nrmse: finite((mse / variance).sqrt()),
            error_rate: classes.then(|| mean(&ZeroOne)),
            balanced_error_rate: classes.then(|| mean(&BalancedError)),
            auc: if binary { finite(1.0 - mean(&Auc)) } else { None },
            standard_error: loss.standard_error(targets, predictions, weights),
            confusion: classes.then(|| confusion(targets, predictions)),
        }
    }
}

impl Figures {
    /// The figures in a few words: the loss first, then the mean squared error and the error rate.
    pub fn told(&self, loss: Option<&LossName>) -> String {
        let mut told = Vec::new();
        if let Some(loss) = loss.filter(|loss| !loss.is(&Squared) && !loss.is(&ZeroOne)) {
            told.push(format!("{} {:.6}", loss.told(), self.loss));
        }
        told.push(format!("mean squared error {:.6}", self.mse));
        told.extend(self.error_rate.map(|rate| format!("error rate {rate:.4}")));
        told.join(", ")
    }
}

impl Figures {
    /// The figures as a short table: the loss first, and the confusion matrix with its classes.
    pub fn table(&self, loss: &LossName, classes: &[String]) -> String {
        let error = self.standard_error.map(|error| format!(" ± {error:.6}")).unwrap_or_default();
        let mut lines = vec![("rows", self.rows.to_string()), (loss.title(), format!("{:.6}{error}", self.loss))];
        let is_numbers = self.confusion.is_none();
        let others = [
            (AnyLoss::from(Squared).title(), Some(self.mse)),
            ("R²", self.r2.filter(|_| is_numbers)),
            ("NRMSE", self.nrmse.filter(|_| is_numbers)),
            (AnyLoss::from(ZeroOne).title(), self.error_rate),
            (AnyLoss::from(BalancedError).title(), self.balanced_error_rate),
            ("AUC", self.auc),
        ];
        for (name, value) in others.iter().filter(|(name, _)| *name != loss.title()) {
            lines.extend(value.map(|value| (*name, format!("{value:.6}"))));
        }
        let mut text: String = lines.iter().map(|(name, value)| format!("{name:<20}{value}\n")).collect();
        let Some(confusion) = &self.confusion else { return text };
        let name = |class: usize| classes.get(class).map_or_else(|| class.to_string(), |name| shown(name).into_owned());
        let names: Vec<String> = (0..confusion.len()).map(name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
        text += "observed in rows, predicted in columns\n";
        text += &format!("{:<width$}", "");
        names.iter().for_each(|name| text += &format!("  {name:>width$}"));
        text += "\n";
        for (name, counts) in names.iter().zip(confusion) {
            text += &format!("{name:<width$}");
            counts.iter().for_each(|count| text += &format!("  {count:>width$}"));
            text += "\n";
        }
        text
    }
}

/// The class of a row of targets or predictions.
pub fn class_of(outputs: ndarray::ArrayView1<f64>) -> usize {
    match outputs.len() {
        1 => usize::from(outputs[0] > 0.0),
        _ => largest(&outputs.to_vec()),
    }
}

/// The position of the largest prediction, the first among equals.
pub fn largest(predictions: &[f64]) -> usize {
    let better = |best: usize, k: usize| if predictions[k] > predictions[best] { k } else { best };
    (0..predictions.len()).fold(0, better)
}

fn confusion(targets: ArrayView2<f64>, predictions: ArrayView2<f64>) -> Vec<Vec<usize>> {
    let classes = if targets.nrows() == 1 { 2 } else { targets.nrows() };
    let mut counts = vec![vec![0; classes]; classes];
    for (target, prediction) in targets.columns().into_iter().zip(predictions.columns()) {
        counts[class_of(target)][class_of(prediction)] += 1;
    }
    counts
}

/// Variance of the targets about the mean of each output, over rows and outputs.
fn variance(targets: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    let total: f64 = (0..targets.ncols()).map(weight).sum();
    let of_output = |y: ndarray::ArrayView1<f64>| {
        let mean = y.iter().enumerate().map(|(j, y)| weight(j) * y).sum::<f64>() / total;
        y.iter().enumerate().map(|(j, y)| weight(j) * (y - mean) * (y - mean)).sum::<f64>() / total
    };
    targets.rows().into_iter().map(of_output).sum::<f64>() / targets.nrows() as f64
}
