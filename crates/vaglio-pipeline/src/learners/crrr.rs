//! Class-reweighted ridge regression.

use vaglio_core::{Error, Form, Lambda, Learner, LinearForm, Problem, Readout, Result, Task, part};

/// Class-reweighted ridge regression: every class counts alike, however few rows it has.
///
/// Minimizes Σ_j (r_j/n_c(j)) (y_j − wᵀx_j − b)² + λ‖w‖², where n_c is the weight of the rows of class c. It is counted
/// in the rows that are trained on, anew for every fold. Its natural loss is `balanced_error`. Classes alone; several
/// are regressed one against the others, with these weights for all.
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
    /// The penalty λ, or several of which the criterion takes the best for every subset. The weights of the rows of a
    /// class add up to 1, so λ is of another order than that of `rls`.
    pub lambda: Lambda,
    /// Whether there is an intercept; it is not penalized.
    #[default(true)]
    pub intercept: bool,
}

vaglio_core::setters!(Crrr { intercept: bool; lambda: Lambda; });

impl Crrr {
    /// With this λ, or one of several.
    pub fn new(lambda: impl Into<Lambda>) -> Self {
        Crrr { lambda: lambda.into(), ..Crrr::default() }
    }
}

impl LinearForm for Crrr {
    fn readout(&self) -> Result<Readout> {
        Ok(Readout::of(&self.lambda, self.intercept)?.balanced())
    }
}

impl Learner for Crrr {
    fn form(&self) -> Form<'_> {
        Form::Linear(self)
    }

    fn check_problem(&self, problem: &Problem) -> Result<()> {
        match problem.task() {
            Task::Regression => {
                Err(Error::setting("kind", "`crrr` weighs classes, and the task is regression; use `rls`"))
            }
            _ => Ok(()),
        }
    }
}
