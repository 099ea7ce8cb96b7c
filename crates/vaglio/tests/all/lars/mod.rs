//! Least-angle paths against the lasso and its conditions, and ranking.

mod common;
mod paths;
mod rank;
mod settings;
