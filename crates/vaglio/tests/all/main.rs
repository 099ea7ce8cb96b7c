//! The library as its users see it, and every part against the laws of the test kit.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod all_lambdas;
mod blame;
mod conformance;
mod core_types;
mod crrr;
mod decisions;
mod each_output;
mod exactness;
mod fdr;
mod fitted_lambda;
mod folds;
mod forward_chaining;
mod hard_cells;
mod imputation;
mod kfold_laws;
mod lambda_of_all;
mod lambda_search;
mod lars;
mod linfa_api;
mod linfa_fitted;
mod linfa_objects;
mod linfa_scale;
mod linfa_settings;
mod linfa_watched;
mod losses;
mod products;
mod searches;
mod sparse_losses;
mod splits;
mod standard_errors;
mod walks_loo;
mod wide_loo;

use vaglio_testkit::on_one_thread;

/// Distance from one case to the next that is tried: 1 with `VAGLIO_CASES=all`.
fn stride(most: usize) -> usize {
    if vaglio_testkit::tries_all_cases() { 1 } else { most }
}
