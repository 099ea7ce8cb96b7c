//! Losses that the numerics and the traits both know by name.

/// What is averaged over rows held out: the losses that engines have a method of their own for, and how others come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Squared error over rows and outputs.
    Squared,
    /// Absolute error over rows and outputs.
    Absolute,
    /// Rows on the wrong side; with several outputs, those whose own class is not the only largest.
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

/// Predictions of classes, coded ±1, that are closer than this are equal but for rounding, and a tie is wrong.
pub const TIED_PREDICTION: f64 = 1e-12;
