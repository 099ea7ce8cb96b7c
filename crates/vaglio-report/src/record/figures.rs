//! Figures of predictions on rows that the model was not trained on.

use super::{LossName, interval_text};
use crate::names::clause;
use crate::page::finite;
use crate::{LEVEL, has_width};
use ndarray::{ArrayView1, ArrayView2, s};
use vaglio_core::{
    Auc, BalancedError, ClassOrder, Loss, Part, Squared, ZeroOne, escape_controls, is_tie, record, row_weights, short,
};

/// Figures of predictions; those without a meaning for the task are absent.
#[record]
pub struct Figures {
    /// Number of rows.
    pub rows: usize,
    /// Mean of the criterion's loss; for a criterion without one, of the squared error, or the error rate of classes.
    pub loss: f64,
    /// Loss without features.
    pub empty_loss: Option<f64>,
    /// Mean squared error over rows and outputs, in the units of the target (±1 for classes).
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
    /// Brier score of class probabilities, if any; on held-out rows, by maps fitted on the other folds.
    #[optional]
    pub brier: Option<f64>,
    /// Standard error of the loss.
    pub standard_error: Option<f64>,
    /// Standard error of the error rate.
    #[optional]
    pub error_rate_error: Option<f64>,
    /// Confusion matrix: number of rows per observed (first index) and predicted class, in the order of `data.classes`.
    pub confusion: Option<Vec<Vec<usize>>>,
    /// Number of rows with ties for the largest prediction. The error rates count a guess, `confusion` the label.
    #[optional]
    pub ties: usize,
    /// Baseline of always predicting the most frequent class of these rows.
    #[optional]
    pub always: Option<ConstantAnswerError>,
    /// Figures of each output, for regression with several outputs.
    #[optional]
    pub by_output: Vec<OutputFigures>,
}

/// Figures of one of several outputs.
#[record]
pub struct OutputFigures {
    /// Name.
    pub name: String,
    /// Mean squared error, in the units of the target.
    pub mse: f64,
    /// 1 − mean squared error / variance of the target.
    pub r2: Option<f64>,
}

/// Error rate of predicting one class for every row.
#[record]
#[derive(Copy)]
pub struct ConstantAnswerError {
    /// Position of the class in `data.classes`.
    pub class: usize,
    /// Share of rows of other classes.
    pub error_rate: f64,
}

impl Figures {
    /// Computes the figures of predictions and targets, both outputs × rows in the same units, without standard errors.
    ///
    /// `classes` holds the order that decides ties, for classification; `None` means regression.
    pub fn new(
        classes: Option<&ClassOrder>,
        loss: &dyn Loss,
        targets: ArrayView2<f64>,
        predictions: ArrayView2<f64>,
        weights: Option<&[f64]>,
    ) -> Self {
        let mean = |loss: &dyn Loss| loss.mean(targets, predictions, weights);
        let mse = mean(&Squared);
        let class_mean = |loss: &dyn Loss| classes.map(|_| mean(loss));
        let variance = variance(targets, weights);
        Figures {
            rows: targets.ncols(),
            loss: mean(loss),
            empty_loss: None,
            mse,
            r2: finite(1.0 - mse / variance),
            nrmse: finite((mse / variance).sqrt()),
            error_rate: class_mean(&ZeroOne),
            balanced_error_rate: class_mean(&BalancedError),
            auc: classes.filter(|_| targets.nrows() == 1).and_then(|_| finite(1.0 - mean(&Auc))),
            brier: None,
            standard_error: None,
            error_rate_error: None,
            confusion: classes.map(|order| confusion(order, targets, predictions)),
            ties: classes.map_or(0, |_| predictions.columns().into_iter().filter(|row| is_tie(row.view())).count()),
            always: classes.and_then(|_| always(targets, weights)),
            by_output: classes.map_or_else(|| by_output(targets, predictions, weights), |_| Vec::new()),
        }
    }

    /// Sets the names of outputs.
    #[must_use]
    pub fn with_output_names(mut self, names: &[String]) -> Self {
        self.by_output.iter_mut().zip(names).for_each(|(output, name)| output.name.clone_from(name));
        self
    }

    /// Baseline of always predicting the most frequent class; from row counts in records of earlier versions.
    pub fn always(&self) -> Option<ConstantAnswerError> {
        let rows = |confusion: &Vec<Vec<usize>>| confusion.iter().map(|row| row.iter().sum::<usize>() as f64).collect();
        self.always.or_else(|| most_frequent(self.confusion.as_ref().map(rows)?))
    }

    /// Formats a short table: the loss first, then other figures and the confusion matrix.
    pub fn table(&self, loss: &LossName, classes: &[String]) -> String {
        let line = |name: &str, value: String| format!("{name:<19} {value}\n");
        let error = self.standard_error.filter(|error| has_width(self.loss, *error));
        let interval = error.map(|error| interval_text((loss.interval(self.loss, error), LEVEL)));
        let mut text = line("rows", self.rows.to_string());
        text += &line(loss.title(), short(self.loss) + &clause(", {}", interval));
        let is_numbers = self.confusion.is_none();
        let others = [
            (Part::<dyn Loss>::from(Squared).title(), Some(self.mse)),
            ("RMSE", Some(self.mse.sqrt()).filter(|_| is_numbers)),
            ("R²", self.r2.filter(|_| is_numbers)),
            ("NRMSE", self.nrmse.filter(|_| is_numbers)),
            (Part::<dyn Loss>::from(ZeroOne).title(), self.error_rate),
            (Part::<dyn Loss>::from(BalancedError).title(), self.balanced_error_rate),
            ("AUC", self.auc),
            ("Brier score", self.brier),
        ];
        for (name, value) in others.into_iter().filter(|(name, _)| *name != loss.title()) {
            text.extend(value.map(|value| line(name, short(value))));
        }
        for OutputFigures { name, mse, r2 } in &self.by_output {
            let r2 = clause(", R² {}", r2.map(short));
            text += &line(&format!("squared of {}", escape_controls(name)), format!("{}{r2}", short(*mse)));
        }
        let Some(confusion) = &self.confusion else { return text };
        if self.ties > 0 {
            text += &line("ties", format!("{} rows: the error rates count a guess, the matrix the label", self.ties));
        }
        let name = |class: usize| {
            classes.get(class).map_or_else(|| class.to_string(), |name| escape_controls(name).into_owned())
        };
        if let Some(ConstantAnswerError { class, error_rate }) = self.always() {
            text += &line(&format!("always {}", name(class)), short(error_rate));
        }
        let names: Vec<String> = (0..confusion.len()).map(name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
        let row = |head: &str, cells: Vec<String>| {
            format!("{head:<width$}{}\n", cells.iter().map(|cell| format!("  {cell:>width$}")).collect::<String>())
        };
        text += "observed in rows, predicted in columns\n";
        text += &row("", names.clone());
        for (name, counts) in names.iter().zip(confusion) {
            text += &row(name, counts.iter().map(usize::to_string).collect());
        }
        text
    }
}

/// Class of a row of targets, as its position.
pub fn class_of(targets: ArrayView1<f64>) -> usize {
    ClassOrder::default().class_of(targets)
}

/// Position of the largest prediction, the first of ties.
pub fn largest(predictions: &[f64]) -> usize {
    let better = |best: usize, k: usize| if predictions[k] > predictions[best] { k } else { best };
    (0..predictions.len()).fold(0, better)
}

fn confusion(order: &ClassOrder, targets: ArrayView2<f64>, predictions: ArrayView2<f64>) -> Vec<Vec<usize>> {
    let classes = targets.nrows().max(2);
    let mut counts = vec![vec![0; classes]; classes];
    for (target, prediction) in targets.columns().into_iter().zip(predictions.columns()) {
        counts[class_of(target)][order.class_of(prediction)] += 1;
    }
    counts
}

fn by_output(targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> Vec<OutputFigures> {
    let figures = |output: usize| {
        let (target, prediction) = (targets.slice(s![output..=output, ..]), predictions.slice(s![output..=output, ..]));
        let mse = Squared.mean(target, prediction, weights);
        OutputFigures { name: String::new(), mse, r2: finite(1.0 - mse / variance(target, weights)) }
    };
    if targets.nrows() < 2 { Vec::new() } else { (0..targets.nrows()).map(figures).collect() }
}

fn always(targets: ArrayView2<f64>, weights: Option<&[f64]>) -> Option<ConstantAnswerError> {
    let mut weight_by_class = vec![0.0; targets.nrows().max(2)];
    for (row, target) in targets.columns().into_iter().enumerate() {
        weight_by_class[class_of(target)] += row_weights(weights)(row);
    }
    most_frequent(weight_by_class)
}

/// Baseline of the class with the largest total weight, the first of ties.
fn most_frequent(weight_by_class: Vec<f64>) -> Option<ConstantAnswerError> {
    let (all, class) = (weight_by_class.iter().sum::<f64>(), largest(&weight_by_class));
    (all > 0.0).then(|| ConstantAnswerError { class, error_rate: 1.0 - weight_by_class[class] / all })
}

/// Variance of the targets about the mean of each output, over rows and outputs.
pub fn variance(targets: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
    let weight = row_weights(weights);
    let total: f64 = (0..targets.ncols()).map(weight).sum();
    let output_variance = |y: ndarray::ArrayView1<f64>| {
        let mean = y.iter().enumerate().map(|(j, y)| weight(j) * y).sum::<f64>() / total;
        y.iter().enumerate().map(|(j, y)| weight(j) * (y - mean) * (y - mean)).sum::<f64>() / total
    };
    targets.rows().into_iter().map(output_variance).sum::<f64>() / targets.nrows() as f64
}
