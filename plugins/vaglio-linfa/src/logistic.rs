//! Logistic regression of linfa.

use linfa::prelude::*;
use linfa_logistic::{FittedLogisticRegression, LogisticRegression};
use vaglio_core::{Error, part};

/// Logistic regression of linfa, one class against the others: Σ ln(1 + exp(−y z)) + λ/2 ‖w‖², z = wᵀx + b.
///
/// Predictions are 2P − 1 with linfa's probability P. Cost O(rows · columns) a step of L-BFGS; columns should be of like
/// scale: standardize. `logistic_ridge` takes row weights, has one model of several classes, and is solved further.
#[part(
    Learner,
    "logistic",
    summary = "logistic regression of linfa in the chosen columns, refitted for every subset",
    example = "learner: {kind: logistic, lambda: 1.0}"
)]
#[derive(Copy, PartialEq)]
pub struct Logistic {
    /// The penalty λ of Σ ln(1 + exp(−y z)) + λ/2 ‖w‖², from 0 up.
    #[default(1.0)]
    pub lambda: f64,
    /// Steps of L-BFGS, at most.
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
        // Linfa's probability is that of the class that it found more often.
        let sign = if model.labels().pos.class { 1.0 } else { -1.0 };
        model.predict_probabilities(x).mapv(|p| sign * (2.0 * p - 1.0))
    }
}
