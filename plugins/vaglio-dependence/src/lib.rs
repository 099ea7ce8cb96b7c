//! Criteria of dependence between columns and target for [vaglio](vaglio_core), which train nothing.
//!
//! `use vaglio_dependence as _;` in a program makes `criterion: hsic` known to its pipeline files; [`Hsic`] is the criterion.

mod hsic;
mod target;

pub use hsic::{Estimator, Hsic, HsicKernel};
pub use target::Output;
