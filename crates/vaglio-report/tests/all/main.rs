//! Records, their pages, and comparisons of runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops at what is wrong")]

mod charts;
mod comparison;
mod figures;
mod report;
