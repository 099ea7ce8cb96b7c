//! The searches against plain definitions.
#![allow(missing_docs, clippy::unwrap_used)]

mod best_subsets;
mod journal;
mod least_angle;
#[allow(dead_code, reason = "the search calls more than the tests")]
#[path = "../../src/lars/least_angle/mod.rs"]
mod least_angle_paths;
mod registry;
mod several_outputs;
mod size_choice;
