//! Regularized least squares.

use serde::{Deserialize, Serialize};
use vaglio_core::{Form, Lambda, Learner, LinearForm, Readout, Result};

/// Regularized least squares, also called ridge regression.
///
/// Minimizes Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² for every output, with b free (or 0 without `intercept`). Classes are
/// regressed on ±1, several classes one against the others. Cost of the final fit O(rows · features²), by
/// reflections, so that small λ and dependent columns lose nothing to cancellation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rls {
    /// The penalty λ, or several of which the criterion takes the best for every subset.
    pub lambda: Lambda,
    /// Whether there is an intercept; it is not penalized.
    pub intercept: bool,
}

impl Default for Rls {
    fn default() -> Self {
        Rls { lambda: Lambda::default(), intercept: true }
    }
}

vaglio_core::setters!(Rls { lambda: Lambda, intercept: bool });

vaglio_core::describe!(
    Learner,
    Rls,
    "rls",
    "regularized least squares (ridge regression), with or without an unpenalized intercept",
    "learner: {kind: rls, lambda: 1.0, intercept: true}"
);

impl LinearForm for Rls {
    fn readout(&self) -> Result<Readout> {
        Readout::of(&self.lambda, self.intercept)
    }
}

#[typetag::serde(name = "rls")]
impl Learner for Rls {
    fn form(&self) -> Form<'_> {
        Form::Linear(self)
    }
}
