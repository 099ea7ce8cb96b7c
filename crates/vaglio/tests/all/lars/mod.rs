//! Least-angle paths against the lasso and its conditions, and ranking.

mod common;
mod own_coefficients;
mod paths;
mod penalties;
mod rank;
mod settings;
mod several_outputs;
