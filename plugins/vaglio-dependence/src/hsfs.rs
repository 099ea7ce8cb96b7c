//! Hilbert–Schmidt feature selection: column weights that maximize the dependence of one weighted kernel on the target.

mod ascent;

use crate::column_weights::ColumnWeighting;
use crate::hsic::{Estimator, Hsic, HsicKernel};
use ascent::Ascent;
use vaglio_core::{Error, Result, max_abs, prelude::*};

/// Column weights that maximize the dependence between the target and one kernel on all weighted columns.
///
/// max over w ≥ 0 with Σ w = 1 of tr(KHLH)/m², K_jk = exp(−Σᵢ wᵢ(x_ij − x_ik)²/2σ²) with standardized columns, L the
/// kernel matrix of the target and σ = `bandwidth`. [`Hsic`] scores a subset S with fixed weights 1/|S| on S and 0
/// elsewhere; here weights are free. The score of a subset is −Σ wᵢ over it. Lower is better; the empty subset scores
/// 0.
///
/// With wᵢ = uᵢ²/Σ u², u is unconstrained. L-BFGS starts from equal weights and stops when the gradient in u is 10⁻⁸ of
/// the largest slope at the start, or after `steps` steps. The function is not concave, so the result is a local
/// maximum. Weights below a thousandth of the largest are set to 0, so that `search: {kind: rank, choose: best}`
/// selects the others. Equal columns share one weight.
///
/// Targets are treated as in `hsic`. A row of weight 2 equals two such rows. Constant columns have weight 0. The
/// learner and λ are not used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::Hsfs;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// let all = Hsfs::default().evaluate(&design, &[0, 1, 2, 3, 4])?.loss;
/// assert!((all + 1.0).abs() < 1e-12);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// M. Masaeli, G. Fung and J. G. Dy, *From transformation-based dimensionality reduction to feature selection*,
/// Proceedings of the 27th International Conference on Machine Learning, 2010; its penalty on weights is the constraint
/// Σ w = 1 here. The ascent is that of J. Nocedal, *Updating quasi-Newton matrices with limited storage*, Mathematics
/// of Computation 35, 1980.
#[part(
    Criterion,
    "hsfs",
    summary = "weights of all columns under which one kernel on them depends on the target most; with `search: rank`",
    example = "criterion: {kind: hsfs, kernel: {bandwidth: 1.0}}\nsearch: {kind: rank, choose: best}",
    title = "HSFS"
)]
#[derive(Copy, PartialEq)]
pub struct Hsfs {
    /// Kernels of columns and target; σ is `bandwidth`, and `adapt` must be true.
    pub kernel: HsicKernel,
    /// Maximum number of steps of the ascent.
    #[default(200)]
    pub steps: u64,
}

/// Share of the largest weight below which a weight is set to 0.
const LIGHT: f64 = 1e-3;

impl Hsfs {
    /// Criterion of subsets that the weights relax.
    fn subset_hsic(&self) -> Hsic {
        Hsic { kernel: self.kernel, estimator: Estimator::Biased }
    }
}

impl ColumnWeighting for Hsfs {
    /// Computes the weights. Cost O(nm²) per step, memory O(nm + m²).
    fn weights(&self, design: &Design, columns: &[Feature]) -> Result<Vec<f64>> {
        let mut weights = Ascent::new(&self.subset_hsic(), design, columns).maximum(self.steps)?;
        let least = LIGHT * max_abs(&weights);
        weights.iter_mut().filter(|w| **w < least).for_each(|w| *w = 0.0);
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        Ok(weights)
    }

    fn check_weighting(&self, design: &Design) -> Result<()> {
        if self.steps == 0 {
            return Err(Error::setting("steps", "0 steps leave all weights equal; 1 is the least"));
        }
        if !self.kernel.adapt {
            let message = "weights of sum 1 adapt the width to the number of columns; leave it out";
            return Err(Error::setting("kernel.adapt", message));
        }
        self.subset_hsic().check(design)
    }

    /// Plans two passes over all pairs of rows per column and step.
    fn estimate(&self, design: &Design, extent: &SearchExtent, columns: f64) -> Estimate {
        let rows = design.planned_rows() as f64;
        let pairs = rows * (rows + 8.0) / 2.0;
        Estimate {
            engine: "ascent",
            reason: "one ascent on the weights of all columns gives every score".into(),
            // Most ascents end earlier.
            flops: 0.25 * self.steps as f64 * pairs * (7.0 * columns + 45.0) + extent.trials,
            bytes: 24.0 * pairs + 8.0 * rows * columns,
        }
    }
}
