//! Normalized Hilbert–Schmidt independence.

mod definition;
mod evaluator;
pub(crate) mod kernels;
mod relations;
mod settings;

use crate::kernel_matrix::LEAST_BANDWIDTH;
use crate::target::{check, check_bandwidth, thin};
use evaluator::NhsicEvaluator;
use relations::RelationsGeometry;
pub use settings::{Approximation, Kernel, Nhsic, OutputApproximation};
use std::sync::Arc;
use vaglio_core::{EngineEvaluator, Error, Result, number, prelude::*};
use vaglio_kernels::tolerance::OUTWEIGHED;

/// Largest number of points, whose kernel matrix is decomposed in seconds.
const MOST_POINTS: usize = 1000;

/// Row that has nearly all the weight.
fn outweighing(weights: &[f64]) -> Option<usize> {
    let row = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
    let others: f64 = (0..weights.len()).filter(|other| *other != row).map(|other| weights[other] / weights[row]).sum();
    (others < OUTWEIGHED).then_some(row)
}

/// Cost of an entry of a kernel matrix, in flops, without the distance.
const KERNEL: f64 = 20.0;

impl Nhsic {
    /// Flops and bytes of the target's kernel given `ranks` columns of factors, and a note for the plan.
    fn target_cost(&self, design: &Design, ranks: f64) -> (f64, f64, &'static str) {
        let (rows, outputs) = (design.planned_rows(), design.targets().nrows());
        let rank = (RANK_OF_ONE / self.kernel.bandwidth.min(1.0)).powi(outputs as i32).min(rows as f64);
        if !self.kernel.output.is_gaussian(design) || rank <= thin(rows) as f64 {
            return (0.0, 0.0, "");
        }
        let (rows, most) = (rows as f64, thin(rows) as f64);
        let whole = rows * rows * (3.0 * outputs as f64 + KERNEL + 2.0 * ranks);
        (
            whole + 2.0 * rows * most * most,
            8.0 * rows * most,
            "; that of the target has full rank and is taken whole, a few rows at a time, so that time grows with the square of the rows",
        )
    }
}

/// Approximate rank of the kernel of one standardized variable with σ = 1.
const RANK_OF_ONE: f64 = 26.0;

impl Criterion for Nhsic {
    /// Scores a subset by definition: centered m × m matrices, and non-negative least squares on their inner products.
    /// Cost O(|S|²·m²), memory O(|S|·m²).
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        definition::evaluate(self, design, subset)
    }

    fn traits(&self) -> CriterionTraits {
        CriterionTraits { is_of_subset_alone: true, ..CriterionTraits::default() }
    }

    fn check_settings(&self) -> Result<()> {
        check_bandwidth(self.kernel.bandwidth)?;
        if self.kernel.approximation == Approximation::Levels && self.kernel.bandwidth < LEAST_BANDWIDTH {
            let message = format!(
                "{} is below {LEAST_BANDWIDTH}, and the kernel bends too much between the 256 levels of a column; use `exact`",
                number(self.kernel.bandwidth)
            );
            return Err(Error::setting("kernel.bandwidth", message));
        }
        Error::unless_between("kernel.points", self.kernel.points, 2..=MOST_POINTS)
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.check_settings()?;
        if design.rows() < 2 {
            return Err(Error::setting("kind", "independence cannot be measured on one row; give more rows"));
        }
        if let Some(row) = design.weights().and_then(outweighing) {
            return Err(Error::Numerical(format!(
                "row {} has next to all the weight, and beside it no dependence of the others can be measured; give weights that are nearer to each other",
                row + 1
            )));
        }
        let is_sampled = self.kernel.output_approximation == OutputApproximation::Nystrom;
        if is_sampled && !(self.kernel.output.is_gaussian(design) && design.targets().nrows() == 1) {
            let message = "the points of `nystrom` lie along one numeric target; use `exact`, which for classes takes a \
                           column for each";
            return Err(Error::setting("kernel.output_approximation", message));
        }
        check(self.kernel.output, design)
    }

    /// Plans one factor per column, then one pass over all factors per added column.
    fn plan<'d>(&'d self, design: &'d Design, extent: &SearchExtent) -> Plan<'d> {
        let SearchExtent { largest, trials, .. } = *extent;
        let (rows, features) = (design.planned_rows() as f64, design.features() as f64);
        // About 26 for one standardized variable and σ = 1.
        let rank = (8.0 + 18.0 / self.kernel.bandwidth).min(rows);
        let (rank, pair, entry, reason) = match self.approximation(design.planned_rows()) {
            Approximation::Nystrom => {
                let points = (self.kernel.points as f64).min(rows);
                let reason = "kernel matrices are sampled at `kernel.points` points, as there are many rows or as set";
                (points, 2.0 * rows * points * points, 8.0 * points, reason)
            }
            Approximation::Levels => {
                let reason =
                    "columns are kept as levels, at most two bytes an entry, and additions give their products";
                // An addition to memory takes about as long as two flops, and there are two per entry; then the factor
                // of 256 levels.
                (rank, 8.0 * rows * rank + 512.0 * rank * rank, 2.0, reason)
            }
            Approximation::Exact | Approximation::Auto => {
                let reason = "kernel matrices are kept as thin factors that are exact to rounding";
                (rank, 2.0 * rows * rank * rank, 8.0 * rank, reason)
            }
        };
        let pass = features * pair;
        let size = largest as f64;
        let (target, bytes, target_note) = self.target_cost(design, features * rank);
        // One pass for the factors, one for the relevance and one per added column.
        let estimate = Estimate {
            engine: "gram",
            reason: format!("{}: {reason}{target_note}", self.word(design.planned_rows())),
            flops: target + pass * (2.0 + size) + trials * size * size * size.max(1.0),
            bytes: bytes + features * (entry * rows + 8.0 * size),
        };
        let geometry = RelationsGeometry::new(self, design);
        let relations = geometry.clone();
        let mut plan = Plan::by_engine(estimate, move || {
            Ok(EngineEvaluator {
                bound: Some("all_columns"),
                approximation: Some(self.word(design.rows())),
                ..NhsicEvaluator::new(Arc::clone(relations.relations()?)).into()
            })
        });
        plan.is_in_parts = true;
        plan.with_geometry(geometry)
    }
}
