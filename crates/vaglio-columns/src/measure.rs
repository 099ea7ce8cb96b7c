//! Losses that numerical engines know by name.

/// Form of a loss over held-out rows: losses that engines compute directly, and two general forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Squared error over rows and outputs.
    Squared,
    /// Absolute error over rows and outputs.
    Absolute,
    /// Misclassification rate: rows whose own class does not have the largest prediction; a tie of t classes counts 1 −
    /// 1/t.
    ZeroOne,
    /// Misclassification rate per class, averaged over classes.
    BalancedError,
    /// Squared error over rows and outputs per class, averaged over classes.
    BalancedSquared,
    /// 1 − area under the ROC curve of one output, ties counted half.
    Auc,
    /// A mean over rows of a loss of each row.
    Rows,
    /// A loss of all rows together.
    Whole,
}

impl Measure {
    /// Whether the loss is a mean over rows.
    pub fn is_of_rows(self) -> bool {
        !matches!(self, Measure::BalancedError | Measure::BalancedSquared | Measure::Auc | Measure::Whole)
    }

    /// Whether the loss is a mean over classes of means over their rows.
    pub fn is_of_classes(self) -> bool {
        matches!(self, Measure::BalancedError | Measure::BalancedSquared)
    }

    /// Whether the loss is a weighted sum of squared errors.
    pub fn is_of_squares(self) -> bool {
        matches!(self, Measure::Squared | Measure::BalancedSquared)
    }
}

/// Difference below which predictions of classes, coded ±1, are equal up to rounding.
pub const TIED_PREDICTION: f64 = 1e-12;
/// Relative difference below which losses are equal up to rounding.
pub const LOSS_ROUNDING: f64 = 1e-12;

/// Classes that tie for the largest prediction of a row, to rounding, for targets of ±`unit`.
///
/// A single output is the prediction of the second of two classes; the first has prediction 0.
pub fn tied_classes(outputs: usize, prediction: impl Fn(usize) -> f64, unit: f64) -> impl Iterator<Item = usize> {
    let (classes, first) = if outputs == 1 { (2, 1) } else { (outputs, 0) };
    let value = move |class: usize| if class < first { 0.0 } else { prediction(class - first) };
    let level = (0..classes).map(&value).fold(f64::NEG_INFINITY, f64::max) - TIED_PREDICTION * unit;
    (0..classes).filter(move |&class| value(class) >= level)
}

/// Expected error of guessing among `tied` classes: 1 − 1/t if `class` is one of these t, else 1.
pub fn error_of_guess(class: usize, tied: impl Iterator<Item = usize>) -> f64 {
    let (count, has_own) = tied.fold((0.0, false), |(count, has), tied| (count + 1.0, has || tied == class));
    if has_own { 1.0 - 1.0 / count } else { 1.0 }
}
