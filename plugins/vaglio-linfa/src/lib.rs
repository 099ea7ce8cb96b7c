//! Models of [linfa](https://docs.rs/linfa) as learners of [vaglio](vaglio_core), refitted for every subset.
//!
//! `use vaglio_linfa as _;` in a program registers `logistic`, `elastic_net`, `svm`, `tree`, `naive_bayes` and
//! `logistic_ridge` for pipeline files. [`learner!`] makes any other model of linfa a learner.
//!
//! Classes are outputs of ±1: one for two classes, one each for more. Probabilities P become predictions 2P − 1, as
//! vaglio's losses expect. Columns are passed to linfa in table order, whatever the order of the subset; an empty
//! subset becomes one column of zeros.

extern crate self as vaglio_linfa;

mod conversion;
mod elastic_net;
mod logistic;
mod logistic_ridge;
mod naive_bayes;
pub mod sorted_maps;
mod svm;
mod tree;
mod tree_nodes;

pub use conversion::{OutputTargets, TargetKinds, check_problem, check_saved, fit_each, matrix, predict_each};
pub use elastic_net::ElasticNet;
pub use logistic::Logistic;
pub use logistic_ridge::LogisticRidge;
pub use naive_bayes::NaiveBayes;
pub use svm::{Svm, SvmKernel};
pub use tree::Tree;
