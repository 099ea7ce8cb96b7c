//! Models of [linfa](https://docs.rs/linfa) as learners of [vaglio](vaglio_core), refitted for every subset.
//!
//! `use vaglio_linfa as _;` in a program makes `logistic`, `elastic_net`, `svm`, `tree`, `naive_bayes` and
//! `logistic_ridge` known to its pipeline files. [`learner!`] makes any other model of linfa a learner.
//!
//! Classes come as outputs ±1, one of two classes and one each of several; probabilities P go out as 2P − 1, which is what
//! losses of vaglio take predictions to estimate. Columns are given to linfa in the order of the table, whatever the order
//! of the subset; without any there is one column of zeros.

extern crate self as vaglio_linfa;

mod adapt;
mod elastic_net;
mod logistic;
mod logistic_ridge;
mod naive_bayes;
pub mod ordered;
mod softmax;
mod svm;
mod tree;
mod tree_nodes;

pub use adapt::{Output, Takes, check_problem, check_saved, fit_each, matrix, predict_each};
pub use elastic_net::ElasticNet;
pub use logistic::Logistic;
pub use logistic_ridge::LogisticRidge;
pub use naive_bayes::NaiveBayes;
pub use svm::{Svm, SvmKernel};
pub use tree::Tree;
