//! G² of columns in bins.

use super::tail::ln_tail;
use super::{Given, Test};
use crate::bins::{Binned, Binning, Bins};
use vaglio_core::{Design, Feature};
use vaglio_kernels::parallel;

/// Rows a cell, below which a test with conditions is not made.
const ROWS_OF_CELL: f64 = 5.0;

/// Columns and outputs in bins.
pub(super) struct Likelihood {
    rows: Binning,
    columns: Vec<Binned>,
    targets: Vec<Binned>,
}

impl Likelihood {
    /// Cost O(m) a column.
    pub fn new(bins: Bins, design: &Design, columns: &[Feature]) -> Self {
        let rows = Binning::new(bins, design);
        let columns = parallel::map_slice(columns, |&feature| rows.column(design, feature));
        Likelihood { targets: rows.targets(design), columns, rows }
    }

    /// ln p of a column, least over the outputs, given some others; none where cells have few rows. Cost O(m) and that of the
    /// cells.
    fn ln_p(&self, x: usize, given: &[usize]) -> Option<f64> {
        let given: Vec<&Binned> = given.iter().map(|&z| &self.columns[z]).collect();
        let of_target = |target: &Binned| {
            let (g_squared, freedom) = self.rows.g_squared(
                &self.columns[x],
                target,
                &given,
                if given.is_empty() { 0.0 } else { ROWS_OF_CELL },
            )?;
            Some(ln_tail(g_squared, freedom))
        };
        let found: Option<Vec<f64>> = self.targets.iter().map(of_target).collect();
        let least = found?.into_iter().fold(0.0, f64::min);
        Some((least + (self.targets.len() as f64).ln()).min(0.0))
    }
}

impl Test for Likelihood {
    fn alone(&self, x: usize) -> f64 {
        self.ln_p(x, &[]).unwrap_or(0.0)
    }

    fn given<'t>(&'t self, x: usize, others: &'t [usize]) -> Box<Given<'t>> {
        Box::new(move |set| self.ln_p(x, &set.iter().map(|&z| others[z]).collect::<Vec<usize>>()))
    }
}
