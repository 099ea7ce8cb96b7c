//! Estimated memory and work of a search and its final fit.

use super::ValidSelector;
use vaglio_core::{Design, Estimate, Problem, Result, SearchExtent};
use vaglio_kernels::ridge::Ridge;

impl ValidSelector {
    /// Search extent on a design with this many λ, and the criterion's estimate for it.
    ///
    /// # Errors
    /// Returns the errors of [`Search::extent`](vaglio_search::Search::extent).
    pub fn extent_and_estimate(&self, design: &Design, lambdas: usize) -> Result<(SearchExtent, Estimate)> {
        let one = design.lambdas()[0].filter(|_| lambdas > 1);
        let all = design.lambdas();
        let design = design.at_lambda(one).shared_by(&all[..lambdas.min(all.len())]);
        let search_extent = self.search.extent(&design).map_err(|error| error.under("search"))?;
        let effort = self.search.effort(&*self.criterion, &design).map_err(|error| error.under("search"))?;
        let estimate = effort.beside(self.criterion.plan(&design, &search_extent).estimate);
        Ok((search_extent, estimate))
    }
}

/// Memory of the columns of a problem and of the features that the learner makes of them, in bytes.
pub fn data_bytes(problem: &Problem, design: &Design) -> f64 {
    let mapped = if design.has_columns_of(problem) { 0 } else { design.columns().bytes() };
    (problem.columns().bytes() + mapped) as f64
}

/// Memory of the final fit in bytes: at most `largest` selected columns, the targets, and their triangular reduction.
pub fn fit_bytes(design: &Design, largest: usize, outputs: usize) -> f64 {
    let rows = design.planned_rows();
    8.0 * rows as f64 * (largest as f64 + 2.0 * outputs as f64) + Ridge::bytes(rows, largest)
}
