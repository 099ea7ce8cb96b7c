//! What one-column changes of a subset would give.

/// Losses of the changes of a subset by one column, for each λ.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// The columns that would be added or removed.
    pub features: Vec<usize>,
    /// Sums of squared errors over folds and outputs: λ × features.
    pub losses: Vec<Vec<f64>>,
    /// What is left of the digits, for [`is_weak`]: λ × features.
    pub low: Vec<Vec<f64>>,
}

/// The least share of a Schur diagonal that keeps ten digits of a loss.
const WEAK: f64 = 1e-5;

/// Whether a Schur diagonal is so small a share of what it is a difference from, or not a number, that the moments have
/// lost the digits of a loss; [`super::careful`] has another way for such subsets.
pub fn is_weak(low: f64) -> bool {
    low.is_nan() || low < WEAK
}
