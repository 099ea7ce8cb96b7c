//! Figures of predictions on test rows.

use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use vaglio_core::{Loss, Task};

/// How a model does on test rows; what has no meaning for the task is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestFigures {
    /// Number of test rows.
    pub rows: usize,
    /// Mean squared error over rows and outputs, in the units of the target (±1 for classes).
    #[serde(with = "crate::infinity")]
    pub mse: f64,
    /// √(mean squared error / variance of the test targets).
    pub nrmse: Option<f64>,
    /// Share of rows given the wrong class.
    pub error_rate: Option<f64>,
    /// Mean over classes of the share of their rows given the wrong class.
    pub balanced_error_rate: Option<f64>,
    /// Area under the ROC curve, for two classes.
    pub auc: Option<f64>,
}

impl TestFigures {
    /// The figures of predictions, outputs × rows, in the units of `targets`.
    pub fn of(task: &Task, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> Self {
        let mean = |loss: Loss| loss.mean(targets, predictions, weights);
        let mse = mean(Loss::Squared);
        let classes = *task != Task::Regression;
        let binary = matches!(task, Task::Binary { .. });
        let finite = |value: f64| value.is_finite().then_some(value);
        TestFigures {
            rows: targets.ncols(),
            mse,
            nrmse: finite((mse / variance(targets, weights)).sqrt()),
            error_rate: classes.then(|| mean(Loss::ZeroOne)),
            balanced_error_rate: classes.then(|| mean(Loss::BalancedError)),
            auc: if binary { finite(1.0 - mean(Loss::Auc)) } else { None },
        }
    }
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
