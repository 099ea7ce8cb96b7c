//! Columns and helpers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what is wrong")]

mod cancellation;
mod centering;
mod column;
mod columns;
mod lazy_cell;
mod numbers;
mod product;
mod single_numbers;
mod sparse_numbers;
