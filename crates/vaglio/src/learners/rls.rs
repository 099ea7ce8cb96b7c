//! Regularised least squares.

use super::Lambda;
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use vaglio_core::{Coefficients, Columns, Error, Feature, Learner, LinearForm, Model, Problem, Readout, Result};
use vaglio_kernels::linalg::Failure;
use vaglio_kernels::ridge::Ridge;

/// Regularised least squares, also called ridge regression.
///
/// Minimises Σ_j r_j (y_j − wᵀx_j − b)² + λ‖w‖² for every output, with b free (or 0 without `intercept`). Classes are
/// regressed on ±1, several classes one against the others. Cost of the final fit O(rows · features²), by
/// reflections, so that small λ and dependent columns lose no digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rls {
    /// The penalty λ, or several of which the criterion takes the best for every subset.
    pub lambda: Lambda,
    /// Whether there is an intercept; it is not penalised.
    pub intercept: bool,
}

impl Default for Rls {
    fn default() -> Self {
        Rls { lambda: Lambda::default(), intercept: true }
    }
}

vaglio_core::describe!(
    Learner,
    Rls,
    "rls",
    "regularised least squares (ridge regression), with or without an unpenalised intercept",
    "learner: {kind: rls, lambda: 1.0, intercept: true}"
);

impl LinearForm for Rls {
    fn readout(&self) -> Result<Readout> {
        let readout = Readout::new(self.lambda.values()?, self.intercept)?;
        Ok(if self.lambda.is_search() { readout.refined() } else { readout })
    }
}

#[typetag::serde(name = "rls")]
impl Learner for Rls {
    fn linear_form(&self) -> Option<&dyn LinearForm> {
        Some(self)
    }

    /// With `lambda` absent and several to choose from, takes the one of lowest squared leave-one-out error.
    fn fit(&self, problem: &Problem, subset: &[Feature], lambda: Option<f64>) -> Result<Box<dyn Model>> {
        let mut x = Array2::zeros((problem.rows(), subset.len()));
        for (mut to, &feature) in x.columns_mut().into_iter().zip(subset) {
            to.iter_mut().zip(problem.columns().column(feature).values().iter()).for_each(|(to, from)| *to = *from);
        }
        let weights = problem.weights().map(|w| &w[..]);
        let failed = |failure: Failure| {
            Error::Numerical(format!("the final fit failed: {failure}; rescale or standardize the columns"))
        };
        let ridge = Ridge::new(x, problem.targets().view(), weights, self.intercept).map_err(failed)?;
        let lambda = match lambda {
            Some(lambda) => lambda,
            None => {
                let values = self.lambda.values()?;
                let score = |&l: &f64| match values.len() {
                    1 => Ok((0.0, l)),
                    _ => ridge.leave_one_out(l).map(|loss| (loss, l)).map_err(failed),
                };
                let scored: Vec<(f64, f64)> = values.iter().map(score).collect::<Result<_>>()?;
                scored.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1.0, |(_, l)| l)
            }
        };
        let (weights, intercept) = ridge.coefficients(lambda).map_err(failed)?;
        if !weights.iter().chain(&intercept).all(|v| v.is_finite()) {
            return Err(Error::Numerical("the coefficients overflow; rescale or standardize the columns".into()));
        }
        Ok(Box::new(Linear { inputs: subset.to_vec(), lambda, coefficients: Coefficients { weights, intercept } }))
    }

    fn check(&self) -> Result<()> {
        self.lambda.values().map(|_| ())
    }
}

/// A linear readout of columns as they are: what [`Rls`] trains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    inputs: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
}

#[typetag::serde(name = "linear")]
impl Model for Linear {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn predict(&self, inputs: &Columns) -> Result<Array2<f64>> {
        let weights = &self.coefficients.weights;
        if inputs.len() != weights.nrows() || self.coefficients.intercept.len() != weights.ncols() {
            return Err(Error::Shape(format!("{} columns for a model of {}", inputs.len(), weights.nrows())));
        }
        // Column after column, so that a row's prediction does not depend on how many rows there are.
        let mut out = Array2::zeros((weights.ncols(), inputs.rows()));
        for (mut to, b) in out.rows_mut().into_iter().zip(&self.coefficients.intercept) {
            to.fill(*b);
        }
        for (k, weights) in weights.axis_iter(Axis(0)).enumerate() {
            let values = inputs.column(k).values();
            for (mut to, weight) in out.rows_mut().into_iter().zip(weights) {
                to.iter_mut().zip(values.iter()).for_each(|(to, x)| *to += weight * x);
            }
        }
        Ok(out)
    }

    fn lambda(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.coefficients)
    }
}
