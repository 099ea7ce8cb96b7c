//! Prediction intervals of rows.

use ndarray::Array2;
use vaglio_core::{Result, Table, row_weights};
use vaglio_maps::{in_order, quantile};
use vaglio_pipeline::pipeline::SavedIntervals;

/// Prediction intervals of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalEnds {
    /// Coverage: the share of new rows within their intervals.
    pub level: f64,
    /// Lower ends, outputs × rows.
    pub lower: Array2<f64>,
    /// Upper ends, outputs × rows.
    pub upper: Array2<f64>,
}

impl IntervalEnds {
    /// Intervals for the rows of a table.
    ///
    /// # Errors
    /// Returns the errors of [`SavedIntervals::bounds`].
    pub fn new(intervals: &SavedIntervals, table: &Table, outputs: usize) -> Result<Self> {
        let [lower, upper] = intervals.bounds(table, outputs)?;
        Ok(IntervalEnds { level: intervals.level, lower, upper })
    }

    /// For each output, weighted share of rows whose target lies in its interval, and weighted median width.
    pub fn coverage_and_width(&self, targets: &Array2<f64>, weights: Option<&[f64]>) -> Vec<[f64; 2]> {
        let weight = row_weights(weights);
        let rows = 0..targets.ncols();
        let total: f64 = rows.clone().map(weight).sum();
        let figures = |o: usize| {
            let holds = |&j: &usize| (self.lower[[o, j]]..=self.upper[[o, j]]).contains(&targets[[o, j]]);
            let held: f64 = rows.clone().filter(holds).map(weight).sum();
            let widths: Vec<f64> = rows.clone().map(|j| self.upper[[o, j]] - self.lower[[o, j]]).collect();
            [held / total, quantile(&in_order(&widths, weights), 0.5).unwrap_or(0.0)]
        };
        (0..targets.nrows()).map(figures).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_medians_and_coverage_is_a_share_by_weight() {
        let bounds = IntervalEnds {
            level: 0.5,
            lower: ndarray::array![[0.0, 0.0, 0.0, 5.0]],
            upper: ndarray::array![[1.0, 2.0, 4.0, 15.0]],
        };
        let targets = ndarray::array![[1.0, 3.0, 3.0, 3.0]];
        assert_eq!(bounds.coverage_and_width(&targets, None), [[0.5, 3.0]]);
        assert_eq!(bounds.coverage_and_width(&targets, Some(&[1.0, 0.0, 2.0, 0.0])), [[1.0, 4.0]]);
        assert_eq!(bounds.coverage_and_width(&targets, Some(&[1.0, 3.0, 0.0, 0.0])), [[0.25, 2.0]]);
    }
}
