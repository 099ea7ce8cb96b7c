//! The library as its users see it, and every part against the laws of the test kit.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod all_lambdas;
mod conformance;
mod crrr;
mod decisions;
mod exactness;
mod folds;
mod hard_cells;
mod kfold_laws;
mod lambda_search;
mod lars;
mod linfa_api;
mod nhsic;
mod properties;
mod searches;
mod walks_loo;
