//! Prediction intervals of rows.

use ndarray::Array2;
use vaglio_core::{Result, Table};
use vaglio_maps::quantile;
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

    /// Median width of the intervals of each output.
    pub fn median_widths(&self) -> Vec<f64> {
        let width = |output: usize| {
            let ends = self.upper.row(output).into_iter().zip(self.lower.row(output));
            let mut widths: Vec<(f64, f64)> = ends.map(|(upper, lower)| (1.0, upper - lower)).collect();
            widths.sort_by(|a, b| a.1.total_cmp(&b.1));
            quantile(&widths, 0.5).unwrap_or(0.0)
        };
        (0..self.lower.nrows()).map(width).collect()
    }

    /// Share of rows whose target lies in its interval, for each output; rows with weight 0 are ignored.
    pub fn coverage(&self, targets: &Array2<f64>, counts: Option<&[f64]>) -> Vec<f64> {
        let rows: Vec<usize> = (0..targets.ncols()).filter(|&j| counts.is_none_or(|counts| counts[j] > 0.0)).collect();
        let holds = |o: usize, j: usize| (self.lower[[o, j]]..=self.upper[[o, j]]).contains(&targets[[o, j]]);
        let share = |o: usize| rows.iter().filter(|&&j| holds(o, j)).count() as f64 / rows.len() as f64;
        (0..targets.nrows()).map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_medians_and_coverage_counts_rows() {
        let bounds = IntervalEnds {
            level: 0.5,
            lower: ndarray::array![[0.0, 0.0, 0.0, 5.0]],
            upper: ndarray::array![[1.0, 2.0, 4.0, 15.0]],
        };
        assert_eq!(bounds.median_widths(), [3.0]);
        let targets = ndarray::array![[1.0, 3.0, 3.0, 3.0]];
        assert_eq!(bounds.coverage(&targets, None), [0.5]);
        assert_eq!(bounds.coverage(&targets, Some(&[1.0, 0.0, 2.0, 0.0])), [1.0]);
    }
}
