//! Fixed-size least-squares support vector machines with selection of components, and kernel logistic regression, as
//! learners of [vaglio](vaglio_core).
//!
//! `use vaglio_lssvm as _;` in a program registers `learner: fs_ls_svm` and `learner: kernel_logistic` for pipeline
//! files; [`FsLsSvm`] and [`KernelLogistic`] are the learners.

mod components;
mod entropy;
mod features;
mod kernel;
mod kernel_inputs;
mod kernel_logistic;
mod model;
mod newton;
mod similarity;

pub use components::Scaling;
pub use kernel::{Bandwidth, KernelKind, KernelSettings};
pub use kernel_logistic::KernelLogistic;

use components::ComponentMap;
use std::sync::Arc;
use vaglio_core::{Error, Result, prelude::*};

/// Fixed-size least-squares support vector machine: ridge regression on kernel components, approximated from a few
/// landmark rows ũ_1, …, ũ_N.
///
/// With K̃ = C·D·Cᵀ the kernel matrix of the landmarks, component i of a row u is D_ii^{−½} Σ_j C_ji k(u, ũ_j)
/// (`scaling: gram`), or √N·D_ii⁻¹ times the sum (`entropy`). The search selects among these columns: `component1`,
/// `component2`, … by decreasing D_ii, with D_ii > 10⁻¹² D_11, each with the sign that makes the largest entry of
/// C_{·i} positive. With `scaling: none` the columns are the kernels of the landmarks themselves, k(u, ũ_1), k(u, ũ_2),
/// …, called `landmark1`, `landmark2`, …. A search then selects a reduced set of kernels (with `rbf`, centers), nothing
/// is decomposed, and the model stores the selected landmarks alone. With `gram` the columns' inner products are the
/// kernel. So with every distinct row as a landmark, ridge regression on all columns is kernel ridge regression. With
/// the linear kernel and as many landmarks as the rank it is plain ridge regression.
///
/// Landmarks are selected among the distinct rows from a random start, by swaps that raise their quadratic Rényi
/// entropy −log(1/N² Σ_ij k(ũ_i, ũ_j)). The selection ends when no single swap helps or every row was proposed three
/// times. If there are fewer distinct rows than landmarks, all are taken. The selection depends on the seed and the set
/// of distinct rows: not on weights, repetitions or the order of the rows. Columns should have similar scales:
/// standardize them.
///
/// Cost O(rows · landmarks · inputs) for the selection, O(landmarks³) (not with `none`) and O(rows · landmarks ·
/// (inputs + landmarks)) for the columns; memory 8 · rows · landmarks bytes.
///
/// # Example
/// ```
/// use vaglio_core::Learner;
/// use vaglio_lssvm::FsLsSvm;
/// let problem = vaglio_testkit::data::regression(60, 4, 1).problem();
/// let model = FsLsSvm { landmarks: 20, ..FsLsSvm::default() }.fit(&problem, &[0, 1, 2, 3, 4], None)?;
/// assert_eq!(model.inputs(), [0, 1, 2, 3]);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// J. A. K. Suykens, T. Van Gestel, J. De Brabanter, B. De Moor and J. Vandewalle, *Least squares support vector
/// machines*, World Scientific 2002, chapter 6; selection of components and `scaling: entropy`: P. Buteneers, K.
/// Caluwaerts, J. Dambre, D. Verstraeten and B. Schrauwen, *Optimized parameter search for large datasets of the
/// regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013, section 5.3.
#[part(
    Learner,
    "fs_ls_svm",
    summary = "fixed-size least-squares support vector machine: ridge on components of a kernel, seen on landmark rows",
    example = "learner: {kind: fs_ls_svm, landmarks: 400, kernel: {kind: rbf, bandwidth: median}, scaling: gram, lambda: 1.0}"
)]
#[derive(PartialEq)]
pub struct FsLsSvm {
    /// Number of landmarks N, from 2 to 20000.
    #[default(400)]
    pub landmarks: usize,
    /// The kernel k.
    #[serde(deserialize_with = "kernel::read_kernel")]
    pub kernel: KernelSettings,
    /// Scaling of the components.
    #[default(Scaling::Gram)]
    pub scaling: Scaling,
    /// Seed of the landmarks and of the pairs whose median distance is the bandwidth; by default the pipeline's.
    pub seed: Option<u64>,
    /// Penalty λ, or several of which the criterion takes the best for every subset.
    pub lambda: Lambda,
    /// Whether there is an intercept; it is not penalized.
    #[default(true)]
    pub intercept: bool,
}

/// Maximum number of landmarks: their kernel matrix takes 3.2 GB.
const MOST_LANDMARKS: usize = 20_000;

impl Learner for FsLsSvm {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::with_lambda(&self.lambda, self.intercept).map(Some)
    }

    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        let map = ComponentMap::new(self, problem)?;
        let columns = map.columns(problem.columns())?;
        let names = (1..=columns.len()).map(|k| format!("{}{k}", map.name())).collect();
        Design::from_map(problem, columns, names, readout, Arc::new(map))
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("landmarks", self.landmarks, 2..=MOST_LANDMARKS)?;
        self.kernel.check().map_err(|error| error.under("kernel"))?;
        self.readout().map(|_| ())
    }
}
