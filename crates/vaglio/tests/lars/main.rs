//! Least-angle paths against the lasso and its conditions, and ranking.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;
mod paths;
mod rank;
mod settings;
