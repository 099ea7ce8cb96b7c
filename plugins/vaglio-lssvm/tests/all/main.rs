//! Kernel machines against their definitions, and what a saved model must keep and refuse.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod fs_ls_svm;
mod kernel_logistic;
