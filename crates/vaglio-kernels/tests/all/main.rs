//! The kernels against plain definitions, on every instruction set.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod conditioning;
mod fits;
mod hold_out;
mod loo;
mod loo_forks;
mod loo_walks;
mod moments;
mod moments_by_columns;
mod sample;
mod spectrum;
