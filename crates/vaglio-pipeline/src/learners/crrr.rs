//! Class-reweighted ridge regression.

use vaglio_core::{Error, Lambda, Learner, Problem, Readout, Result, Task, part};

/// Class-reweighted ridge regression: all classes have equal weight, however few rows they have.
///
/// Minimizes Σ_j (r_j/n_c(j)) (y_j − wᵀx_j − b)² + λ‖w‖², where n_c is the total weight of the training rows of class
/// c, computed anew for every fold. The default loss is `balanced_error`. For classes only; more than two are fitted
/// one against the rest, all with these weights.
///
/// # Reference
/// K.-A. Toh, *Deterministic neural classification*, Neural Computation 20(6), 2008; P. Buteneers, K. Caluwaerts,
/// J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter search for large datasets of the regularization
/// parameter and feature selection for ridge regression*, Neural Processing Letters 2013, section 4.
#[part(
    Learner,
    "crrr",
    summary = "class-reweighted ridge regression: every class counts alike, however few rows it has",
    example = "learner: {kind: crrr, lambda: 1.0, intercept: true}"
)]
#[derive(PartialEq)]
pub struct Crrr {
    /// The penalty λ, or several values; the criterion then chooses the best for every subset. The row weights of a
    /// class sum to 1, so λ has another order of magnitude than for `rls`.
    pub lambda: Lambda,
    /// Whether to fit an intercept, which is not penalized.
    #[default(true)]
    pub intercept: bool,
}

impl Crrr {
    /// A learner with one λ or several.
    pub fn new(lambda: impl Into<Lambda>) -> Self {
        Crrr { lambda: lambda.into(), ..Crrr::default() }
    }
}

impl Learner for Crrr {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(Some(Readout::with_lambda(&self.lambda, self.intercept)?.balanced()))
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        match problem.task() {
            Task::Regression => {
                Err(Error::setting("kind", "`crrr` weighs classes, and the task is regression; use `rls`"))
            }
            _ => Ok(()),
        }
    }
}
