//! Losses of predictions, as means over rows; lower is better.

mod classes;
mod concordance;
mod decision;
mod numbers;
mod probability;
mod standard_error;

use crate::part_setting::{named_part, registered_traits};
use crate::{Error, Result, Task};
pub use classes::{Auc, BalancedError, BalancedSquared, ZeroOne};
pub use concordance::Concordance;
use ndarray::ArrayView2;
pub use numbers::{Absolute, Huber, Pinball, Squared};
pub use probability::LogLoss;
use standard_error::{ScoredRows, visit_rows};
pub use standard_error::{error_over_parts, jackknife_variance};
use std::fmt::Debug;
pub use vaglio_columns::Measure;

/// A loss of predictions against targets; its fields are its settings.
///
/// A mean over rows implements [`Loss::row_loss`] and nothing else. A loss of all rows together, such as the area under
/// a curve, implements [`Loss::mean`] and sets [`LossTraits::measure`]. Every engine that holds rows out accepts any
/// loss. Bounds and moments are for [`Squared`] alone.
///
/// # Example
/// ```
/// use vaglio_core::{Part, Loss, part};
///
/// /// Mean of |y − p|³ over rows.
/// #[part(Loss, "cubic")]
/// struct Cubic {}
///
/// impl Loss for Cubic {
///     fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
///         targets.iter().zip(predictions).map(|(y, p)| (y - p).abs().powi(3)).sum()
///     }
/// }
///
/// let targets = ndarray::array![[1.0, 2.0]];
/// let predictions = ndarray::array![[1.0, 4.0]];
/// assert_eq!(Cubic {}.mean(targets.view(), predictions.view(), None), 4.0);
/// assert_eq!(Part::<dyn Loss>::from(Cubic {}).kind(), "cubic");
/// ```
pub trait Loss: registered::Loss + Debug + Send + Sync {
    /// The loss of one row, from a target and a prediction for each output. Classes are coded ±1; with several classes
    /// each has its own output.
    ///
    /// Never called for losses of all rows together, except for means over classes.
    fn row_loss(&self, _targets: &[f64], _predictions: &[f64]) -> f64 {
        f64::NAN
    }

    /// [`Loss::row_loss`] of many rows of one output. Compiled as a separate loop for every loss.
    fn row_losses(&self, targets: &[f64], predictions: &[f64], losses: &mut [f64]) {
        let rows = targets.iter().zip(predictions);
        losses.iter_mut().zip(rows).for_each(|(loss, (y, p))| *loss = self.row_loss(&[*y], &[*p]));
    }

    /// The mean loss of predictions: the definition for tests of every shortcut.
    ///
    /// `targets` and `predictions` are outputs × rows, `weights` one per row (all 1 when absent). A row of weight 2
    /// counts as two equal rows. Cost O(rows · outputs); O(rows · log rows) for [`Auc`].
    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        visit_rows(targets, predictions, weights, |y, p, weight| {
            sum += weight * self.row_loss(y, p);
            total += weight;
        });
        sum / total
    }

    /// Properties that engines, checks and records use.
    fn traits(&self) -> LossTraits {
        LossTraits::default()
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path inside this loss.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }

    /// The reason why a mean was not a number, if the loss knows one, such as a failed external program. Reported once.
    fn failure(&self) -> Option<Error> {
        None
    }
}

registered_traits! { Loss "loss" }
named_part! { Loss }

/// Properties of a loss.
#[derive(Debug, Clone)]
pub struct LossTraits {
    /// Structure that engines may use; by default a mean over rows.
    pub measure: Measure,
    /// Degree of homogeneity: the loss grows with this power of a common factor of targets and predictions.
    pub degree: Option<i32>,
    /// Whether the loss is the mean of its values for each output alone.
    pub is_over_outputs: bool,
    /// Tasks for which the loss has a meaning.
    pub tasks: LossTasks,
    /// Least and largest possible mean, at which intervals end; infinite if unknown.
    pub range: [f64; 2],
    /// Label in reports if it differs from the name, such as `1 - auc` for [`Auc`].
    pub label: Option<&'static str>,
    /// Why a trial takes longer than its arithmetic, if it does; `plan` says so.
    pub slow_reason: Option<String>,
}

/// Tasks for which a loss has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossTasks {
    /// Every task.
    Any,
    /// Regression only: the loss compares the order of the targets.
    Numbers,
    /// Two or more classes.
    Classes,
    /// Two classes.
    TwoClasses,
}

impl Default for LossTraits {
    fn default() -> Self {
        LossTraits {
            measure: Measure::Rows,
            degree: None,
            is_over_outputs: false,
            tasks: LossTasks::Any,
            range: [f64::NEG_INFINITY, f64::INFINITY],
            label: None,
            slow_reason: None,
        }
    }
}

impl LossTraits {
    /// Traits of a loss that is at least 0.
    pub fn non_negative() -> Self {
        LossTraits { range: [0.0, f64::INFINITY], ..LossTraits::default() }
    }

    /// Traits of a loss between 0 and 1 that a common factor of targets and predictions does not change.
    pub fn share() -> Self {
        LossTraits { range: [0.0, 1.0], degree: Some(0), ..LossTraits::default() }
    }

    /// Whether the loss is defined for classes only.
    pub fn needs_classes(&self) -> bool {
        matches!(self.tasks, LossTasks::Classes | LossTasks::TwoClasses)
    }
}

/// Refuses a number that is not valid for a field.
fn check_number(field: &str, found: f64, is_valid: bool, expected: &str) -> Result<()> {
    if is_valid { Ok(()) } else { Err(Error::setting(field, format!("expected {expected}, found {found}"))) }
}

impl dyn Loss + '_ {
    /// The standard error of [`Loss::mean`] over parts of the rows, such as folds, whose rows share their model. A part
    /// lists its rows with the share of their weight that is left out; without `parts` each row is one. `None` for fewer
    /// than 2 rows, or if the loss is undefined without a part.
    ///
    /// - A mean over single rows: √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows).
    /// - A mean over K parts: √(K/(K−1)·Σ_k (c_k − p_k·Σc)²), for part k's contribution c_k and its share p_k of the weight.
    /// - A loss of all rows together: the jackknife √((K − 1)/K · Σ_k (θ_k − θ̄)²), for the loss θ_k without part k. Without
    ///   `parts`, a loss that has no [`Measure`] of its own leaves out at most 100 interleaved parts.
    ///
    /// For shapes see [`Loss::mean`]. Cost O(rows · outputs), and O(rows · log rows) for [`Auc`]; without a measure, one
    /// mean for each part.
    pub fn standard_error(
        &self,
        targets: ArrayView2<f64>,
        predictions: ArrayView2<f64>,
        weights: Option<&[f64]>,
        parts: Option<&[Vec<(usize, f64)>]>,
    ) -> Option<f64> {
        let rows = ScoredRows { targets: targets.view(), predictions: predictions.view(), weights, parts };
        let row_loss = |y: &[f64], p: &[f64]| self.row_loss(y, p);
        match self.traits().measure {
            Measure::Auc => rows.error_of_pairs(),
            measure if measure.is_of_classes() => rows.error_of_classes(row_loss),
            measure if measure.is_of_rows() => rows.error_of_mean(row_loss),
            _ => rows.error_of_whole(|y, p, w| self.mean(y, p, w)),
        }
    }

    /// The label in reports.
    pub fn label(&self) -> &'static str {
        self.traits().label.unwrap_or(self.kind())
    }

    /// Refuses a task for which the loss has no meaning.
    ///
    /// # Errors
    /// [`Error::Setting`] on the loss itself.
    pub fn check(&self, task: &Task) -> Result<()> {
        let reason = match (self.traits().tasks, task) {
            (LossTasks::Classes | LossTasks::TwoClasses, Task::Regression) => {
                "is of classes and the task is regression; use `squared` or `absolute`"
            }
            (LossTasks::TwoClasses, Task::Multiclass { .. }) => {
                "is for two classes; use `zero_one` or `balanced_error`"
            }
            (LossTasks::Numbers, Task::Binary { .. }) => "is of the order of numbers; of two classes use `auc`",
            (LossTasks::Numbers, Task::Multiclass { .. }) => {
                "is of the order of numbers; of classes use `zero_one` or `balanced_error`"
            }
            _ => return Ok(()),
        };
        Err(Error::setting("", format!("`{}` {reason}", self.kind())))
    }
}
