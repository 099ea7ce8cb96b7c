//! Memory check of a fit, before its search.

use crate::pipeline::ValidPipeline;
use crate::selector::path_lambdas;
use crate::selector::{data_bytes, fit_bytes};
use vaglio_core::{Design, Problem, Result};
use vaglio_tables::budget::{Budget, shown};

impl ValidPipeline {
    /// Refuses a fit whose estimated memory exceeds the limit, if there is one. The estimate covers the columns, the
    /// search with its criterion's engine, and the final fit.
    ///
    /// # Errors
    /// [`vaglio_core::Error::Setting`] on `limits.memory`; errors of the search's size estimate.
    pub(super) fn check_memory(&self, problem: &Problem, design: &Design) -> Result<()> {
        let Some(memory) = self.limits.memory else { return Ok(()) };
        let budget = Budget::new(memory.0);
        let compared = self.compared_searches().into_iter().map(|(_, compared)| compared);
        for selector in std::iter::once(self.selector()).chain(compared) {
            let lambdas = path_lambdas(design, selector.cross_validation().is_some()).len();
            let (extent, estimate) = selector.extent_and_estimate(design, lambdas)?;
            let (data, fit) = (data_bytes(problem, design), fit_bytes(design, extent.largest));
            let search = if estimate.is_known() { estimate.bytes.max(0.0) } else { 0.0 };
            let [for_data, for_search, for_fit] = [data, search, fit].map(shown);
            let what = format!(
                "this fit ({for_data} for the data, {for_search} for the search and {for_fit} for the final fit)"
            );
            let remedy = "take fewer columns or rows, set search.max_features, or raise the limit";
            budget.in_all(data + search + fit, what, remedy)?;
        }
        Ok(())
    }
}
