//! Settings of the criterion.

use crate::target::Output;
use vaglio_core::{part, setting};

/// Dependence between the target and all columns of a subset jointly, by one kernel on the subset.
///
/// With columns standardized, K_jk = exp(−‖x_j − x_k‖²/2σ²) over the columns of the subset S, L the kernel matrix of
/// the target and H = I − 11ᵀ/m, the score is −tr(KHLH)/m². Lower is better; 0, the score of the empty subset, is
/// independence. σ² is `bandwidth`²·|S|, since distances grow with the number of columns, or `bandwidth`² without
/// `adapt`.
///
/// `unbiased` is the paper's unbiased estimate: with K̃ and L̃ of diagonal 0, −(tr(K̃L̃) + 1ᵀK̃1·1ᵀL̃1/((m−1)(m−2)) −
/// 2·1ᵀK̃L̃1/(m−2))/(m(m−3)).
///
/// With `greedy` it is FOHSIC, with `backward` BAHSIC, removing columns one at a time. Every column that is less
/// informative than the best lowers the dependence, so subsets of different sizes do not compare: set the number of
/// columns, with `choose: last`. Unlike `nhsic`, which sums one kernel per column, it detects columns that matter only
/// jointly, but not that one repeats another.
///
/// Numeric targets are standardized and have a Gaussian kernel of width `bandwidth`, several as one vector; classes
/// have a kernel that is 0 between them. A row of weight 2 equals two such rows; `unbiased` divides weights by their
/// mean, so that m is the number of rows. Constant columns are ignored. The learner and λ are not used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::Hsic;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// assert!(Hsic::default().evaluate(&design, &[0, 1])?.loss < 0.0);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// L. Song, A. Smola, A. Gretton, J. Bedo and K. Borgwardt, *Feature selection via dependence maximization*, Journal of
/// Machine Learning Research 13, 2012.
#[part(
    Criterion,
    "hsic",
    summary = "dependence of any form between target and subset, by one kernel on all of its columns: FOHSIC, BAHSIC",
    example = "criterion: {kind: hsic, kernel: {bandwidth: 1.0}}",
    title = "HSIC"
)]
#[derive(Copy, PartialEq)]
pub struct Hsic {
    /// Kernels of subset and target.
    pub kernel: HsicKernel,
    /// Estimator of the dependence.
    pub estimator: Estimator,
}

/// Kernels of subset and target.
#[setting]
#[derive(Copy, PartialEq)]
pub struct HsicKernel {
    /// Kernel of the target.
    pub output: Output,
    /// σ of the Gaussian kernels, in standard deviations of a column.
    #[default(1.0)]
    pub bandwidth: f64,
    /// Whether σ grows with the square root of the number of columns.
    #[default(true)]
    pub adapt: bool,
}

/// Estimator of the dependence from the rows.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Estimator {
    /// tr(KHLH)/m², which is never negative.
    #[default]
    Biased,
    /// Unbiased estimate, with mean 0 under independence; needs more than 3 rows.
    Unbiased,
}

impl HsicKernel {
    /// Factor −1/(2σ²) of squared distances, for a subset with this many non-constant columns.
    pub(crate) fn scale(&self, columns: usize) -> f64 {
        let columns = if self.adapt { columns.max(1) } else { 1 };
        -0.5 / (self.bandwidth * self.bandwidth * columns as f64)
    }
}
