//! Settings of the criterion, and the kernels that they stand for.

use crate::kernel_matrix::{LEAST_BANDWIDTH, Landmarks, LevelGrid, ThinFactor};
use crate::target::{Output, Target, TargetMatrix};
use std::sync::Arc;
use vaglio_core::{Design, Error, Result, part, setting};

/// Squared distance of the target's kernel matrix from non-negative combinations of the columns' kernel matrices.
///
/// min over α ≥ 0 of ‖L̃ − Σ_k α_k K̃_k‖²_F, where K̃_k = HKH/‖HKH‖_F is the centered and normalized kernel matrix of
/// column k and L̃ that of the target. It is low if the target depends on the columns in any form, and the columns are
/// not redundant. The empty subset scores ‖L̃‖² = 1. Nothing is trained: the learner and λ are not used.
///
/// Columns, and numeric targets, are standardized and have the kernel exp(−(u − u')²/2σ²); several targets are one
/// vector. Classes have a kernel that is 0 between them. A row of weight 2 equals two such rows. Constant columns are
/// ignored.
///
/// # Reference
/// M. Yamada, A. Saha, H. Ouyang, D. Yin, Y. Chang, *N³LARS: minimum redundancy maximum relevance feature selection for
/// large and high-dimensional data*, arXiv:1411.2331.
#[part(
    Criterion,
    "nhsic",
    summary = "dependence of any form between columns and target, by kernels, without redundancy among the columns",
    example = "criterion: {kind: nhsic, kernel: {approximation: auto}}",
    title = "NHSIC"
)]
#[derive(PartialEq)]
// Both spellings of `normalize`.
#[schemars(transform = |schema: &mut vaglio_core::schemars::Schema| {
    if let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut())
        && let Some(normalize) = properties.get("normalize").cloned()
    {
        properties.insert("normalise".into(), normalize);
    }
})]
pub struct Nhsic {
    /// Kernels of columns and target.
    pub kernel: Kernel,
    /// Whether kernel matrices are scaled to norm 1; otherwise they are HKH divided by the number of rows (HSIC Lasso).
    #[serde(alias = "normalise")]
    #[default(true)]
    pub normalize: bool,
}

/// Kernels of columns and target.
#[setting]
#[derive(PartialEq)]
pub struct Kernel {
    /// Computation of the columns' kernel matrices.
    pub approximation: Approximation,
    /// Computation of the target's kernel matrix.
    pub output_approximation: OutputApproximation,
    /// Kernel of the target.
    pub output: Output,
    /// σ of the Gaussian kernels, in standard deviations.
    #[default(1.0)]
    pub bandwidth: f64,
    /// Points of the Nyström approximation, from −5 to 5 standard deviations; 1000 at most.
    #[default(20)]
    pub points: usize,
}

/// Computation of kernel matrices.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Approximation {
    /// `exact` for at most `points`² rows, else `levels`, or `nystrom` if the bandwidth is below 0.5.
    #[default]
    Auto,
    /// Exact to rounding, by pivoted Cholesky decomposition.
    Exact,
    /// Nyström approximation from the kernel between rows and a few points; error about 1e-5 if entries lie within
    /// them.
    Nystrom,
    /// Up to 256 levels per column, one or two bytes per entry: exact for columns with no more values, else with an
    /// error below 1e-3 at a bandwidth of at least 0.5. `binned` is also accepted.
    #[serde(alias = "binned")]
    Levels,
}

/// Computation of the target's kernel matrix.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum OutputApproximation {
    /// Exact to rounding, by pivoted Cholesky decomposition; for classes by one column per class.
    #[default]
    Exact,
    /// Nyström approximation from the kernel between rows and `points` points, for one numeric target.
    Nystrom,
}

impl Nhsic {
    /// Points at which kernels are sampled.
    ///
    /// # Errors
    /// [`Error::Numerical`] if their kernel matrix cannot be decomposed.
    pub(super) fn landmarks(&self) -> Result<Landmarks> {
        let made = Landmarks::new(self.kernel.points, self.kernel.bandwidth);
        made.map_err(|failure| Error::Numerical(format!("the points' kernel matrix: {failure}")))
    }

    pub(super) fn target(&self, design: &Design) -> Target {
        Target::new(self.kernel.output, self.kernel.bandwidth, design).by_appearance()
    }

    /// Columns of F of the target's kernel matrix F·Fᵀ, with the Nyström approximation.
    ///
    /// # Errors
    /// Returns the errors of [`Nhsic::landmarks`].
    pub(super) fn target_features(&self, target: &Target) -> Result<Option<Vec<Vec<f64>>>> {
        match target {
            Target::Numbers(targets, _)
                if self.kernel.output_approximation == OutputApproximation::Nystrom && !targets.is_empty() =>
            {
                Ok(Some(self.landmarks()?.features(&targets[0])))
            }
            _ => Ok(None),
        }
    }

    /// Centered kernel matrix of the target.
    ///
    /// # Errors
    /// Returns the errors of [`Nhsic::landmarks`].
    pub(super) fn matrix<'t>(&self, target: &'t Target, shares: &[f64]) -> Result<TargetMatrix<'t>> {
        Ok(match self.target_features(target)? {
            Some(features) => TargetMatrix::Thin(ThinFactor::from_features(shares, features)),
            None => target.matrix(shares),
        })
    }

    /// Approximation for this many rows, with `auto` resolved.
    pub(super) fn approximation(&self, rows: usize) -> Approximation {
        match self.kernel.approximation {
            Approximation::Auto if rows <= self.kernel.points.saturating_mul(self.kernel.points) => {
                Approximation::Exact
            }
            Approximation::Auto if self.kernel.bandwidth >= LEAST_BANDWIDTH => Approximation::Levels,
            Approximation::Auto => Approximation::Nystrom,
            given => given,
        }
    }

    /// Sample points for the columns, with the Nyström approximation.
    ///
    /// # Errors
    /// Returns the errors of [`Nhsic::landmarks`].
    pub(super) fn columns_landmarks(&self, rows: usize) -> Result<Option<Landmarks>> {
        (self.approximation(rows) == Approximation::Nystrom).then(|| self.landmarks()).transpose()
    }

    /// Levels of the columns, if they are quantized.
    pub(super) fn levels(&self, rows: usize) -> Option<Arc<LevelGrid>> {
        (self.approximation(rows) == Approximation::Levels).then(|| LevelGrid::common(self.kernel.bandwidth))
    }

    /// Name of the approximation in `selection.json`.
    pub(super) fn word(&self, rows: usize) -> &'static str {
        match self.approximation(rows) {
            Approximation::Nystrom => "nystrom",
            Approximation::Levels => "levels",
            Approximation::Exact | Approximation::Auto => "exact",
        }
    }
}
