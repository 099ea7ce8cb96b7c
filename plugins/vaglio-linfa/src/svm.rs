//! Support vector machines of linfa.

use crate::OutputTargets;
use linfa::prelude::*;
use linfa_svm::Svm as Fitted;
use ndarray::Array2;
use vaglio_core::{Error, Result, part, setting};

/// Maximum number of training rows: their kernel matrix takes 3.2 GB.
const MOST_ROWS: usize = 20_000;

/// Support vector machine of linfa: for classes, each against the others, or for numbers with a tolerance ε.
///
/// Predictions of classes are the decision function Σ α_j k(x, x_j) − ρ, which is ±1 at the margins; they are not
/// probabilities. Memory 8 · rows² bytes: at most 20000 rows. Columns should have similar scales: standardize them.
#[part(
    Learner,
    "svm",
    summary = "support vector machine of linfa in the chosen columns, refitted for every subset",
    example = "learner: {kind: svm, c: 1.0, kernel: gaussian, width: 2.0}"
)]
#[derive(Copy, PartialEq)]
pub struct Svm {
    /// Cost C of a row beyond the margin, or beyond ε.
    #[default(1.0)]
    pub c: f64,
    /// Kernel k.
    #[default(SvmKernel::Linear)]
    pub kernel: SvmKernel,
    /// Width of a `gaussian` kernel exp(−‖x − x′‖²/width).
    #[default(1.0)]
    pub width: f64,
    /// Errors of numbers up to ε cost nothing.
    #[default(0.1)]
    pub epsilon: f64,
    /// Tolerance of the optimality conditions.
    #[default(1e-7)]
    pub tolerance: f64,
}

/// Kernel of a support vector machine.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum SvmKernel {
    /// xᵀx′.
    #[default]
    Linear,
    /// exp(−‖x − x′‖²/width).
    Gaussian,
}

impl Svm {
    fn train(
        &self,
        x: &Array2<f64>,
        y: OutputTargets<'_>,
    ) -> Result<Fitted<f64, f64>, Box<dyn std::error::Error + Send + Sync>> {
        if !y.is_classes() {
            let params = Fitted::<f64, f64>::params().eps(self.tolerance).c_svr(self.c, Some(self.epsilon));
            let params = match self.kernel {
                SvmKernel::Linear => params.linear_kernel(),
                SvmKernel::Gaussian => params.gaussian_kernel(self.width),
            };
            return Ok(params.fit(&Dataset::new(x.clone(), y.numbers()))?);
        }
        let params = Fitted::<f64, bool>::params().eps(self.tolerance).pos_neg_weights(self.c, self.c);
        let params = match self.kernel {
            SvmKernel::Linear => params.linear_kernel(),
            SvmKernel::Gaussian => params.gaussian_kernel(self.width),
        };
        let fitted = params.fit(&Dataset::new(x.clone(), y.classes()))?;
        // Reinterprets the same fields as a model of the decision function instead of its sign.
        Ok(serde_json::from_value(serde_json::to_value(&fitted)?)?)
    }
}

/// Rejects support vectors of another number of columns, since linfa multiplies vectors of one number with any other.
fn check_vectors(model: &Fitted<f64, f64>, inputs: usize) -> Result<()> {
    let wanted = inputs.max(1) as u64;
    let parts = serde_json::to_value(model)?;
    let plane = &parts["sep_hyperplane"];
    let columns = plane["Linear"]["dim"][0].as_u64().or(plane["WeightedCombination"]["dim"][1].as_u64());
    match columns == Some(wanted) {
        true => Ok(()),
        false => Err(Error::Shape(format!("support vectors of {columns:?} columns for {wanted}"))),
    }
}

crate::learner! {
    Svm = "svm", saved as SvmModel = "linfa_svm", of Both, fitted Fitted<f64, f64>;
    check |own| Error::unless_between("c", own.c, 1e-12..=1e12)
        .and(Error::unless_between("width", own.width, 1e-12..=1e300))
        .and(Error::unless_between("epsilon", own.epsilon, 0.0..=1e300))
        .and(Error::unless_between("tolerance", own.tolerance, 1e-12..=1.0));
    check problem |problem| match problem.rows() {
        rows if rows > MOST_ROWS => {
            Err(Error::setting("kind", format!("`svm` takes at most {MOST_ROWS} rows, and there are {rows}")))
        }
        _ => Ok(()),
    };
    check model |model, inputs| check_vectors(model, inputs);
    fit |own, x, y| own.train(x, y);
    predict |model, x| x.outer_iter().map(|row| model.weighted_sum(&row) - model.rho).collect()
}
