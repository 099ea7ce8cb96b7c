//! Losses that the numerics and the traits both know by name.

/// What is averaged over rows held out: the losses that engines have a method of their own for, and how others come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Squared error over rows and outputs.
    Squared,
    /// Absolute error over rows and outputs.
    Absolute,
    /// Rows whose own class has not the largest prediction; a tie of t classes counts 1 − 1/t.
    ZeroOne,
    /// The same per class, averaged over classes.
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
    /// Whether it is a mean over rows.
    pub fn is_of_rows(self) -> bool {
        !matches!(self, Measure::BalancedError | Measure::BalancedSquared | Measure::Auc | Measure::Whole)
    }

    /// Whether it is the mean over classes of a mean over the rows of each.
    pub fn is_of_classes(self) -> bool {
        matches!(self, Measure::BalancedError | Measure::BalancedSquared)
    }

    /// Whether it is a sum of squared errors, each times what its row counts.
    pub fn is_of_squares(self) -> bool {
        matches!(self, Measure::Squared | Measure::BalancedSquared)
    }
}

/// Predictions of classes, coded ±1, that are closer than this are equal but for rounding.
pub const TIED_PREDICTION: f64 = 1e-12;
/// Rounding of a loss, as a part of it: losses that are closer are equal.
pub const LOSS_ROUNDING: f64 = 1e-12;

/// Classes that tie for the largest prediction of a row, whose targets are ±`unit`.
///
/// A single output is the prediction of the second of two classes, and that of the first is 0.
pub fn tied_classes(outputs: usize, prediction: impl Fn(usize) -> f64, unit: f64) -> impl Iterator<Item = usize> {
    let (classes, first) = if outputs == 1 { (2, 1) } else { (outputs, 0) };
    let of = move |class: usize| if class < first { 0.0 } else { prediction(class - first) };
    let level = (0..classes).map(&of).fold(f64::NEG_INFINITY, f64::max) - TIED_PREDICTION * unit;
    (0..classes).filter(move |&class| of(class) >= level)
}

/// Expected error of guessing among `tied` classes: 1 − 1/t if `class` is one of these t, else 1.
pub fn error_of_guess(class: usize, tied: impl Iterator<Item = usize>) -> f64 {
    let (count, has_own) = tied.fold((0.0, false), |(count, has), tied| (count + 1.0, has || tied == class));
    if has_own { 1.0 - 1.0 / count } else { 1.0 }
}
