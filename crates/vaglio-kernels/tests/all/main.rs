//! The kernels against plain definitions, on every instruction set.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod auc;
mod conditioning;
mod data;
mod duplicates;
mod elementary_functions;
mod fits;
mod folds;
mod freedom;
mod hold_out;
mod level;
mod linalg;
mod loo;
mod loo_candidates;
mod loo_forks;
mod loo_walks;
mod moments;
mod moments_by_columns;
mod parallel;
mod ridge;
mod sample;
mod spectrum;
mod sums;
mod tile;
mod vectors;
