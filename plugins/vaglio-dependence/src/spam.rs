//! Sparse additive models.

mod basis;
mod path;

use crate::column_weights::ColumnWeighting;
use basis::basis_functions;
use path::Additive;
use vaglio_core::{Design, Error, Estimate, Feature, Result, SearchExtent, part, standardize_outputs};
use vaglio_kernels::parallel;

/// Sparse additive models: weights columns by the penalty at which their function enters an additive model of the
/// target.
///
/// min over functions f_i of ½‖y − Σ f_i(x_i)‖² + λ Σ ‖f_i‖ with norms over the rows and y standardized. Each f_i is a
/// cubic spline with `knots` inner knots at quantiles of its column. Back-fitting solves it: each function is the
/// least-squares fit to the partial residuals, shortened by λ, or 0 if it is not longer than λ. A ridge term of a
/// hundredth of ½Σ ‖f_i‖² makes nearly equal columns share a fit. λ falls from the value at which no function enters,
/// in `penalties` equal ratios, to `least` times that. The path ends earlier if 99 % of the target's squares are
/// fitted.
///
/// The weight of a column is the λ at which its function enters, divided by the largest λ: 1 enters first, 0 does not
/// enter. It is interpolated linearly between two penalties. The score of a subset is minus the sum of its weights.
/// Lower is better; the empty subset scores 0. `search: {kind: rank, max_features: 10, choose: best}` selects columns
/// in order of entry.
///
/// With several outputs, including the ±1 codings of classes, a column has one function per output, and the norm is
/// over all of them. Equal columns share one weight. A row of weight 2 equals two such rows. Constant columns have
/// weight 0. The learner and its λ are not used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::Spam;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// assert!(Spam::default().evaluate(&design, &[0, 1, 2, 3, 4])?.loss <= -1.0);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// P. Ravikumar, J. Lafferty, H. Liu and L. Wasserman, *Sparse additive models*, Journal of the Royal Statistical
/// Society B 71, 2009, with regression splines as smoothers.
#[part(
    Criterion,
    "spam",
    summary = "the penalty at which a smooth function of a column enters an additive model of the target; with `search: rank`",
    example = "criterion: {kind: spam, knots: 3}\nsearch: {kind: rank, max_features: 10, choose: best}",
    title = "SpAM"
)]
#[derive(Copy, PartialEq)]
pub struct Spam {
    /// Number of inner knots of the splines, from 0 to 20.
    #[default(3)]
    pub knots: usize,
    /// Number of penalties on the path.
    #[default(50)]
    pub penalties: usize,
    /// Last penalty as a share of the first, above 0 and below 1.
    #[default(0.01)]
    pub least: f64,
}

impl ColumnWeighting for Spam {
    /// Computes the weights. Cost O(nm·(knots + 3)) per round of back-fitting, memory likewise.
    fn weights(&self, design: &Design, columns: &[Feature]) -> Result<Vec<f64>> {
        let bases = parallel::map_slice(columns, |&x| {
            basis_functions(&design.column(x).values(), design.weights(), self.knots)
        });
        let outputs = standardize_outputs(design).into_iter().filter(|y| !y.is_empty()).collect();
        Additive::new(bases, outputs).entries(self.penalties, self.least, design)
    }

    fn check_weighting(&self, _: &Design) -> Result<()> {
        Error::unless_between("knots", self.knots, 0..=20)?;
        Error::unless_between("penalties", self.penalties, 1..=10_000)?;
        Error::unless_share("least", self.least)
    }

    /// Plans about four rounds per penalty.
    fn estimate(&self, design: &Design, extent: &SearchExtent, columns: f64) -> Estimate {
        let rows = design.planned_rows() as f64;
        let entries = rows * columns * (self.knots + 3) as f64;
        Estimate {
            engine: "backfitting",
            reason: "one path of penalties gives every score".into(),
            flops: 8.0 * entries * self.penalties as f64 * design.targets().nrows() as f64 + extent.trials,
            bytes: 8.0 * entries,
        }
    }
}
