//! The elastic net of linfa.

use linfa::prelude::*;
use ndarray::Array1;
use vaglio_core::{Error, part, saved};

/// The elastic net of linfa: ‖y − Xw − b‖²/(2·rows) + λ (ρ ‖w‖₁ + (1 − ρ)/2 ‖w‖²), for each output.
///
/// Linfa's intercept b is the mean of the targets, whatever the means of the columns: standardize them first. Cost
/// O(rows · columns) per sweep of coordinate descent.
#[part(
    Learner,
    "elastic_net",
    summary = "elastic net of linfa in the chosen columns, refitted for every subset",
    example = "learner: {kind: elastic_net, lambda: 0.1, l1_ratio: 0.5}"
)]
#[derive(Copy, PartialEq)]
pub struct ElasticNet {
    /// Penalty λ, at least 0.
    #[default(0.1)]
    pub lambda: f64,
    /// Share ρ of the ℓ₁ norm in the penalty, from 0 (ridge) to 1 (lasso).
    #[default(0.5)]
    pub l1_ratio: f64,
    /// Duality gap at which sweeps end, relative to the sum of squares of the targets.
    #[default(1e-8)]
    pub tolerance: f64,
    /// Maximum number of sweeps.
    #[default(10_000)]
    pub iterations: u32,
}

/// Coefficients of a fitted model, which suffice to predict.
#[saved]
pub(crate) struct LinearCoefficients {
    weights: Vec<f64>,
    intercept: f64,
}

crate::learner! {
    ElasticNet = "elastic_net", saved as ElasticNetModel = "linfa_elastic_net", of Numbers, fitted LinearCoefficients;
    check |own| Error::unless_between("lambda", own.lambda, 0.0..=1e300)
        .and(Error::unless_between("l1_ratio", own.l1_ratio, 0.0..=1.0))
        .and(Error::unless_between("tolerance", own.tolerance, 1e-15..=1.0))
        .and(Error::unless_between("iterations", own.iterations, 1..=10_000_000));
    fit |own, x, y| linfa_elasticnet::ElasticNet::params()
        .penalty(own.lambda)
        .l1_ratio(own.l1_ratio)
        .tolerance(own.tolerance)
        .max_iterations(own.iterations)
        .fit(&Dataset::new(x.clone(), y.numbers()))
        .map(|fitted| LinearCoefficients { weights: fitted.hyperplane().to_vec(), intercept: fitted.intercept() });
    predict |model, x| if x.ncols() == model.weights.len() {
        x.dot(&Array1::from(model.weights.clone())) + model.intercept
    } else {
        Array1::zeros(0)
    }
}
