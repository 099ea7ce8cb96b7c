//! Kernel machines against their definitions; saved models keep their state and reject damage.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod fs_ls_svm;
mod kernel_logistic;
mod landmarks;
