//! G² test of binned columns.

use super::tail::ln_tail;
use crate::bins::{Binned, BinnedData};

/// Minimum rows per cell of a test with conditions.
const ROWS_OF_CELL: f64 = 5.0;

impl BinnedData {
    /// ln p of a column given some others, least over the outputs; `None` if cells have few rows. Cost O(m) plus the
    /// number of cells.
    pub(super) fn ln_p(&self, x: usize, given: &[usize]) -> Option<f64> {
        let given: Vec<&Binned> = given.iter().map(|&z| &self.columns[z]).collect();
        let target_statistic = |target: &Binned| {
            let (g_squared, freedom) =
                self.g_squared(&self.columns[x], target, &given, if given.is_empty() { 0.0 } else { ROWS_OF_CELL })?;
            Some(ln_tail(g_squared, freedom))
        };
        let found: Option<Vec<f64>> = self.targets.iter().map(target_statistic).collect();
        let least = found?.into_iter().fold(0.0, f64::min);
        Some((least + (self.targets.len() as f64).ln()).min(0.0))
    }
}
