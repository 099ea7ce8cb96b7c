//! What lower bounds follow of each candidate.

use super::norm_interval::NormInterval;
use crate::Data;
use std::sync::Arc;

/// s, t and q of a candidate, and its inner products with the updates.
#[derive(Debug, Clone, Default)]
pub(super) struct Scalars {
    pub s: f64,
    pub q: f64,
    pub t: Vec<f64>,
    /// x_iᵀG(w∘a) of each output.
    pub along: Vec<f64>,
    /// x_iᵀc_p/τ_p of each update.
    pub shares: Vec<f64>,
    /// Updates up to which s_i was above [`INDEPENDENT_COLUMN`](crate::tolerance::INDEPENDENT_COLUMN).
    pub sound: usize,
    /// Of a candidate that was tried.
    pub interval: Option<NormInterval>,
}

impl Scalars {
    /// f of each output.
    pub fn factors(&self, lambda: f64) -> Vec<f64> {
        self.t.iter().map(|t| t / (lambda + self.s)).collect()
    }
}

/// The scalars of columns on the empty subset.
pub(super) fn scalars_of_empty(data: &Data<'_>, features: &[usize]) -> Vec<Scalars> {
    let outputs = data.outputs();
    let with: Vec<Arc<[f64]>> = (0..outputs).map(|output| data.with_target(output)).collect();
    let scalars = |&feature: &usize| {
        let (squares, t) = (data.squares(feature), with.iter().map(|row| row[feature]).collect());
        Scalars { s: squares, q: squares, t, along: vec![0.0; outputs], shares: Vec::new(), sound: 0, interval: None }
    };
    features.iter().map(scalars).collect()
}
