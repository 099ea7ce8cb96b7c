//! Hilbert–Schmidt independence of the whole subset: FOHSIC and BAHSIC.

mod definition;
mod evaluator;
mod settings;
pub(crate) mod weights;

use crate::target::{check, check_bandwidth};
use evaluator::Distances;
pub use settings::{Estimator, Hsic, HsicKernel};
use vaglio_core::{Error, Result, prelude::*};

/// Maximum number of rows; beyond, the matrices of pairs of rows, 12m² bytes (4.8 GB), are refused.
const MOST_ROWS: usize = 20_000;

impl Criterion for Hsic {
    fn traits(&self) -> CriterionTraits {
        CriterionTraits { counts_rows: self.estimator == Estimator::Unbiased, ..CriterionTraits::default() }
    }

    /// Scores a subset by m × m kernel matrices. Cost O(|S|·m²), memory O(m²).
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        definition::evaluate(self, design, subset)
    }

    fn check(&self, design: &Design) -> Result<()> {
        check_bandwidth(self.kernel.bandwidth)?;
        check(self.kernel.output, design)?;
        let rows = design.rows();
        if rows > MOST_ROWS {
            let message = format!(
                "one kernel on the whole subset is kept for all pairs of rows, which is done for at most {MOST_ROWS} rows, and \
                 there are {rows}; use `nhsic`, or fewer rows"
            );
            return Err(Error::setting("kind", message));
        }
        if self.estimator == Estimator::Unbiased && rows <= 3 {
            return Err(Error::setting(
                "estimator",
                format!("`unbiased` needs more than 3 rows, and there are {rows}"),
            ));
        }
        Ok(())
    }

    /// Plans one pass over all pairs of rows per trial.
    fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
        let rows = design.planned_rows() as f64;
        let pairs = rows * (rows + 8.0) / 2.0;
        let steps = extent.steps.max(extent.largest - extent.start) as f64;
        let estimate = Estimate {
            engine: "distances",
            reason: "distances of all pairs of rows are kept, one pass over them a trial".into(),
            // About forty operations per exponential.
            flops: 45.0 * pairs * (extent.trials + steps) + 3.0 * pairs * extent.largest as f64 * steps,
            bytes: 24.0 * pairs + 8.0 * rows * design.features() as f64,
        };
        Plan::by_engine(estimate, move || Ok(Distances::new(*self, design)))
    }
}
