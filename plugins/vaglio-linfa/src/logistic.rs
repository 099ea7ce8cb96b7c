//! Logistic regression of linfa.

use linfa::prelude::*;
use linfa_logistic::{FittedLogisticRegression, LogisticRegression};
use vaglio_core::{Error, part};

/// Logistic regression of linfa, one class against the others: Σ ln(1 + exp(−y z)) + λ/2 ‖w‖², z = wᵀx + b.
///
/// Predictions are 2P − 1 with linfa's probability P. Cost O(rows · columns) per step of L-BFGS; columns should have
/// similar scales: standardize them. `logistic_ridge` supports row weights, has one model for several classes, and is
/// solved more accurately.
#[part(
    Learner,
    "logistic",
    summary = "logistic regression of linfa in the chosen columns, refitted for every subset",
    example = "learner: {kind: logistic, lambda: 1.0}"
)]
#[derive(Copy, PartialEq)]
pub struct Logistic {
    /// Penalty λ of Σ ln(1 + exp(−y z)) + λ/2 ‖w‖², at least 0.
    #[default(1.0)]
    pub lambda: f64,
    /// Maximum number of L-BFGS steps.
    #[default(1000)]
    pub iterations: u64,
}

crate::learner! {
    Logistic = "logistic", saved as LogisticModel = "linfa_logistic", of Classes,
    fitted FittedLogisticRegression<f64, bool>;
    check |own| Error::unless_between("lambda", own.lambda, 0.0..=1e300)
        .and(Error::unless_between("iterations", own.iterations, 1..=1_000_000));
    fit |own, x, y| LogisticRegression::default()
        .alpha(own.lambda)
        .max_iterations(own.iterations)
        .fit(&Dataset::new(x.clone(), y.classes()));
    predict |model, x| {
        if x.ncols() != model.params().len() {
            return ndarray::Array1::zeros(0);
        }
        // Linfa's probability is of the more frequent class.
        let sign = if model.labels().pos.class { 1.0 } else { -1.0 };
        model.predict_probabilities(x).mapv(|p| sign * (2.0 * p - 1.0))
    }
}
