//! Regularized least squares.

use vaglio_core::{Lambda, Learner, Readout, Result, part};

/// Regularized least squares, also called ridge regression.
///
/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² for every output, with b free (or 0 without `intercept`). Two classes
/// are coded as ±1; more are fitted one against the rest. The final fit costs O(rows · features²) and uses Householder
/// reflections, so that small λ and dependent columns do not lose accuracy to cancellation.
#[part(
    Learner,
    "rls",
    summary = "regularized least squares (ridge regression), with or without an unpenalized intercept",
    example = "learner: {kind: rls, lambda: 1.0, intercept: true}"
)]
#[derive(PartialEq)]
pub struct Rls {
    /// The penalty λ, or several values; the criterion then chooses the best for every subset.
    pub lambda: Lambda,
    /// Whether to fit an intercept, which is not penalized.
    #[default(true)]
    pub intercept: bool,
}

impl Rls {
    /// A learner with one λ or several: `Rls::new(0.1)`, `Rls::new(Lambda::grid(1e-3, 1e3, 13))`.
    pub fn new(lambda: impl Into<Lambda>) -> Self {
        Rls { lambda: lambda.into(), ..Rls::default() }
    }
}

impl Learner for Rls {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::with_lambda(&self.lambda, self.intercept).map(Some)
    }
}
