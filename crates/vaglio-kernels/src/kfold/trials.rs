//! What one-column changes of a subset would give.

/// Losses of the changes of a subset by one column, for each λ.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// The columns that would be added or removed.
    pub features: Vec<usize>,
    /// Sums of squared errors over folds and outputs: λ × features.
    pub losses: Vec<Vec<f64>>,
    /// Of each, for [`crate::is_unreliable`]: λ × features.
    pub low: Vec<Vec<f64>>,
}
