//! What a search and its final fit take, as far as that is known before.

use super::ValidSelector;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Estimate, Outline, Problem, Result};
use vaglio_kernels::ridge::Ridge;

impl ValidSelector {
    /// The search on a design at one of so many λ, outlined, with what its criterion estimates.
    ///
    /// # Errors
    /// Those of the search's outline.
    #[doc(hidden)]
    pub fn outlined(&self, design: &Design, lambdas: usize) -> Result<(Outline, Estimate)> {
        let one = design.lambdas()[0].filter(|_| lambdas > 1);
        let all = design.lambdas();
        let design = design.at_lambda(one).shared_by(&all[..lambdas.min(all.len())]);
        let outline = self.search.outline(&design).map_err(|error| error.under("search"))?;
        let effort = self.search.effort(&*self.criterion, &design).map_err(|error| error.under("search"))?;
        let estimate = effort.beside(self.criterion.estimate(&design, &outline));
        Ok((outline, estimate))
    }
}

/// Bytes of the columns of a problem, and of those that a learner's map makes of them.
pub fn data_bytes(problem: &Problem, design: &Design) -> f64 {
    let mapped = if design.is_of(problem) { 0 } else { design.columns().bytes() };
    (problem.columns().bytes() + mapped) as f64
}

/// Bytes of the chosen columns, at most `largest`, and of the targets, while the final fit reduces them to a triangle, or to one of
/// the rows where these are few.
pub fn fit_bytes(design: &Design, largest: usize, outputs: usize) -> f64 {
    let rows = design.planned_rows();
    8.0 * rows as f64 * (largest as f64 + 2.0 * outputs as f64) + Ridge::bytes(rows, largest)
}
