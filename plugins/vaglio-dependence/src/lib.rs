//! Criteria of dependence between columns and target for [vaglio](vaglio_core), which train nothing.
//!
//! `use vaglio_dependence as _;` in a program makes `criterion: hsic` and `criterion: mrmr_information` known to its pipeline
//! files; [`Hsic`] and [`MrmrInformation`] are the criteria.

mod bins;
mod hsic;
mod mrmr;
mod target;

pub use bins::Bins;
pub use hsic::{Estimator, Hsic, HsicKernel};
pub use mrmr::{MrmrInformation, Scheme};
pub use target::Output;
