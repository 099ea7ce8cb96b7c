//! Losses of predictions, as means over rows; lower is better.

mod classes;
mod concordance;
mod decision;
mod design;
mod numbers;
mod probability;
mod standard_error;

use crate::{Error, Result, Task, registered};
pub use classes::{Auc, BalancedError, BalancedSquared, ZeroOne};
pub use concordance::Concordance;
use ndarray::{ArrayView2, Axis};
pub use numbers::{Absolute, Huber, Pinball, Squared};
pub use probability::LogLoss;
use std::fmt::Debug;
pub use vaglio_columns::Measure;

/// A loss of predictions against targets; its fields are its settings.
///
/// A mean over rows implements [`Loss::of_row`] and nothing else. A loss of all rows together, such as the area under a
/// curve, implements [`Loss::mean`] and declares so in [`Loss::measure`]. Every engine that holds rows out accepts any
/// loss. Bounds and moments are for [`Squared`] alone.
///
/// # Example
/// ```
/// use vaglio_core::{AnyLoss, Loss, part};
///
/// /// Mean of |y − p|³ over rows.
/// #[part(Loss, "cubic")]
/// struct Cubic {}
///
/// impl Loss for Cubic {
///     fn of_row(&self, targets: &[f64], predictions: &[f64]) -> f64 {
///         targets.iter().zip(predictions).map(|(y, p)| (y - p).abs().powi(3)).sum()
///     }
/// }
///
/// let targets = ndarray::array![[1.0, 2.0]];
/// let predictions = ndarray::array![[1.0, 4.0]];
/// assert_eq!(Cubic {}.mean(targets.view(), predictions.view(), None), 4.0);
/// assert_eq!(AnyLoss::from(Cubic {}).name(), "cubic");
/// ```
pub trait Loss: registered::Loss + Debug + Send + Sync {
    /// The loss of one row, from a target and a prediction for each output. Classes are coded ±1; with several classes
    /// each has its own output.
    ///
    /// Never called for losses of all rows together.
    fn of_row(&self, _targets: &[f64], _predictions: &[f64]) -> f64 {
        f64::NAN
    }

    /// The losses of many rows of one output, [`Loss::of_row`] of each. Compiled as a loop of its own for every loss.
    fn of_rows(&self, targets: &[f64], predictions: &[f64], losses: &mut [f64]) {
        let rows = targets.iter().zip(predictions);
        losses.iter_mut().zip(rows).for_each(|(loss, (y, p))| *loss = self.of_row(&[*y], &[*p]));
    }

    /// The structure that engines may use; by default a mean over rows.
    fn measure(&self) -> Measure {
        Measure::Rows
    }

    /// The mean loss of predictions: the definition for tests of every shortcut.
    ///
    /// `targets` and `predictions` are outputs × rows, `weights` one per row (all 1 when absent). A row of weight 2
    /// counts as two equal rows. Cost O(rows · outputs); O(rows · log rows) for [`Auc`].
    fn mean(&self, targets: ArrayView2<f64>, predictions: ArrayView2<f64>, weights: Option<&[f64]>) -> f64 {
        let (sum, total) = each_row(targets, predictions, weights)
            .fold((0.0, 0.0), |(sum, total), (y, p, weight)| (sum + weight * self.of_row(&y, &p), total + weight));
        sum / total
    }

    /// The standard error of [`Loss::mean`] over rows. `None` for fewer than 2 rows, or if the loss is undefined with
    /// rows left out.
    ///
    /// For a mean over rows it is √(Σ r_j (ℓ_j − ℓ̄)² / Σ r_j / rows). For a loss of all rows together it is the
    /// jackknife √((g − 1)/g · Σ_k (θ_k − θ̄)²), where θ_k is the loss without the k-th of g parts of the rows. There
    /// are at most 100 parts by default; losses of this crate leave out single rows. Shapes are as in [`Loss::mean`].
    fn standard_error(
        &self,
        targets: ArrayView2<f64>,
        predictions: ArrayView2<f64>,
        weights: Option<&[f64]>,
    ) -> Option<f64> {
        match self.measure().is_of_rows() {
            true => standard_error::of_rows(|y, p| self.of_row(y, p), targets, predictions, weights),
            false => standard_error::of_parts(|y, p, w| self.mean(y, p, w), targets, predictions, weights),
        }
    }

    /// The degree of homogeneity: the loss grows with this power of a common factor of targets and predictions. `None`
    /// without one.
    fn degree(&self) -> Option<i32> {
        None
    }

    /// Whether the loss is the mean of its values for single outputs.
    fn is_over_outputs(&self) -> bool {
        false
    }

    /// Whether the loss is for classes only.
    fn needs_classes(&self) -> bool {
        false
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path inside this loss.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }

    /// Refuses a task that the loss does not support.
    ///
    /// # Errors
    /// [`Error::Setting`] on the loss itself.
    fn check(&self, task: &Task) -> Result<()> {
        match (self.needs_classes(), task) {
            (true, Task::Regression) => Err(Error::setting(
                "",
                format!(
                    "`{}` is of classes and the task is regression; use `squared` or `absolute`",
                    self.typetag_name()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The range of a mean loss, at which its intervals end. Infinite if unknown.
    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }

    /// The reason why a mean was not a number, if the loss knows one, such as a failed external program. Reported once.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// The reason why a trial takes longer than its arithmetic, if it does; `plan` prints it.
    fn slowness(&self) -> Option<String> {
        None
    }

    /// The name in reports, if it is not the loss's word. [`Auc`], for example, is reported as 1 − AUC.
    fn told(&self) -> &'static str {
        self.typetag_name()
    }
}

/// Iterates over the targets, predictions and weight of each row.
fn each_row(
    targets: ArrayView2<'_, f64>,
    predictions: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
) -> impl Iterator<Item = (Vec<f64>, Vec<f64>, f64)> {
    (0..targets.ncols()).map(move |row| {
        let weight = weights.map_or(1.0, |w| w[row]);
        (targets.index_axis(Axis(1), row).to_vec(), predictions.index_axis(Axis(1), row).to_vec(), weight)
    })
}
