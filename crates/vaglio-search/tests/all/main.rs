//! The searches against plain definitions.
#![allow(missing_docs, clippy::unwrap_used)]

mod best_subsets;
mod journal;
mod least_angle;
mod registry;
mod several_outputs;
mod size_choice;
